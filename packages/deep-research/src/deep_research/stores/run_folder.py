"""A run as a folder: record, library, journal, checkpoints, events and result.

One process at a time carries a run out: it holds a lock on a file in the folder. The operating system lets go of the
lock when the process that holds it ends, also after kill -9 (flock(2); LockFileEx through msvcrt on Windows). Looking
at a run needs no lock.
"""

import logging
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, TypeVar

from pydantic import ValidationError

from deep_research.data.brief import Steer
from deep_research.data.result import FollowUp, FollowUpHead, Report
from deep_research.errors import RunBusy, RunNotFound, StoreError
from deep_research.events import Event
from deep_research.safe_text import safe_noun
from deep_research.state_files import RUNS, beside, lock, make_private, make_private_folder, open_new
from deep_research.stores import run_store
from deep_research.stores.event_log import EventFile, EventLog, FileTail, read_events, read_lines, tell_disk_errors
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.run_store import Checkpoints, Kept, RunHead, RunRecord, RunStores, is_run_id
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.verification.chart_points import with_tables

_log = logging.getLogger(__name__)
_BEING_DELETED = ".deleted-"
"""How the folder of a run begins that is being deleted; what a crash leaves of it is deleted the next time."""
_BEING_TAKEN_IN = ".import-"
"""How the folder of a run begins that is being imported; what a crash leaves of it is deleted a minute later."""
_BEGINNING_SECONDS = 60.0
_TRIES, _MOMENT = 20, 0.01
"""Who looks whether a run is held has its lock for a moment: how often, and how many seconds apart, it is tried again."""
_H = TypeVar("_H", RunHead, FollowUpHead)
_F = TypeVar("_F", FollowUp, FollowUpHead)


