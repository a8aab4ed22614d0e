"""Events of a server's runs as server-sent events, in order from a given number.

The log of a run is read once for all its readers, also from time to time: another process may carry it out.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from deep_research.api import EventTail
from deep_research.events import PASSING, Event

LOOK_SECONDS, KEEPALIVE_SECONDS = 0.5, 15.0


@dataclass(eq=False)
class _Tail:
    """The read state of an event log: lines, number of readers, and reading task."""

    log: EventTail
    is_going_on: Callable[[], bool]
    lines: list[bytes] = field(default_factory=list)
    readers: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    reading: "asyncio.Task[None]" = field(init=False)

    def tell(self) -> None:
        """Wake the readers."""
        self.news.set()
        self.news = asyncio.Event()


class EventFeeds:
    """The event logs being read, and the unlogged pieces of text being written."""

    def __init__(self) -> None:
        self._tails: dict[str, _Tail] = {}
        self._passing: dict[str, list[Event]] = {}
        self._changed = asyncio.Event()

    def notify(self) -> None:
        """Have the logs read at once: something has happened in this process."""
        self._changed.set()
        self._changed = asyncio.Event()

    def take(self, place: str, event: Event) -> None:
        """Handle an event of the log at `place`, caching transient ones."""
        if event.kind in PASSING:
            self._passing.setdefault(place, []).append(event)
            if place in self._tails:
                self._tails[place].tell()
            return
        if event.kind == "stage_started" and event.stage == "report":
            self.forget(place)
        self.notify()

    def forget(self, place: str) -> None:
        """Let go of what has passed; who is reading it reads it to its end."""
        self._passing.pop(place, None)

    async def follow(self, log: EventTail, after: int, is_going_on: Callable[[], bool]) -> AsyncIterator[bytes | None]:
        """Yield the lines after number `after` as they are logged, until the run ends.

        What only passes comes behind the line whose number it has. `is_going_on` may block. None is given when nothing
        has happened for a while. Raises StoreError when the log cannot be read.
        """
        tail = self._tail(log, is_going_on)
        tail.readers += 1
        sent = max(0, after)
        passing: list[Event] = []
        passed = 0
        try:
            while True:
                news, reading = tail.news, tail.reading
                while True:
                    if passed == len(passing) and self._passing.get(log.place, passing) is not passing:
                        passing, passed = self._passing[log.place], 0
                    if passed < len(passing) and passing[passed].number <= sent:
                        passed += 1
                        yield passing[passed - 1].model_dump_json().encode()
                    elif sent < len(tail.lines):
                        sent += 1
                        yield tail.lines[sent - 1]
                    else:
                        break
                if reading.done():
                    reading.result()
                    return
                if not await _comes(news, KEEPALIVE_SECONDS):
                    yield None
        finally:
            tail.readers -= 1
            if not tail.readers:
                tail.reading.cancel()
                self._close(tail)

    def _tail(self, log: EventTail, is_going_on: Callable[[], bool]) -> _Tail:
        """Return the log as it is being read; one that nothing reads yet is begun with."""
        tail = self._tails.get(log.place)
        if tail is None:
            tail = self._tails[log.place] = _Tail(log, is_going_on)
            tail.reading = asyncio.create_task(self._read(tail))
            tail.reading.add_done_callback(lambda _task: self._close(tail))
        return tail

    def _close(self, tail: _Tail) -> None:
        if self._tails.get(tail.log.place) is tail:
            del self._tails[tail.log.place]
        tail.tell()

    async def _read(self, tail: _Tail) -> None:
        """Read a log until its run goes on no more."""
        going_on = True
        while going_on:
            changed = self._changed  # before the log is read: nothing can be missed
            going_on, lines = await asyncio.to_thread(lambda: (tail.is_going_on(), tail.log.read()))
            if lines:
                tail.lines += lines
                tail.tell()
            if going_on:
                await _comes(changed, LOOK_SECONDS)


async def _comes(news: asyncio.Event, seconds: float) -> bool:
    """Wait for news for so long; return whether there is any."""
    with suppress(TimeoutError):
        await asyncio.wait_for(news.wait(), seconds)
    return news.is_set()
