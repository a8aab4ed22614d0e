"""A run that verifies somebody else's report, with all that a run has."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from claimcheck.language import detect
from deep_research.assembly.environment import Job
from deep_research.assembly.run_settings import Docs, begin_run
from deep_research.data import GivenReport, Question
from deep_research.errors import ConfigError
from deep_research.run_context.context import RunContext
from deep_research.runs.research_run import ResearchRun
from deep_research.safe_text import safe_noun
from deep_research.settings import Settings
from deep_research.steps.foreign_report import MOST_SOURCES, report_title
from deep_research.stores.event_log import EventLog
from deep_research.stores.run_store import RunStore
from deep_research.verification.foreign import read_report
from deep_research.verification.statements import split_statements

_GIVEN = "given report"  # the kind of the note that holds the report as it was given
MOST_CHARS, MOST_STATEMENTS = 500_000, 20_000
"""Characters of a report, and statements of those that are verified together; what has more is a book."""


def create_verification(
    given: GivenReport, settings: Settings, *, home: Path, docs: Docs = (), wanted_id: str = ""
) -> RunStore:
    """Create a run that verifies a report; raise ConfigError or StoreError."""
    given = safe_noun(given)
    check_size(given.text, given.other)
    if given.other and given.revises:
        raise ConfigError("Of two reports none is put right; verify the one to be fixed.", setting="fix", value=True)
    cited = () if docs else cited_addresses(given.text, given.other)
    given = given.model_copy(update={"addresses": cited})
    settings = settings.model_copy(update={"workflow": "verify", "allow_clarification": False})
    question, language = given.question or report_title(given.text), detect(given.text[:4_000])
    store = begin_run(settings, home=home, docs=docs, wanted_id=wanted_id, question=question, language=language)
    with closing(store.open_journal()) as journal:
        journal.note(_GIVEN, "", given.model_dump_json())
    return store


def check_size(text: str, other: str = "") -> None:
    """Raise ConfigError for an empty text, or too many characters or statements."""
    if not text.strip():
        raise ConfigError("The report is empty.", setting="report", value="")
    _check_count(max(len(text), len(other)), "characters", MOST_CHARS)
    _check_count(sum(len(split_statements(each)) for each in (text, other)), "statements", MOST_STATEMENTS)


def _check_count(count: int, what: str, most: int) -> None:
    if count > most:
        message = f"The report has {count:,} {what}; at most {most:,} are verified. Split it."
        raise ConfigError(message, setting="report", value=count)


class VerificationRun(ResearchRun):
    """The verification of a report that was handed in."""

    def __init__(self, store: RunStore) -> None:
        super().__init__(store)
        with closing(store.open_journal()) as journal:
            self.given = GivenReport.model_validate_json(journal.notes(_GIVEN)[""])

    def job(self, log: EventLog) -> Job:
        """Return the job as `RunTask.job` says; the addresses cited may be opened."""
        return replace(super().job(log), question=self.given.question, addresses=self.given.addresses, stands_in=False)

    async def start(self, ctx: RunContext) -> dict[str, Any]:
        given = self.given
        asked = Question(text=given.question or self.question, language=self.language)
        told = {"question": asked, "given": given.text, "given_other": given.other, "revises": given.revises}
        return {**await super().start(ctx), **told}


def cited_addresses(*texts: str) -> tuple[str, ...]:
    """Return the distinct addresses that reports cite, as far as they are opened."""
    found: list[str] = []
    for report in map(read_report, texts):
        cited = {key for citation in report.citations for key in citation.ids}
        found += [r.url for r in report.references if r.key in cited and r.url.startswith("http")][:MOST_SOURCES]
    return tuple(dict.fromkeys(found))
