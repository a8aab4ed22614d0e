"""The numbered events of a run: appended to its file, then passed to a listener."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from deep_research.errors import StoreError
from deep_research.events import Event, event_adapter
from deep_research.safe_text import safe_noun
from deep_research.state_files import open_private


class EventLog:
    """Numbers events, writes each as a line of JSON before it is shown, and passes it on.

    `earlier` are the events that the file held when it was opened.
    """

    def __init__(self, path: Path, listener: Callable[[Event], None], *, seconds_before: float = 0.0) -> None:
        self._path = path
        self._listener = listener
        self._begun = time.monotonic() - seconds_before
        self.earlier = read_events(path)
        self._number = len(self.earlier)
        try:
            self._file = open_private(path, "a")
            if _is_cut_short(path):
                self._file.write("\n")
        except OSError as error:
            raise StoreError(
                f"Cannot write {str(path)!r}: {error.strerror}. Check the disk.", path=str(path)
            ) from error

    @property
    def seconds(self) -> float:
        """Seconds of work on the run so far, earlier sittings included."""
        return time.monotonic() - self._begun

    def emit(self, event: Event) -> None:
        """Give an event its number, write it and pass it on, safe to show. Raises StoreError when the disk is full."""
        self._number += 1
        stamped = safe_noun(event).model_copy(update={"number": self._number, "seconds": round(self.seconds, 3)})
        try:
            self._file.write(stamped.model_dump_json() + "\n")
            self._file.flush()
        except OSError as error:
            message = f"Cannot write {str(self._path)!r}: {error.strerror}. Check the disk."
            raise StoreError(message, path=str(self._path)) from error
        self._listener(stamped)

    def close(self) -> None:
        """Close the file; what could not be flushed was reported before."""
        try:
            self._file.close()
        except OSError:
            return


def _is_cut_short(path: Path) -> bool:
    """Return whether a crash has left the last line without its end: the next one would be lost with it."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def read_events(path: Path) -> list[Event]:
    """Return the events of a run in order; a last line that a crash cut short is left out."""
    if not path.exists():
        return []
    events: list[Event] = []
    for line in path.read_text("utf-8", errors="replace").splitlines():
        try:
            events.append(event_adapter.validate_json(line))
        except ValueError:
            continue
    return events
