"""The events of a server's runs as server-sent events: each client gets all of a run in order, from the one it names on.

The log of a run is read when something happens and from time to time: so a run that another process carries out is
followed too.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from deep_research.api import EventTail
from deep_research.events import PASSING, Event

LOOK_SECONDS, KEEPALIVE_SECONDS = 0.5, 15.0


class EventFeeds:
    """What wakes those who follow a log, and what no log keeps: the pieces of what is being written."""

    def __init__(self) -> None:
        self._passing: dict[str, list[Event]] = {}
        self._changed = asyncio.Event()

    def notify(self) -> None:
        """Have the logs read at once: something has happened in this process."""
        self._changed.set()
        self._changed = asyncio.Event()

    def take(self, place: str, event: Event) -> None:
        """Take an event of the log at `place` in; one that only passes is there until a report is begun anew."""
        if event.kind in PASSING:
            is_first = place not in self._passing
            self._passing.setdefault(place, []).append(event)
            if not is_first:
                return  # of the others several are given at a time
        elif event.kind == "stage_started" and event.stage == "report":
            self.forget(place)
        self.notify()

    def forget(self, place: str) -> None:
        """Let go of what has passed; who is reading it reads it to its end."""
        self._passing.pop(place, None)

    async def follow(self, log: EventTail, after: int, is_going_on: Callable[[], bool]) -> AsyncIterator[bytes | None]:
        """Give the lines after number `after`, each as it is kept, until nothing goes on any more.

        What only passes comes behind the line whose number it has; who comes late gets all of what is being written.
        `is_going_on` may block. None is given when nothing has happened for a while, so that the connection is kept.
        Raises StoreError when the log cannot be read.
        """
        clock = asyncio.get_running_loop().time
        lines, sent, going_on, said_at = list[bytes](), max(0, after), True, clock()
        passing, passed = list[Event](), 0
        while going_on:
            changed = self._changed  # before the log is read: nothing can be missed
            begun = self._passing.get(log.place, passing)
            going_on, new = await asyncio.to_thread(lambda: (is_going_on(), log.read()))  # in this order, for the same
            lines += new
            while True:
                if passed == len(passing) and begun is not passing:
                    passing, passed = begun, 0
                if passed < len(passing) and passing[passed].number <= sent:
                    passed, said_at = passed + 1, clock()
                    yield passing[passed - 1].model_dump_json().encode()
                elif sent < len(lines):
                    sent, said_at = sent + 1, clock()
                    yield lines[sent - 1]
                else:
                    break
            if clock() - said_at >= KEEPALIVE_SECONDS:
                said_at = clock()
                yield None
            if going_on:
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), LOOK_SECONDS)
