"""The events of runs as server-sent events: each client gets all of them in order, from the one it names on.

All readers of a run share what was read of its file. A run that another process carries out is followed too: its
file is looked at from time to time.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

LOOK_SECONDS, KEEPALIVE_SECONDS = 0.5, 15.0


@dataclass
class _Tail:
    """What was read of a file of events: its whole lines; how far; how many readers there are."""

    path: Path
    lines: list[bytes] = field(default_factory=list)
    offset: int = 0
    readers: int = 0

    def read(self) -> None:
        """Take in what the file has grown by; an unfinished line waits."""
        try:
            if self.path.stat().st_size <= self.offset:
                return
            with self.path.open("rb") as file:
                file.seek(self.offset)
                data = file.read()
        except FileNotFoundError:
            return
        whole = data[: data.rfind(b"\n") + 1]
        self.offset += len(whole)
        self.lines += [line for line in whole.split(b"\n") if _is_event(line)]


def _is_event(line: bytes) -> bool:
    """Return whether a line is a whole event, and not one that a crash has cut short."""
    try:
        return bool(line) and isinstance(json.loads(line), dict)
    except ValueError:
        return False


class EventFeeds:
    """The files of events that are being read."""

    def __init__(self) -> None:
        self._tails: dict[Path, _Tail] = {}
        self._news = asyncio.Event()
        self.readers = 0

    def notify(self) -> None:
        """Wake the readers: something has happened."""
        self._news.set()
        self._news = asyncio.Event()

    async def follow(self, path: Path, after: int, is_going_on: Callable[[], bool]) -> AsyncIterator[bytes | None]:
        """Give the lines after number `after`, each as its file holds it, until nothing goes on any more.

        None is given when nothing has happened for a while, so that the connection is kept.
        """
        tail = self._tails.setdefault(path, _Tail(path))
        tail.readers += 1
        self.readers += 1
        sent, quiet = max(0, after), 0.0
        try:
            while True:
                going_on, news = is_going_on(), self._news  # before the file is read: nothing can be missed
                tail.read()
                while sent < len(tail.lines):
                    sent, quiet = sent + 1, 0.0
                    yield tail.lines[sent - 1]
                if not going_on:
                    return
                quiet += await _wait(news)
                if quiet >= KEEPALIVE_SECONDS:
                    quiet = 0.0
                    yield None
        finally:
            self.readers -= 1
            tail.readers -= 1
            if not tail.readers:
                self._tails.pop(path, None)


async def _wait(news: asyncio.Event) -> float:
    """Wait for news or until it is time to look; return the seconds without news."""
    try:
        await asyncio.wait_for(news.wait(), LOOK_SECONDS)
    except TimeoutError:
        return LOOK_SECONDS
    return 0.0
