"""The numbered events of a run: appended to its file, then passed to a listener."""

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeVar

from deep_research.data import Gap
from deep_research.errors import StoreError
from deep_research.events import PASSING, Event, event_adapter
from deep_research.safe_text import safe_noun
from deep_research.state_files import open_private

_T = TypeVar("_T")


@contextmanager
def tell_disk_errors(path: Path, what: str = "write") -> Iterator[None]:
    """Raise disk errors inside the block as StoreErrors: cannot `what` the `path`."""
    try:
        yield
    except OSError as error:
        message = f"Cannot {what} {str(path)!r}: {error.strerror or error}. Check the disk and the rights."
        raise StoreError(message, path=str(path)) from error


class EventFile:
    """A file of events, a line of JSON each."""

    def __init__(self, path: Path) -> None:
        """Open the file; a line that a crash has cut short is ended. Raises StoreError."""
        self._path = path
        with tell_disk_errors(path):
            self._file = open_private(path, "a")
            with path.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
                if file.read() not in (b"", b"\n"):  # the next event would be lost with it
                    self._file.write("\n")

    def append(self, number: int, line: str) -> None:
        """Write the line of an event. Raises StoreError."""
        del number
        with tell_disk_errors(self._path):
            self._file.write(line + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file; what could not be flushed was reported before."""
        with suppress(OSError):
            self._file.close()


class EventTail(Protocol):
    """Reads the lines of an event log while it grows; `place` tells two logs apart."""

    place: str

    def read(self) -> list[bytes]:
        """Return the new lines since the last call, without an unfinished one."""
        ...


class FileTail:
    """Reads a file of events (`EventTail`)."""

    def __init__(self, path: Path) -> None:
        self.place, self._path, self._offset = str(path), path, 0

    def read(self) -> list[bytes]:
        try:
            if self._path.stat().st_size <= self._offset:
                return []
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        return [line for line in whole.split(b"\n") if _is_event(line)]


def _is_event(line: bytes) -> bool:
    """Return whether a line is a whole event, and not one that a crash has cut short."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


class EventLog:
    """Numbers events, keeps each before it is shown, and passes it on.

    `earlier` are the events that were kept before, `gaps` those found so far, in that order.
    """

    def __init__(
        self,
        keep: Callable[[int, str], object],
        earlier: Sequence[Event],
        listener: Callable[[Event], None],
        *,
        seconds_before: float = 0.0,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        """Make a log that gives each event's number and line to `keep` before showing it."""
        self._keep, self._listener, self.close = keep, listener, close
        self.earlier = list(earlier)
        self.gaps = [Gap(**e.model_dump(include=set(Gap.model_fields))) for e in earlier if e.kind == "gap_found"]
        worked = max((event.seconds for event in self.earlier), default=0.0)
        self._begun = time.monotonic() - max(seconds_before, worked)
        self._number = len(self.earlier)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock inside the block: what the user takes to answer is no work."""
        stopped = time.monotonic()
        try:
            yield
        finally:
            self._begun += time.monotonic() - stopped

    @property
    def seconds(self) -> float:
        """Seconds of work on the run so far, earlier sittings included."""
        return time.monotonic() - self._begun

    def emit(self, event: Event) -> None:
        """Keep an event with its number and pass it on; raise StoreError on a full disk."""
        is_kept = event.kind not in PASSING  # the others have the number of the event before
        self._number += is_kept
        stamped = safe_noun(event).model_copy(update={"number": self._number, "seconds": round(self.seconds, 3)})
        if is_kept:
            self._keep(self._number, stamped.model_dump_json())
        self._listener(stamped)


def read_events(path: Path) -> list[Event]:
    """Return the events of a run in order."""
    return list(read_lines(path, event_adapter.validate_json))


def read_lines(path: Path, parse: Callable[[str], _T]) -> Iterator[_T]:
    """Yield the parsed lines of a file in order, without one cut short by a crash."""
    for line in FileTail(path).read():
        with suppress(ValueError):
            yield parse(line.decode("utf-8", "replace"))
