"""The life of a task in a run's folder, the same for runs and follow-ups.

Hold the run's lock, open everything, drive the graph with the user's answers in between, keep the report. However it
ends, its state is kept and what ended it is noted.
"""

import asyncio
import inspect
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from importlib import import_module
from typing import Any, ClassVar

from deep_research.assembly.environment import Answer, Job, RunEnvironment, open_context
from deep_research.assembly.reasoner_choice import reasoner_name
from deep_research.assembly.recording import ANSWERED
from deep_research.concurrency import SHORT_COLLECTIONS
from deep_research.data import Asked, Report
from deep_research.errors import Declined, NeedsAnswer, ResearchError, RunTakenOver, StoreError
from deep_research.events import ClarificationAsked, Event, ReportReady, RunFailed, RunStarted
from deep_research.run_context.context import RunContext
from deep_research.run_context.telemetry import span
from deep_research.stores.event_log import EventLog
from deep_research.stores.run_store import Checkpoints, RunStore


class RunTask(ABC):
    """A task at a run: what is kept of it, what it asks of the graph, its outcome.

    `question` and `language` are those of the work; `seconds` is how long earlier sittings have worked at it; `part`
    is the number of a follow-up.
    """

    store: RunStore
    question: str
    language: str
    seconds: float
    part: str = ""
    workflow: ClassVar[str] = ""

    @abstractmethod
    def job(self, log: EventLog) -> Job:
        """Return what the context is opened for."""

    @abstractmethod
    async def start(self, ctx: RunContext) -> dict[str, Any]:
        """Prepare what has to be ready, and return the state that the graph begins with."""

    def open_log(self, listener: Callable[[Event], None]) -> EventLog:
        return self.store.open_log(listener, part=self.part, seconds_before=self.seconds)

    def checkpoints(self) -> Checkpoints:
        return self.store.checkpoints_at(self.part)

    def listening(self, _ctx: RunContext) -> AbstractAsyncContextManager[object]:
        """Return a block in which the user's instructions are taken in; by default none."""
        return nullcontext()

    def notice(self, _ctx: RunContext) -> str:
        """Return the code of what the user should know at the start; "" for nothing."""
        return ""

    @abstractmethod
    def save(self, values: Mapping[str, Any]) -> tuple[Report, str]:
        """Keep the last state's report; return it and its place, or raise ResearchError."""

    @abstractmethod
    def note(self, **changes: Any) -> None:
        """Write down in the record how a sitting ended."""


async def carry_out(task: RunTask, environment: RunEnvironment) -> Report:
    """Do what is left of a locked task, return its report; raise as `Run.carry_out`."""
    with span("research", deep_research__run_id=task.store.run_id), noting_end(task, environment) as log:
        task.note(status="running", waiting_for="", asked=None, error="")
        async with open_task(task, environment, log) as (ctx, start):
            values = await _drive(task, ctx, start, environment.answer)
        return await keep_report(task, log, values)


@contextmanager
def noting_end(task: RunTask, environment: RunEnvironment) -> Iterator[EventLog]:
    """Give the log of a sitting; note in the task what it raises, and raise it."""
    log = task.open_log(environment.listener)
    try:
        yield log
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        _note_end(task, log, status="stopped")
        raise
    except NeedsAnswer as waiting:
        _note_end(task, log, status="waiting", waiting_for=waiting.message, asked=waiting.asked)
        raise
    except Declined as ended:
        _note_end(task, log, status="declined", error=ended.message)
        raise
    except RunTakenOver:  # what becomes of it is for the process to note that carries it out now
        raise
    except (sqlite3.Error, OSError, StoreError) as error:
        # Only the checkpoints' own database raises no StoreError.
        what = f"The state in {task.store.place!r} cannot be kept: {error}. Check the disk."
        what = error.message if isinstance(error, StoreError) else what
        message = f"{what} Then go on with: deep-research resume {task.store.run_id}"
        kept = StoreError(message, path=task.store.place)
        _note_end(task, log, status="failed", error=kept.message)
        raise kept from error
    except Exception as error:
        message = error.message if isinstance(error, ResearchError) else f"{type(error).__name__}: {error}"
        _note_end(task, log, status="failed", error=message)
        raise
    finally:
        log.close()


