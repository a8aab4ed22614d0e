"""One research in the state folder: run it, ask about it, steer it, inspect it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from deep_research.assembly.environment import Answer, RunEnvironment
from deep_research.assembly.own_objects import NOTHING, OwnObjects, take_objects
from deep_research.data import Export, FollowUp, FollowUpHead, Report, Steer
from deep_research.data.outside_tools import McpServer
from deep_research.errors import RunNotFound
from deep_research.events import Event
from deep_research.runs import follow_up_run, refresh, replay, report_changes, research_run, steering_inbox
from deep_research.runs.run_evidence import RunEvidence, export_report
from deep_research.stores.event_log import EventTail
from deep_research.stores.open_stores import database, open_runs
from deep_research.stores.run_store import RunRecord, RunStore

Listener = Callable[[Event], None]


class Run(RunEvidence):
    """A research in the state folder, to run, ask about, steer and inspect.

    Made by `start_run` and `open_run`. `mcp_servers` replace those of the settings in force (None: those); `own` are the
    models and tools that the program hands over.
    """

    def __init__(
        self,
        store: RunStore,
        home: Path,
        *,
        mcp_servers: Mapping[str, McpServer] | None = None,
        own: OwnObjects = NOTHING,
    ) -> None:
        self._store, self._home, self._mcp_servers, self._own = store, home, mcp_servers, own
        self.id, self.home = store.run_id, home
        self.report_path = store.report_place

    @property
    def record(self) -> RunRecord:
        """What is known about the run without opening its stores. Raises RunNotFound."""
        return self._store.load()

    def note_output(self, path: str, to: str = "") -> None:
        """Record the file, and its format, that the report goes to, also after a break."""
        self._store.save(self.record.model_copy(update={"out": path, "out_format": to}))

    def note_awaited(self, request: str) -> None:
        """Record the request (SHA-256) whose client awaits the run; "" once it is told."""
        if (record := self.record).awaited != request:
            self._store.save(record.model_copy(update={"awaited": request}))

    @property
    def has_report(self) -> bool:
        """Whether the report is there."""
        return self._store.has_report()

    @property
    def report(self) -> Report:
        """The report. Raises RunNotFound while there is none."""
        return self._store.load_result()

    @property
    def is_running(self) -> bool:
        """Whether a process carries it out at this moment."""
        return self._store.is_held()

    async def carry_out(self, *, listener: Listener = lambda _event: None, answer: Answer | None = None) -> Report:
        """Do what is left of the run and return its report; `answer` answers questions.

        It is called with what the user is asked.

        Raises RunBusy when another process does it, NeedsAnswer when the user must be asked and `answer` cannot,
        Declined when nothing can answer the question or the user rejected the plan, asyncio.CancelledError when it was
        stopped, another ResearchError when it failed; in each case it can be carried on later.
        """
        environment = RunEnvironment(
            self._home, listener=listener, answer=answer, mcp_servers=self._mcp_servers, own=self._own
        )
        return await research_run.resume_run(self._store, environment)

    def enqueue(self, *, priority: int = 0, may_ask: bool = False, answer: str | None = None) -> None:
        """Have a worker carry out what is left of the run; it outlives this process.

        `priority` is higher for what should come first. With `may_ask` the run waits where it asks something; `answer`
        is the user's to what it asked. Raises ConfigError without a database and where nothing is left, RunBusy.
        """
        database().queue.enqueue_run(self._store, priority=priority, may_ask=may_ask, answer=answer)

    @property
    def is_queued(self) -> bool:
        """Return whether the run waits for a worker or one carries it out.

        Raises ConfigError without a database.
        """
        return database().queue.is_queued(self._store)

    async def follow_up(self, question: str, *, listener: Listener = lambda _event: None, **settings: Any) -> FollowUp:
        """Answer a question about the report; see `afollow_up`."""
        named, own = take_objects(settings)
        environment = RunEnvironment(self._home, listener=listener, own=own if own.models else self._own)
        return await follow_up_run.ask_follow_up(self._store, question, environment, named)

    def note_follow_up(self, question: str, **settings: Any) -> FollowUp:
        """Record a question about the report, for `follow_up` or `enqueue` to answer."""
        return follow_up_run.note_follow_up(self._store, question, settings)

    async def replay(self, *, listener: Listener = lambda _event: None) -> Report:
        """Replay the finished run, without network or keys; return its report.

        Raises ReplayDiffers at the first call that the run did not make, RunNotFound when the run has no report.
        """
        return await replay.replay_run(self._store, self._home, listener=listener)

    def follow_ups(self) -> list[FollowUp]:
        """Return the questions about the report with their answers, in order."""
        return self._store.read_follow_ups()

    def list_follow_ups(self) -> list[FollowUpHead]:
        """Return the questions about the report, in order, without their answers."""
        return self._store.list_follow_ups()

    def count_follow_ups(self) -> int:
        """Return how many questions about the report there are."""
        return self._store.next_follow_up() - 1

    async def refresh(self, *, wanted_id: str = "") -> "Run":
        """Create a run of the same plan on today's sources; `carry_out` does it.

        `changes_since_parent` of that run then says what is new, what changed and what is gone. Raises ConfigError.
        """
        made = await refresh.refresh_run(self._store, self._home, wanted_id)
        return Run(made, self._home, mcp_servers=self._mcp_servers)

    def changes_since_parent(self) -> report_changes.RunChanges:
        """Return what changed since the run that this one refreshes; print() shows it.

        Raises RunNotFound without a report, and for a run that refreshes none.
        """
        parent = open_runs(self._home).store(self.record.parent)
        dates = (parent.load().created[:10], self.record.created[:10])
        return report_changes.compare_reports(parent.load_result(), self.report, before=dates[0], after=dates[1])

    def write_bundle(self, path: Path) -> None:
        """Write the finished run to one file. Raises RunNotFound and StoreError."""
        from deep_research.stores.run_bundle import write_bundle  # noqa: PLC0415 - only where it is asked for

        write_bundle(self._store, path)

    def numbered_follow_up(self, number: int) -> FollowUp:
        """Return one follow-up. Raises RunNotFound when the run has none of that number."""
        if (found := self._store.read_follow_up(number)) is not None:
            return found
        message = f"The run {self.id} has no follow-up {number}; it has {self.count_follow_ups()}."
        raise RunNotFound(message, run_id=self.id)

    def unfinished_follow_up(self) -> FollowUp | None:
        """Return the last follow-up when it was interrupted or failed."""
        return follow_up_run.unfinished(self._store) if self.has_report else None

    def stop(self) -> bool:
        """Stop the run in whichever process it goes on; return whether it did."""
        return steering_inbox.stop(self._store)

    def steer(self, kind: str, text: str = "") -> Steer:
        """Instruct the run while it goes on; see `runs.steering_inbox.steer`."""
        return steering_inbox.steer(self._store, kind, text)

    def sections(self) -> list[str]:
        """Return the titles of the sections that the user has not dropped."""
        return steering_inbox.sections_of(self._store)

    def tail_events(self, follow_up: int = 0) -> EventTail:
        """Return a live reader of the run's events, or of those of a follow-up."""
        return self._store.tail_events(str(follow_up) if follow_up else "")

    def read_events(self, after: int = 0) -> list[Event]:
        """Return the events of the run so far, those after number `after`."""
        return [event for event in self._store.read_events() if event.number > after]

    def export(self, to: str, *, followup: int | None = None, font_folder: Path | None = None) -> Export:
        """Export the report, or a follow-up's answer. Raises RunNotFound, ConfigError."""
        report = self.report if followup is None else self.numbered_follow_up(followup).report
        if report is None:
            raise RunNotFound(f"Follow-up {followup} of the run {self.id!r} has no answer.", run_id=self.id)
        return export_report(self._store, report, to, font_folder=font_folder)
