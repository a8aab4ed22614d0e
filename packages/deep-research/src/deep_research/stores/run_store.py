"""Stored data of runs, and `RunStore`, the port to all that outlives a process."""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from pydantic import Field
from pydantic_core import from_json

from deep_research.data.brief import Asked, Message, Steer
from deep_research.data.evidence import Snapshot, Source
from deep_research.data.noun import Noun
from deep_research.data.result import FollowUp, FollowUpHead, Report
from deep_research.errors import RunBusy, RunNotFound
from deep_research.events import Event
from deep_research.ports import Journal, Library
from deep_research.stores.event_log import EventLog, EventTail

RunStatus = Literal["queued", "running", "waiting", "finished", "failed", "stopped", "declined", "damaged"]
Origin = Literal["", "refresh"]
HEAD_CHARS = 16_384
"""So much of a record is read for a list: its fields stand in their order, those of its head first."""
_LISTED_CHARS = 2_000
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


class RunHead(Noun):
    """What a list shows of a run; a text in it is cut after 2,000 characters.

    `origin` says how the run came from another one, `parent`: the same question asked again later.
    `is_answered` is False where the finished report answers nothing.
    """

    run_id: str
    language: str
    status: RunStatus
    created: str
    title: str = ""
    error: str = ""
    waiting_for: str = ""
    seconds: float = 0.0
    parent: str = ""
    origin: Origin = ""
    is_answered: bool = True
    docs: tuple[str, ...] = ()
    question: str


class RunRecord(RunHead):
    """A run's data known without opening its stores; `settings` are the initial ones.

    Of its MCP servers it keeps the names: what is started is decided by the settings in force when it goes on.
    `recorded` are the settings that an imported run was made with: a replay alone uses them, which reaches nothing outside.
    `awaited` is the request (a SHA-256) whose client waits for the run and has not been given its answer, `out_format` the
    format of the file `out` where that is not Markdown.
    """

    history: tuple[Message, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)
    asked: Asked | None = None
    out: str = ""
    out_format: str = ""
    owner: str = ""
    recorded: dict[str, Any] | None = None
    awaited: str = ""


_H = TypeVar("_H", RunHead, FollowUpHead)


def read_head(kind: type[_H], begins: str, whole: Callable[[], str]) -> _H:
    """Return a record's head from the first `HEAD_CHARS` of its JSON, or the `whole`."""
    is_cut = len(begins) >= HEAD_CHARS
    given = from_json(begins, allow_partial="trailing-strings" if is_cut else False)
    # Its question stands last: what is there of it is enough, or the field behind it was reached.
    if is_cut and not (
        kind.model_fields.keys() <= given.keys()
        and (len(given["question"]) >= _LISTED_CHARS or len(given) > len(kind.model_fields))
    ):
        given = from_json(whole())
    known = ((name, value) for name, value in given.items() if name in kind.model_fields)
    return kind.model_validate({k: v[:_LISTED_CHARS] if isinstance(v, str) else v for k, v in known})


class Kept(NamedTuple):
    """What an owner keeps: how many runs, and the bytes of all of them."""

    runs: int
    bytes: int


class StoredCall(NamedTuple):
    """A call as a journal keeps it; `at` is seconds since 1970."""

    kind: str
    request: str
    answer: str
    at: float
    seconds: float


class StoredNote(NamedTuple):
    """What a run saw beside its calls, as a journal keeps it."""

    kind: str
    request: str
    answer: str


class StoredPassage(NamedTuple):
    """A stored passage: ordinal within its source, range in the text, page, heading."""

    ordinal: int
    start: int
    stop: int
    page: int | None
    heading: str


class StoredSnapshot(NamedTuple):
    """A snapshot with its passages."""

    snapshot: Snapshot
    passages: tuple[StoredPassage, ...]


class StoredJournal(Journal, Protocol):
    """A journal that can be copied to another place; it gives the oldest first."""

    def calls(self) -> Iterator[StoredCall]: ...
    def all_notes(self) -> Iterator[StoredNote]: ...
    def restore(self, calls: Iterable[StoredCall], notes: Iterable[StoredNote]) -> None: ...


class StoredLibrary(Library, Protocol):
    """A library that can be copied to another, empty one; it gives the oldest first."""

    def snapshots(self) -> Iterator[StoredSnapshot]: ...
    def restore(self, sources: Iterable[Source], snapshots: Iterable[StoredSnapshot]) -> None: ...


def is_run_id(text: str) -> bool:
    """Return whether a text may be the id of a run."""
    return _RUN_ID.fullmatch(text) is not None


def dated_id(mark: str = "") -> str:
    """Return a time-ordered id for a run of now (UTC), ending in `mark` or at random."""
    now = datetime.now(UTC)
    moment = f"{now:%f}-{mark}" if mark else f"{now.microsecond:05x}{secrets.token_hex(2)[1:]}"
    return f"{now:%Y%m%d-%H%M%S}-{moment}"


def no_run(run_id: str) -> RunNotFound:
    """Return the error for a run that is not there."""
    return RunNotFound(f"There is no run {run_id!r}. `deep-research list` shows all runs.", run_id=run_id)