@asynccontextmanager
async def open_task(
    task: RunTask, environment: RunEnvironment, log: EventLog
) -> AsyncIterator[tuple[RunContext, dict[str, Any]]]:
    """Give the context of a task, prepared, and the state that its graph begins with."""
    async with open_context(task.job(log), environment) as ctx:
        log.emit(
            RunStarted(
                run_id=ctx.run_id,
                question=task.question,
                language=task.language,
                reasoner=reasoner_name(ctx.reasoner.info),
                sources=tuple(place.name for place in ctx.outside.places),
                notice=task.notice(ctx),
                resumed=bool(log.earlier),
            )
        )
        start = await task.start(ctx)
        async with task.listening(ctx):
            yield ctx, start


async def keep_report(task: RunTask, log: EventLog, values: Mapping[str, Any]) -> Report:
    """Keep a graph's report, announce it once, end the task. Raises ResearchError."""
    report, place = await asyncio.to_thread(task.save, values)
    # A sitting that was killed before it was noted as finished has said it.
    if not any(isinstance(event, ReportReady) for event in log.earlier):
        log.emit(
            ReportReady(
                title=report.title,
                path=place,
                claims=sum(claim.stands for claim in report.claims),
                references=len(report.references),
                gaps=len(report.gaps),
            )
        )
    await asyncio.to_thread(task.note, status="finished", title=report.title, error="", seconds=log.seconds)
    return report


def _note_end(task: RunTask, log: EventLog, **changes: Any) -> None:
    """Record how a sitting ended; a full disk must not hide the original error."""
    try:
        if changes["status"] == "failed":
            log.emit(RunFailed(error="error", message=str(changes["error"])))
        task.note(**changes, seconds=log.seconds)
    except ResearchError:
        return


async def _drive(task: RunTask, ctx: RunContext, start: dict[str, Any], answer: Answer | None) -> dict[str, Any]:
    # The engine takes a second to load: wrong usage is answered before, and other runs of the process go on.
    await asyncio.to_thread(import_module, "deep_research.graph.workflows")
    from deep_research.graph.run_graph import drive, open_checkpoints  # noqa: PLC0415
    from deep_research.graph.workflows import compile_workflow  # noqa: PLC0415

    at = task.checkpoints()
    async with open_checkpoints(at.location, at.guard) as checkpoints:
        graph = await asyncio.to_thread(compile_workflow, task.workflow or ctx.settings.workflow, checkpoints)
        with SHORT_COLLECTIONS:
            return await drive(graph, ctx, start, thread=at.thread, ask=lambda asked: _ask(ctx, asked, answer))


async def ask_user(asked: Asked, answer: Answer | None, run_id: str = "") -> str:
    """Return the user's answer, "" where none is needed. Raises NeedsAnswer."""
    if answer is None and not asked.required:
        return ""
    given = answer(asked) if answer and not asked.held else None
    reply = await given if inspect.isawaitable(given) else given
    if reply is None:
        raise NeedsAnswer(asked.question, run_id=run_id, options=asked.options, asked=asked)
    return reply


async def _ask(ctx: RunContext, asked: Asked, answer: Answer | None) -> str:
    """Return the user's answer, kept in the journal; raise NeedsAnswer without one."""
    if answer is None and not asked.required:
        return ""
    ctx.emit(ClarificationAsked(about=asked.kind, question=asked.question, options=asked.options))
    with ctx.log.paused():
        reply = await ask_user(asked, answer, ctx.run_id)
    number = 1 + len(await asyncio.to_thread(ctx.journal.notes, ANSWERED))
    await asyncio.to_thread(ctx.journal.note, ANSWERED, str(number), reply)
    return reply
