"""Replay: do a finished run again from its journal and library alone."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from deep_research.assembly.environment import Job, RunEnvironment
from deep_research.assembly.recording import ANSWERED
from deep_research.data import Report
from deep_research.errors import ReplayDiffers
from deep_research.events import Event
from deep_research.run_context.context import RunContext
from deep_research.run_context.steering import Steering
from deep_research.runs.lifecycle import RunTask, carry_out
from deep_research.runs.research_run import task_of
from deep_research.settings import Settings
from deep_research.stores.event_log import EventLog
from deep_research.stores.run_store import Checkpoints, RunStore


async def replay_run(store: RunStore, home: Path, *, listener: Callable[[Event], None] = lambda _event: None) -> Report:
    """Replay a finished run; return its report. Raises ReplayDiffers, RunNotFound."""
    recorded = store.load_result()
    with closing(store.open_journal()) as journal:
        answers = iter(journal.notes(ANSWERED).values())
    with TemporaryDirectory(prefix="deep-research-replay-") as scratch:
        environment = RunEnvironment(home, listener=listener, answer=lambda _asked: next(answers, None))
        return await carry_out(_Replay(store, Path(scratch), recorded), environment)


class _Replay(RunTask):
    """What was done in a run, from its journal; nothing that is kept is changed."""

    def __init__(self, store: RunStore, scratch: Path, recorded: Report) -> None:
        self._done, self._scratch = task_of(store), scratch
        self.store, self.question, self.language = store, self._done.question, self._done.language
        self.seconds = recorded.ledger.seconds

    def open_log(self, listener: Callable[[Event], None]) -> EventLog:
        return EventLog(lambda _number, _line: None, [], listener)

    def checkpoints(self) -> Checkpoints:
        return Checkpoints(str(self._scratch / "checkpoints.db"), self.store.run_id)

    def job(self, log: EventLog) -> Job:
        """Return the job as `RunTask.job` says, with an imported run's own settings."""
        job, said = self._done.job(log), self.store.read_steers()
        settings = job.settings if job.record.recorded is None else Settings(**job.record.recorded)
        return replace(job, settings=settings, steering=Steering(lambda: said, log.emit), is_offline=True)

    async def start(self, ctx: RunContext) -> dict[str, Any]:
        return await self._done.start(ctx)

    def save(self, values: Mapping[str, Any]) -> tuple[Report, str]:
        if "report" not in values:
            message = f"The replay ended without a report: {values.get('final_report')}"
            raise ReplayDiffers(message, run_id=self.store.run_id)
        return values["report"], self.store.place

    def note(self, **changes: Any) -> None:
        """Keep nothing."""
