"""A run: a question is researched from its first reading to its report."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import accumulate
from pathlib import Path
from typing import Any

from claimcheck.language import detect
from deep_research.assembly.environment import Job, RunEnvironment
from deep_research.assembly.page_access import QuestionPages
from deep_research.assembly.run_settings import Docs, begin_run
from deep_research.concurrency import Turns, held_beside
from deep_research.data import Message, Question, Report
from deep_research.errors import ConfigError, Declined
from deep_research.events import Progress, StageStarted
from deep_research.i18n.catalog import phrase
from deep_research.run_context.context import RunContext
from deep_research.runs.lifecycle import RunTask, carry_out
from deep_research.runs.refresh import carried_state
from deep_research.runs.steering_inbox import SteeringInbox
from deep_research.safe_text import safe_text
from deep_research.settings import Settings
from deep_research.steps.open_source import read_addresses
from deep_research.stores.event_log import EventLog
from deep_research.stores.run_store import RunStore

_MOST_CHARS = 20_000  # of a question: some ten pages; longer material is a document.
_MOST_HISTORY = 200_000
"""Characters of a conversation before a question that are kept, the newest: each list of runs reads the records."""
_AT_ONCE = Turns(48, lambda _owner, _has, _free: True)
"""Runs of this process that go on at once: each has some twenty files open, and most systems allow a process 1,024."""


def create_run(
    question: str,
    settings: Settings,
    *,
    home: Path,
    docs: Docs = (),
    history: Sequence[Message] = (),
    wanted_id: str = "",
) -> RunStore:
    """Create a run; `history` is the conversation before the question, oldest first.

    Raises ConfigError for an unusable question, path, provider or setting (nothing is made then), StoreError for an
    unusable disk.
    """
    text = clean_question(question)
    sizes = accumulate(len(message.text) for message in reversed(history))
    newest = tuple(history[len(history) - sum(size <= _MOST_HISTORY for size in sizes) :])
    told = {"question": text, "language": detect(text), "history": newest}
    return begin_run(settings, home=home, docs=docs, wanted_id=wanted_id, **told)


def clean_question(question: str) -> str:
    """Return a question as printable text; raise ConfigError if empty or too long."""
    if not isinstance(question, str):  # a caller's program is not checked
        raise ConfigError(
            f"The question is a text, not {question!r:.80}.", setting="question", value=repr(question)[:80]
        )
    text = "".join(c if c.isprintable() else " " for c in safe_text(question))
    text = " ".join(text.split())
    if not text:
        message = 'No question was given. Example: deep-research "How does speculative decoding work?"'
        raise ConfigError(message, setting="question", value="")
    if len(text) > _MOST_CHARS:
        message = (
            f"The question has {len(text):,} characters; the limit is {_MOST_CHARS:,}. "
            "Put long material into a file and name it with --docs."
        )
        raise ConfigError(message, setting="question", value=len(text))
    return text


async def resume_run(store: RunStore, environment: RunEnvironment) -> Report:
    """Do what is left of a run, return its report; raise as `Run.carry_out` does."""
    record = await asyncio.to_thread(store.load)
    if record.status == "finished" and store.has_report():  # one from a bundle has no checkpoint that says so
        return await asyncio.to_thread(store.load_result)
    async with _AT_ONCE.turn_of(""), held_beside(store.held()):
        return await carry_out(task_of(store), environment)


def task_of(store: RunStore) -> RunTask:
    """Return a run's research or verification; raise ConfigError for an agent's."""
    workflow = store.load().settings.get("workflow")
    if workflow == "verify":
        from deep_research.runs.verification_run import VerificationRun  # noqa: PLC0415 - one of them is needed

        return VerificationRun(store)
    if workflow == "desk":
        message = f"At the run {store.run_id} an agent researches by itself: name this id to the tools of `deep-research mcp`."
        raise ConfigError(message, setting="run_id", value=store.run_id)
    return ResearchRun(store)


class ResearchRun(RunTask):
    """The research of a run's question."""

    def __init__(self, store: RunStore) -> None:
        self.store, self.record = store, store.load()
        self.question, self.language = self.record.question, self.record.language
        self.seconds = self.record.seconds
        self._inbox = SteeringInbox(store)

    def job(self, log: EventLog) -> Job:
        """Return the research as a job, with its settings and inbox; see `RunTask.job`."""
        return Job(
            store=self.store,
            record=self.record,
            settings=Settings(**self.record.settings),
            question=self.question,
            log=log,
            steering=self._inbox.steering(log),
        )

    def notice(self, ctx: RunContext) -> str:
        # The bundled library stands in where the user named nothing to search.
        is_bundled = not self.record.docs and any(place.name == "documents" for place in ctx.outside.places)
        return "bundled" if is_bundled else ""

    def listening(self, ctx: RunContext) -> AbstractAsyncContextManager[object]:
        return self._inbox.watching(ctx.steering)

    async def start(self, ctx: RunContext) -> dict[str, Any]:
        ctx.emit(StageStarted(stage="prepare"))
        gaps = [*ctx.outside.unopened]
        for place in ctx.outside.places:
            gaps += await place.prepare(lambda what, done, total: ctx.emit(Progress(what=what, done=done, total=total)))
        for gap in gaps:
            ctx.report_gap(gap)
        asked = await read_question_pages(ctx, self.question)
        return {
            "messages": [],
            "run_id": ctx.run_id,
            "original_query": self.question,
            "question": Question(text=asked, language=self.language, history=self.record.history),
            "sections": [],
            "max_review_iterations": ctx.settings.max_review_iterations,
            **(carried_state(ctx.journal) if self.record.origin else {}),
        }

    def save(self, values: Mapping[str, Any]) -> tuple[Report, str]:
        """See `RunTask.save`. Raises Declined without a report."""
        if "report" not in values:
            reason = str(values.get("final_report") or phrase("cannot_do", self.language))
            raise Declined(reason, run_id=self.store.run_id, by=values.get("declined_by", "program"))
        report: Report = values["report"]
        self.note(is_answered=report.answered)
        return report, self.store.save_result(report)

    def note(self, **changes: Any) -> None:
        self.store.save(self.store.load().model_copy(update=changes))


async def read_question_pages(ctx: RunContext, question: str) -> str:
    """Read the pages a question names, to be searched; an unreadable one is a gap.

    Return the question for the reasoner: one that goes by words gets the titles of the pages in place of addresses.
    """
    pages = next((place for place in ctx.outside.places if isinstance(place, QuestionPages)), None)
    if pages is None:
        return question
    pages.offer(await read_addresses(ctx, pages.urls))
    return question if ctx.reasoner.reads_conversation else pages.told(question)
