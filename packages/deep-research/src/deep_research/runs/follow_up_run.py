"""Follow-up questions about a finished run, kept in the run's own folder."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from claimcheck.language import detect
from deep_research.assembly.environment import Job, RunEnvironment
from deep_research.assembly.reasoner_choice import provider_of
from deep_research.concurrency import held_beside
from deep_research.data import FollowUp, Message, Question, Report
from deep_research.errors import ConfigError
from deep_research.report.ledger import ledger_of
from deep_research.run_context.context import RunContext
from deep_research.runs.lifecycle import RunTask, carry_out
from deep_research.runs.research_run import clean_question, read_question_pages
from deep_research.settings import Settings, refuse_unknown
from deep_research.stores.event_log import EventLog
from deep_research.stores.run_store import RunRecord, RunStore

_TOLD_CHARS, _TOLD_LAST = 1500, 4  # what a model is told of the report and of each of the last answers


async def ask_follow_up(
    store: RunStore, question: str, environment: RunEnvironment, settings: Mapping[str, Any] | None = None
) -> FollowUp:
    """Answer `question` about a finished run; resume it if it was interrupted.

    `settings` are those that differ from the run's. Raises RunNotFound when the run has no report yet, RunBusy when
    another process works on it, ConfigError for an unusable question, another ResearchError when it failed.
    """
    async with held_beside(store.held()):
        made = await asyncio.to_thread(_open_follow_up, store, question, settings or {})
        task = FollowUpRun(store, made)
        await carry_out(task, environment)
        return task.made


def note_follow_up(store: RunStore, question: str, settings: Mapping[str, Any]) -> FollowUp:
    """Record a question to answer. Raises RunNotFound, RunBusy, ConfigError."""
    with store.held():
        made = _open_follow_up(store, question, settings).model_copy(update={"status": "running", "error": ""})
        store.save_follow_up(made)
        return made


def _open_follow_up(store: RunStore, question: str, settings: Mapping[str, Any]) -> FollowUp:
    store.load_result()
    text, made = clean_question(question), unfinished(store)
    return made if made is not None and made.question == text else begin_follow_up(store, text, settings)


class FollowUpRun(RunTask):
    """One follow-up question; `made` is its record as it stands."""

    workflow = "follow_up"

    def __init__(self, store: RunStore, made: FollowUp) -> None:
        self.store, self.record, self.made = store, store.load(), made
        self.question, self.language, self.seconds = made.question, made.language, made.seconds
        self.part = str(made.number)

    def job(self, log: EventLog) -> Job:
        """See `RunTask.job`; addresses in either question may be opened."""
        own = {**self.record.settings, **self.made.settings, "workflow": "quick", "allow_clarification": False}
        return Job(
            store=self.store,
            record=self.record,
            settings=Settings(**own),
            question=f"{self.record.question} {self.made.question}",
            log=log,
            began=self.made.created,
            before=self.made.before,
        )

    async def start(self, ctx: RunContext) -> dict[str, Any]:
        await read_question_pages(ctx, self.question)
        made = self.made
        return {
            "messages": [],
            "run_id": self.store.run_id,
            "original_query": made.question,
            "question": Question(text=made.question, language=made.language, history=made.history),
            "understood": made.understood,
            "assumptions": made.assumptions,
            "sections": [],
        }

    def save(self, values: Mapping[str, Any]) -> tuple[Report, str]:
        """See `RunTask.save`. Raises ConfigError for a question that cannot be answered."""
        if "report" not in values:
            why = str(values.get("final_report") or "The question cannot be answered.")
            raise ConfigError(why, setting="question", value=self.question)
        report: Report = values["report"]
        self.made = self.made.model_copy(update={"found_in": values["found_in"], "report": report})
        return report, self.store.save_follow_up(self.made)

    def note(self, **changes: Any) -> None:
        known = {name: value for name, value in changes.items() if name in ("status", "error", "seconds")}
        self.made = self.made.model_copy(update=known)
        self.store.save_follow_up(self.made)


def unfinished(store: RunStore) -> FollowUp | None:
    """Return the last follow-up when it was interrupted or failed."""
    last = store.read_follow_up(store.next_follow_up() - 1)
    return last if last is not None and last.status != "finished" else None


def begin_follow_up(store: RunStore, text: str, changes: Mapping[str, Any]) -> FollowUp:
    """Record a new follow-up, to be resumed. Raises RunNotFound, ConfigError."""
    report, record = store.load_result(), store.load()
    for name, value in changes.items():
        refuse_unknown(name, value, "argument")
    if changes.get("model_provider", named := record.settings.get("model_provider")) != named:
        changes = {"model_name": None, "model_base_url": "", **changes}  # model and address belong to their provider
    settled = Settings(**{**record.settings, **changes})
    kept = settled.model_dump(include=set(changes))  # without what must not be kept
    kept["model_provider"] = provider_of(settled)
    number = store.next_follow_up()
    last = [store.read_follow_up(one) for one in range(max(1, number - _TOLD_LAST), number)]
    with closing(store.open_library()) as library, closing(store.open_journal()) as journal:
        spent = ledger_of(journal, sources=len(library.sources()), seconds=0.0)
    made = FollowUp(
        run_id=store.run_id,
        number=number,
        question=text,
        language=detect(text, default=record.language),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        understood=text,
        history=_history(record, report, last),
        settings=kept,
        before=spent,
    )
    store.save_follow_up(made)
    return made


def _history(record: RunRecord, report: Report, last: Sequence[FollowUp | None]) -> tuple[Message, ...]:
    findings = "\n".join(f for section in report.sections for f in section.key_findings[:1])
    titles = "; ".join(section.title for section in report.sections)
    told = [record.question, f"{report.title}\n{titles}\n{findings}"]
    for one in last:
        if one is not None and one.report is not None:
            told += [one.question, one.report.report]
    return tuple(
        Message(role="assistant" if place % 2 else "user", text=text[:_TOLD_CHARS]) for place, text in enumerate(told)
    )