@contextmanager
def held(path: Path, *, run_id: str, tries: int = _TRIES) -> Iterator[None]:
    """Hold the lock at `path`, no link, inside the block; raise StoreError, RunBusy."""
    with tell_disk_errors(path):
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        while True:
            try:
                lock(file)
                break
            except (BlockingIOError, PermissionError) as error:
                tries -= 1
                if tries <= 0:
                    raise _busy(file, run_id) from error
            time.sleep(_MOMENT)
        with suppress(OSError):  # who holds it; on a full disk the lock holds all the same
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
            os.write(file, str(os.getpid()).encode())
        yield
    finally:
        os.close(file)


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock at `path` at this moment."""
    try:
        with held(path, run_id="", tries=1):
            return False
    except RunBusy:
        return True


def clear_broken_off(folder: Path) -> None:
    """Delete what broken-off deletions and imports have left in the folder of runs."""
    for left in folder.glob(f"{_BEING_DELETED}*"):
        shutil.rmtree(left, ignore_errors=True)
    for left in folder.glob(f"{_BEING_TAKEN_IN}*"):
        with suppress(OSError, StoreError):  # one that begins has no lock yet
            if time.time() - left.stat().st_mtime > _BEGINNING_SECONDS and not is_held(left / "lock"):
                shutil.rmtree(left, ignore_errors=True)


def _busy(file: int, run_id: str) -> RunBusy:
    os.lseek(file, 0, os.SEEK_SET)
    said = os.read(file, 32).decode("ascii", "replace").strip()
    holder = f"process {said}" if said.isdigit() else "another process"
    if said == str(os.getpid()):
        holder += " (this one)"
    return run_store.busy_run(run_id, holder, int(said) if said.isdigit() else None)


class RunFolder:
    """The files of one run under `home/runs/` (`RunStore`)."""

    poll_seconds = 0.25

    def __init__(self, home: Path, run_id: str, *, folder: str = "") -> None:
        """`folder` is the name of its folder while it is not that of the run."""
        self.run_id = run_id
        self.path = home / RUNS / (folder or run_id)
        self.library = self.path / "library.db"
        self.journal = self.path / "journal.db"
        self.checkpoints = self.path / "checkpoints.db"
        self.events = self.path / "events.jsonl"
        self.report = self.path / "report.md"
        self.result = self.path / "result.json"
        self.lock = self.path / "lock"
        self.steering = self.path / "steering.jsonl"
        self.place, self.report_place = str(self.path), str(self.report)
        self._record = self.path / "run.json"
        self._follow_ups = self.path / "followups"

    def create(self, record: RunRecord) -> None:
        """Make the folder with its record. Raises StoreError when the disk refuses."""
        with tell_disk_errors(self.path):
            make_private_folder(self.path)
            make_private(self.path.parent)
            make_private(self.path)
        self.save(record)

    def save(self, record: RunRecord) -> None:
        write_atomically(self._record, safe_noun(record).model_dump_json(indent=1))

    def exists(self) -> bool:
        return is_run_id(self.run_id) and self._record.exists()

    def load(self) -> RunRecord:
        try:
            return RunRecord.model_validate_json(self._record.read_text("utf-8"))
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            if not self._record.exists():
                raise run_store.no_run(self.run_id) from error
            message = f"The run {self.run_id!r} is damaged: {str(self._record)!r} cannot be read."
            message += " What else there is of it lies in that folder." if self.report.exists() else ""
            raise RunNotFound(message, run_id=self.run_id) from error

    def head(self) -> RunHead:
        """Return the record's head, or one marked damaged; raise RunNotFound if missing."""
        with suppress(OSError, ValueError):
            return _head_in(RunHead, self._record)
        try:
            return self.load()
        except RunNotFound as error:
            if not self._record.exists():
                raise
            made = datetime.fromtimestamp(self._record.stat().st_mtime, UTC).isoformat(timespec="seconds")
            gone = error.message
        return RunHead(run_id=self.run_id, question="", language="", status="damaged", created=made, error=gone)

    def save_result(self, report: Report) -> str:
        report = safe_noun(report)
        write_atomically(self.result, report.model_dump_json(indent=1))
        write_atomically(self.report, with_tables(report.report, report))
        return self.report_place

    def has_report(self) -> bool:
        return self.result.exists()

    def load_result(self) -> Report:
        try:
            return Report.model_validate_json(self.result.read_text("utf-8"))
        except (OSError, ValidationError, UnicodeDecodeError) as error:
            raise run_store.no_report(self.run_id) from error

    def open_library(self, shown: str | None = None) -> SqliteLibrary:
        return SqliteLibrary(self.library)

    def open_journal(self) -> SqliteJournal:
        return SqliteJournal(self.journal)

    def open_log(self, listener: Callable[[Event], None], *, part: str = "", seconds_before: float = 0.0) -> EventLog:
        file = EventFile(self.events_file(part))  # which ends a last line that was cut short, before it is read
        earlier = self.read_events(part)
        return EventLog(file.append, earlier, listener, seconds_before=seconds_before, close=file.close)

    def events_file(self, part: str = "") -> Path:
        return self._follow_ups / f"{part}.events.jsonl" if part else self.events

    def read_events(self, part: str = "") -> list[Event]:
        return read_events(self.events_file(part))

    def restore_events(self, events: Sequence[Event], part: str = "") -> None:
        write_atomically(self.events_file(part), "".join(f"{event.model_dump_json()}\n" for event in events))

    def tail_events(self, part: str = "") -> FileTail:
        return FileTail(self.events_file(part))

    def checkpoints_at(self, part: str = "") -> Checkpoints:
        path = self._follow_ups / f"{part}.checkpoints.db" if part else self.checkpoints
        return Checkpoints(str(path), self.run_id)

    def held(self) -> AbstractContextManager[None]:
        return held(self.lock, run_id=self.run_id)

    def is_held(self) -> bool:
        return is_held(self.lock)

    def add_steer(self, steer: Steer) -> None:
        with tell_disk_errors(self.steering):
            file = os.open(self.steering, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(file, f"\n{steer.model_dump_json()}\n".encode())
                os.fsync(file)
            finally:
                os.close(file)

    def read_steers(self) -> list[Steer]:
        return list(read_lines(self.steering, Steer.model_validate_json))

    def read_follow_ups(self) -> list[FollowUp]:
        return [made for number in self._numbers() if (made := self.read_follow_up(number)) is not None]

    def list_follow_ups(self) -> list[FollowUpHead]:
        read = partial(_head_in, FollowUpHead)
        return [head for number in self._numbers() if (head := self._follow_up(number, read)) is not None]

    def read_follow_up(self, number: int) -> FollowUp | None:
        return self._follow_up(number, lambda path: FollowUp.model_validate_json(path.read_text("utf-8")))

    def _follow_up(self, number: int, read: Callable[[Path], _F]) -> _F | None:
        path = self._follow_ups / f"{number}.json"
        try:
            return read(path)
        except (OSError, ValueError) as error:
            if not isinstance(error, FileNotFoundError):
                _log.warning("The follow-up %s cannot be read: %s", path, error)
            return None

    def _numbers(self) -> list[int]:
        return sorted(int(p.stem) for p in self._follow_ups.glob("*.json") if p.stem.isdecimal())

    def next_follow_up(self) -> int:
        return 1 + max(self._numbers(), default=0)

    def save_follow_up(self, made: FollowUp) -> str:
        make_private_folder(self._follow_ups)
        write_atomically(self._follow_ups / f"{made.number}.json", made.model_dump_json(indent=1))
        answer = self._follow_ups / f"{made.number}.md"
        if made.report is not None:
            write_atomically(answer, with_tables(made.report.report, made.report))
        return str(answer)

    def delete(self) -> None:
        """Delete the folder in one step, as others see it. Raises RunBusy and StoreError."""
        renamed = self.path.with_name(f"{_BEING_DELETED}{self.run_id}")
        with tell_disk_errors(self.path, "delete"):
            with self.held():
                self.path.rename(renamed)
            shutil.rmtree(renamed, ignore_errors=True)
            if renamed.exists():  # a thread of a run that was just stopped wrote its last
                shutil.rmtree(renamed)


class FolderRuns(RunStores):
    """The runs of a state folder (`RunStores`)."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def create(self, record: RunRecord) -> RunFolder:
        folder = RunFolder(self._home, record.run_id)
        folder.create(record)
        return folder

    @contextmanager
    def taking_in(self, record: RunRecord) -> Iterator[RunFolder]:
        """Take a run in, under another name until complete (`RunStores.taking_in`)."""
        beside = self._home / RUNS
        clear_broken_off(beside)
        folder = RunFolder(self._home, record.run_id, folder=f"{_BEING_TAKEN_IN}{secrets.token_hex(8)}")
        try:
            folder.create(record)
            with tell_disk_errors(beside / record.run_id), folder.held():
                yield folder
                folder.path.rename(beside / record.run_id)
        finally:
            shutil.rmtree(folder.path, ignore_errors=True)

    def store(self, run_id: str) -> RunFolder:
        if not is_run_id(run_id):  # it would be a path
            raise run_store.no_run(run_id)
        return RunFolder(self._home, run_id)

    def has(self, run_id: str) -> bool:
        return RunFolder(self._home, run_id).exists()

    def ids(self) -> Sequence[str]:
        folder = self._home / RUNS
        names = os.listdir(folder) if folder.is_dir() else []
        return [name for name in names if self.has(name)]

    def list(self) -> Sequence[RunHead]:
        return list_runs(self._home)

    def kept(self) -> Kept:
        return Kept(len(self.ids()), folder_size(self._home / RUNS))

    def is_free(self, run_id: str) -> bool:
        return not (self._home / RUNS / run_id).exists()


def list_runs(home: Path) -> Sequence[RunHead]:
    """Return the heads of all runs, newest first, damaged ones too."""
    heads: list[RunHead] = []
    for run_id in FolderRuns(home).ids():
        with suppress(RunNotFound, OSError):
            heads.append(RunFolder(home, run_id).head())
    return sorted(heads, key=lambda r: (r.created, r.run_id), reverse=True)


def folder_size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _head_in(kind: type[_H], path: Path) -> _H:
    with path.open(encoding="utf-8") as file:
        begins = file.read(run_store.HEAD_CHARS)
        return run_store.read_head(kind, begins, lambda: begins + file.read())


def write_atomically(path: Path, text: str, *, private: bool = True) -> None:
    """Write `text` to `path` atomically, owner-only if `private`; raise StoreError."""
    write_bytes_atomically(path, text.encode(errors="surrogatepass" if private else "replace"), private=private)


def check_writable(path: Path) -> None:
    """Raise StoreError if `path` is not writable; keep it, and make a missing folder."""
    probe = beside(path)
    with tell_disk_errors(path):
        make_private_folder(path.parent)
        if path.is_file() or not path.exists():  # else a device or a pipe
            open_new(probe, private=True).close()
            probe.unlink()


def write_bytes_atomically(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write `data` to `path` atomically, owner-only if `private`; raise StoreError.

    A device or a pipe (`/dev/null`, `/dev/stdout`) is written to, and stays what it is.
    """
    with tell_disk_errors(path):
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        with replacing(path, private=private) as file:
            file.write(data)


@contextmanager
def replacing(path: Path, *, private: bool) -> Iterator[IO[bytes]]:
    """Yield a new file that replaces `path` only at the end of the block."""
    temporary = beside(path)
    try:
        with open_new(temporary, private=private) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
