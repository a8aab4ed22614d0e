"""A run that verifies a report which somebody else wrote; all that a run has, it has too: journal, sources, resume."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deep_research.assembly.environment import Job
from deep_research.assembly.run_settings import check_usable, settle
from deep_research.data import Question
from deep_research.data.noun import Noun
from deep_research.errors import ConfigError
from deep_research.i18n.language import detect
from deep_research.run_context.context import RunContext
from deep_research.runs.research_run import ResearchRun
from deep_research.settings import Settings
from deep_research.steps.foreign_report import report_title
from deep_research.stores.event_log import EventLog
from deep_research.stores.open_stores import open_runs
from deep_research.stores.run_store import RunRecord, RunStore
from deep_research.verification.foreign import read_report

_GIVEN = "given report"
"""The kind of the note that holds the report as it was given."""
MOST_CHARS = 2_000_000
"""Characters of a report; what is longer is a book."""
MOST_ADDRESSES = 300
"""Addresses of one report that are opened."""


class GivenReport(Noun):
    """A report to be verified: its text as Markdown, what it should answer ("" where nobody said), whether to revise it."""

    text: str
    question: str = ""
    revises: bool = False


def create_verification(given: GivenReport, settings: Settings, *, home: Path, docs: Sequence[str] = ()) -> RunStore:
    """Make a run that verifies a report. Raises ConfigError for an unusable text or setting, StoreError."""
    if not given.text.strip():
        raise ConfigError("The report is empty.", setting="report", value="")
    if len(given.text) > MOST_CHARS:
        message = f"The report has {len(given.text):,} characters; at most {MOST_CHARS:,} are verified."
        raise ConfigError(message, setting="report", value=len(given.text))
    settings = settings.model_copy(update={"workflow": "verify", "allow_clarification": False})
    check_usable(docs, settings, home=home)
    title = report_title(given.text)
    settings = settle(settings, docs, given.question or title)
    runs = open_runs(home)
    record = RunRecord(
        run_id=runs.new_id(),
        question=given.question or title,
        language=detect(given.text[:4_000]),
        status="running",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        docs=tuple(str(Path(d).expanduser().absolute()) for d in docs),
        mcp_servers=tuple(settings.mcp_servers),
        settings=settings.model_dump(exclude_defaults=True, exclude={"mcp_servers"}),
    )
    store = runs.create(record)
    journal = store.open_journal()
    journal.note(_GIVEN, "", given.model_dump_json())
    journal.close()
    return store


class VerificationRun(ResearchRun):
    """The verification of a report that was handed in."""

    def __init__(self, store: RunStore) -> None:
        super().__init__(store)
        journal = store.open_journal()
        self.given = GivenReport.model_validate_json(journal.notes(_GIVEN)[""])
        journal.close()

    def job(self, log: EventLog) -> Job:
        """See `RunTask.job`; the addresses that the report cites may be opened, unless it is held against documents."""
        urls = () if self.record.docs else cited_addresses(self.given.text)
        return Job(
            store=self.store,
            record=self.record,
            settings=Settings(**self.record.settings),
            question=self.given.question,
            log=log,
            steering=self._inbox.steering(log),
            addresses=urls,
        )

    async def start(self, ctx: RunContext) -> dict[str, Any]:
        """See `RunTask.start`."""
        state = await super().start(ctx)
        asked = Question(text=self.given.question or self.record.question, language=self.language)
        return {**state, "question": asked, "given": self.given.text, "revises": self.given.revises}


def cited_addresses(text: str) -> tuple[str, ...]:
    """Return the addresses that a report cites, each once, at most `MOST_ADDRESSES`."""
    report = read_report(text)
    cited = {key for citation in report.citations for key in citation.ids}
    urls = dict.fromkeys(r.url for r in report.references if r.key in cited and r.url.startswith("http"))
    return tuple(urls)[:MOST_ADDRESSES]
