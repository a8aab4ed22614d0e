"""Replay: the report of a finished run again, from its journal and library alone, and whether it is the same."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from deep_research.assembly.environment import Job, Recorded, RunEnvironment
from deep_research.assembly.recording import ANSWERED
from deep_research.data import Asked, Report
from deep_research.errors import ReplayDiffers
from deep_research.events import Event
from deep_research.ports import Library
from deep_research.run_context.steering import Steering
from deep_research.runs.lifecycle import carry_out
from deep_research.runs.research_run import ResearchRun
from deep_research.settings import Settings
from deep_research.stores.event_log import EventFile, EventLog
from deep_research.stores.run_store import Checkpoints, RunStore
from deep_research.stores.sqlite_library import SqliteLibrary


def _ignore(_event: Event) -> None:
    """Show nothing."""


async def replay_run(store: RunStore, home: Path, *, listener: Callable[[Event], None] = _ignore) -> Report:
    """Do a finished run again from its journal, without network and keys, and return the report, which is the same.

    Raises ReplayDiffers at the first call that the recorded run did not make, and where the report is another one;
    RunNotFound when the run has no report.
    """
    recorded = store.load_result()
    with closing(store.open_journal()) as journal:
        environment = RunEnvironment(home, listener=listener, answer=_answering(iter(journal.notes(ANSWERED).values())))
        with TemporaryDirectory(prefix="deep-research-replay-") as scratch:
            made = recorded
            for number, library in enumerate(_libraries(store)):
                with closing(library):
                    task = _Replay(store, Path(scratch), Recorded(library, journal), recorded, number)
                    made = await carry_out(task, environment)
    _compare(made, recorded)
    return made


def _libraries(store: RunStore) -> Iterator[Library]:
    """Yield the library as it was before each section that was researched again, and last as it is."""
    for rerun in store.load().reruns:
        with closing(store.open_library()) as whole:
            library = SqliteLibrary(":memory:")
            library.restore(whole.sources(), islice(whole.snapshots(), rerun.snapshots))
        yield library
    yield store.open_library()


def _answering(answers: Iterator[str]) -> Callable[[Asked], str | None]:
    return lambda _asked: next(answers, None)


class _Replay(ResearchRun):
    """The research of a run's question, from its journal; nothing that is kept is changed."""

    def __init__(self, store: RunStore, scratch: Path, run: Recorded, recorded: Report, reruns: int) -> None:
        super().__init__(store)
        self.record = self.record.model_copy(update={"reruns": self.record.reruns[:reruns]})
        self._run, self._recorded = run, recorded
        self.seconds = recorded.ledger.seconds
        self._scratch = scratch

    def open_log(self, listener: Callable[[Event], None]) -> EventLog:
        """See `RunTask.open_log`. The order in which gaps were found depends on the moment, so it is given."""
        gaps = [event for event in self.store.read_events() if event.kind == "gap_found"]
        return EventLog(EventFile(self._scratch / "events.jsonl"), gaps, listener)

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
            prefetch=not self.record.reruns,
            rerun=len(self.record.reruns),
            recorded=self._run,
            elapsed=lambda: self._recorded.ledger.seconds,
        )

    def listening(self, ctx: Any) -> Any:
        """See `RunTask.listening`; nobody can say anything to a replay."""
        return super(ResearchRun, self).listening(ctx)

    def save(self, values: Mapping[str, Any]) -> tuple[Report, str]:
        """See `RunTask.save`; nothing is kept."""
        if "report" not in values:
            raise ReplayDiffers(
                f"The replay ended without a report: {values.get('final_report')}", run_id=self.store.run_id
            )
        return values["report"], self.store.place

    def note(self, **changes: Any) -> None:
        """Keep nothing."""


def _compare(made: Report, recorded: Report) -> None:
    """Raise ReplayDiffers with the first line that differs."""
    told, written = made.model_dump_json(indent=1), recorded.model_dump_json(indent=1)
    if told == written:
        return
    lines = zip(told.splitlines(), written.splitlines(), strict=False)
    first = next(((a, b) for a, b in lines if a != b), ("", ""))
    message = f"The replay gave another report. First difference: {first[0].strip()[:200]} instead of {first[1].strip()[:200]}"
    raise ReplayDiffers(message, run_id=recorded.run_id, kind="report")