def no_report(run_id: str) -> RunNotFound:
    """Return the error for a run without a report."""
    message = f"The run {run_id!r} has no report yet. Go on with: deep-research resume {run_id}"
    return RunNotFound(message, run_id=run_id)


def busy_run(run_id: str, holder: str, process: int | None = None) -> RunBusy:
    """Return the error for a run that another process carries out."""
    message = (
        f"The run {run_id} is being carried out by {holder}. "
        f"Wait until it has ended or stop it; then: deep-research resume {run_id}"
    )
    return RunBusy(message, run_id=run_id, process=process)


class Guard(NamedTuple):
    """What holds for each checkpoint in a database.

    It is written only while the process has the fence token of the run (None: not held), and after `write_notes`.
    """

    run_id: str
    fence: int | None
    write_notes: Callable[[], None]


class Checkpoints(NamedTuple):
    """The engine's checkpoints: file or database address, and name of the thread."""

    location: str
    thread: str
    guard: Guard | None = None


class RunStore(Protocol):
    """All stored data of one run; `part` is "" or the number of a follow-up.

    Each method raises StoreError when the disk or the database fails. `place` says in messages where it lies. A record
    is replaced in one step; events, instructions and follow-ups are given in their order.
    """

    run_id: str
    place: str
    report_place: str
    poll_seconds: float

    def exists(self) -> bool: ...
    def load(self) -> RunRecord:
        """Return the record. Raises RunNotFound."""
        ...

    def save(self, record: RunRecord) -> None: ...
    def has_report(self) -> bool: ...
    def save_result(self, report: Report) -> str:
        """Keep the result; return where a person finds the report (`report_place`)."""
        ...

    def load_result(self) -> Report:
        """Return the result. Raises RunNotFound when the run has none yet."""
        ...

    def open_library(self, shown: str | None = None) -> StoredLibrary:
        """Open the run's library; if only one source is `shown` ("": all), not to search."""
        ...

    def open_journal(self) -> StoredJournal: ...
    def open_log(
        self, listener: Callable[[Event], None], *, part: str = "", seconds_before: float = 0.0
    ) -> EventLog: ...
    def read_events(self, part: str = "") -> list[Event]: ...
    def restore_events(self, events: Sequence[Event], part: str = "") -> None:
        """Take the events of another store over, as they are."""
        ...

    def tail_events(self, part: str = "") -> EventTail:
        """Return a reader of the event lines, which gives only new lines each time."""
        ...

    def checkpoints_at(self, part: str = "") -> Checkpoints: ...
    def held(self) -> AbstractContextManager[None]:
        """Hold the run for one process at a time inside the block; raise RunBusy."""
        ...

    def is_held(self) -> bool:
        """Return whether a process carries the run out at this moment."""
        ...

    def add_steer(self, steer: Steer) -> None: ...
    def read_steers(self) -> list[Steer]: ...
    def read_follow_ups(self) -> list[FollowUp]: ...
    def list_follow_ups(self) -> list[FollowUpHead]: ...
    def read_follow_up(self, number: int) -> FollowUp | None: ...
    def next_follow_up(self) -> int:
        """Return the number of the next follow-up; an unreadable one keeps its number."""
        ...

    def save_follow_up(self, made: FollowUp) -> str:
        """Keep a follow-up; return where a person finds its answer."""
        ...

    def delete(self) -> None:
        """Delete the run with all that is kept of it. Raises RunBusy."""
        ...


class RunStores(Protocol):
    """All runs of one state folder, or of one owner in a database."""

    def create(self, record: RunRecord) -> RunStore: ...
    def taking_in(self, record: RunRecord) -> AbstractContextManager[RunStore]:
        """Make a run that others see when the block has ended well, and never otherwise."""
        ...

    def store(self, run_id: str) -> RunStore:
        """Return what is kept of a run, by its whole id; nothing is looked up."""
        ...

    def has(self, run_id: str) -> bool: ...
    def is_free(self, run_id: str) -> bool:
        """Return whether no run has an id, nor anybody else's."""
        ...

    def open(self, run_id: str, *, is_whole: bool = False) -> RunStore:
        """Return a run by its id or (unless `is_whole`) a clear part; raise RunNotFound."""
        if self.has(run_id):
            return self.store(run_id)
        if is_whole:
            raise no_run(run_id)
        matches = [one for one in self.ids() if run_id and run_id in one]
        if len(matches) != 1:
            why = f"{run_id!r} fits {len(matches)} runs" if matches else f"There is no run {run_id!r}"
            raise RunNotFound(f"{why}. `deep-research list` shows all runs.", run_id=run_id)
        return self.store(matches[0])

    def ids(self) -> Sequence[str]: ...
    def list(self) -> Sequence[RunHead]:
        """Return the heads of all runs, newest first, damaged ones too."""
        ...

    def kept(self) -> Kept: ...

    def new_id(self, wanted: str = "") -> str:
        """Return an unused run id: `wanted` if free and fit for a name, else a dated one."""
        return wanted if is_run_id(wanted) and self.is_free(wanted) else dated_id()
