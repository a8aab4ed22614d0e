"""Replay: a finished run done again from its journal and library alone; the stored report stays the report."""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from deep_research.assembly.environment import Job, RunEnvironment
from deep_research.assembly.recording import ANSWERED
from deep_research.data import Asked, Report
from deep_research.errors import ReplayDiffers
from deep_research.events import Event
from deep_research.run_context.context import RunContext
from deep_research.run_context.steering import Steering
from deep_research.runs.lifecycle import carry_out
from deep_research.runs.research_run import ResearchRun
from deep_research.settings import Settings
from deep_research.stores.event_log import EventFile, EventLog
from deep_research.stores.run_store import Checkpoints, RunStore


def _ignore(_event: Event) -> None:
    """Show nothing."""


async def replay_run(store: RunStore, home: Path, *, listener: Callable[[Event], None] = _ignore) -> Report:
    """Do a finished run again from its journal, without network and keys, and return the report that it comes to.

    Raises ReplayDiffers at the first call that the recorded run did not make, RunNotFound without a report.
    """
    recorded = store.load_result()
    journal = store.open_journal()
    answers = iter(journal.notes(ANSWERED).values())
    journal.close()
    with TemporaryDirectory(prefix="deep-research-replay-") as scratch:
        environment = RunEnvironment(home, listener=listener, answer=_answering(answers))
        return await carry_out(_Replay(store, Path(scratch), recorded), environment)


def _answering(answers: Iterator[str]) -> Callable[[Asked], str | None]:
    return lambda _asked: next(answers, None)


class _Replay(ResearchRun):
    """The research of a run's question, from its journal; nothing that is kept is changed."""

    def __init__(self, store: RunStore, scratch: Path, recorded: Report) -> None:
        super().__init__(store)
        self.seconds = recorded.ledger.seconds
        self._scratch = scratch

    def open_log(self, listener: Callable[[Event], None]) -> EventLog:
        """See `RunTask.open_log`."""
        return EventLog(EventFile(self._scratch / "events.jsonl"), [], listener)

    def checkpoints(self) -> Checkpoints:
        """See `RunTask.checkpoints`."""
        return Checkpoints(str(self._scratch / "checkpoints.db"), self.store.run_id)

    def job(self, log: EventLog) -> Job:
        """See `RunTask.job`."""
        said, recorded = self.store.read_steers(), self.record.recorded
        return Job(
            store=self.store,
            record=self.record,
            settings=Settings(**(self.record.settings if recorded is None else recorded)),
            question=self.question,
            log=log,
            steering=Steering(lambda: said, log.emit),
            is_offline=True,
        )

    async def start(self, ctx: RunContext) -> dict[str, Any]:
        """See `RunTask.start`."""
        state = await super().start(ctx)
        if self.record.settings.get("workflow") != "verify":
            return state
        from deep_research.runs.verification_run import given_state  # noqa: PLC0415 - only for a verification

        return {**state, **given_state(self.store, self.language)}

    def listening(self, ctx: RunContext) -> AbstractAsyncContextManager[object]:
        """See `RunTask.listening`; nobody can say anything to a replay."""
        del ctx
        return nullcontext()

    def save(self, values: Any) -> tuple[Report, str]:
        """See `RunTask.save`; nothing is kept."""
        if "report" not in values:
            message = f"The replay ended without a report: {values.get('final_report')}"
            raise ReplayDiffers(message, run_id=self.store.run_id)
        return values["report"], self.store.place

    def note(self, **changes: Any) -> None:
        """Keep nothing."""
