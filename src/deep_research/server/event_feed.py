"""The events of runs as server-sent events: each client gets all of them in order, from the one it names on.

All readers of a run share what was read of its log. A run that another process carries out is followed too: its
log is looked at from time to time.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from deep_research.api import EventTail

LOOK_SECONDS, KEEPALIVE_SECONDS = 0.5, 15.0


@dataclass
class _Tail:
    """What was read of a log of events: its whole lines; how many readers there are."""

    log: EventTail
    lines: list[bytes] = field(default_factory=list)
    readers: int = 0
    reading: threading.Lock = field(default_factory=threading.Lock)

    def read(self) -> None:
        """Take in what the log has grown by; one reader at a time."""
        with self.reading:
            self.lines += self.log.read()


class EventFeeds:
    """The logs of events that are being read."""

    def __init__(self) -> None:
        self._tails: dict[str, _Tail] = {}
        self._news = asyncio.Event()
        self.readers = 0

    def notify(self) -> None:
        """Wake the readers: something has happened."""
        self._news.set()
        self._news = asyncio.Event()

    async def follow(self, log: EventTail, after: int, is_going_on: Callable[[], bool]) -> AsyncIterator[bytes | None]:
        """Give the lines after number `after`, each as it is kept, until nothing goes on any more.

        None is given when nothing has happened for a while, so that the connection is kept.
        """
        tail = self._tails.setdefault(log.place, _Tail(log))
        tail.readers += 1
        self.readers += 1
        sent, quiet = max(0, after), 0.0
        try:
            while True:
                going_on, news = is_going_on(), self._news  # before the log is read: nothing can be missed
                await asyncio.to_thread(tail.read)
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
                self._tails.pop(log.place, None)


async def _wait(news: asyncio.Event) -> float:
    """Wait for news or until it is time to look; return the seconds without news."""
    try:
        await asyncio.wait_for(news.wait(), LOOK_SECONDS)
    except TimeoutError:
        return LOOK_SECONDS
    return 0.0
