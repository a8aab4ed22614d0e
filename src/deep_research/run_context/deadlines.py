"""How long sections take, and when one that takes far longer than the others is closed with what it has.

Only research is cut short: what is being written, checked or reviewed is finished. A call that is cancelled is
not in the journal; what had been noted before is written up.
"""

import asyncio
import statistics
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from deep_research.concurrency import TURN_WAITS, TurnWaits
from deep_research.events import Event, SectionReviewed, SectionStarted, SectionWritten

_T = TypeVar("_T")

_AGAIN = 0.7
"""Share of the patience that a further attempt has: the section has a text already, and the others wait for it."""


class SectionDeadlines:
    """When each section began and how long the finished ones took, in seconds of the run.

    `patience` is how many times the median duration of the finished sections a section may take, once at least half of
    them are finished (0: no limit); `least` are seconds that it may take in any case. A section that is researched
    again has a part of that only.
    """

    def __init__(self, patience: float = 0.0, least: float = 0.0, earlier: Iterable[Event] = ()) -> None:
        """Begin with what the events `earlier` tell of an interrupted run."""
        self._patience, self._least = patience, least
        self._begun: dict[str, float] = {}
        self._again: set[str] = set()
        self._times: dict[str, float] = {}
        self._turns: defaultdict[str, TurnWaits] = defaultdict(TurnWaits)
        self._waiting: set[asyncio.Future[None]] = set()
        for event in earlier:
            match event:
                case SectionStarted():
                    self.start(event.section, event.seconds)
                case SectionWritten():
                    self.finish(event.section, event.seconds)
                case SectionReviewed(retry=True):
                    self._times.pop(event.section, None)
                case _:
                    pass

    def start(self, section: str, now: float) -> None:
        """Note that a researcher takes a section up; further attempts of the same researcher count from its first."""
        if section in self._begun:
            self._again.add(section)
        if section in self._times:
            del self._times[section]
            self._turns.pop(section, None)
            self._begun[section] = now
        self._begun.setdefault(section, now)

    def finish(self, section: str, now: float) -> None:
        """Note that a researcher is done with a section; the others are measured by it."""
        if section in self._begun:
            self._times[section] = self.took(section, now)
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    def took(self, section: str, now: float) -> float:
        """Return the seconds since a section was begun, without those in which it waited for its turn at a source."""
        waited = self._turns[section].seconds() if section in self._turns else 0.0
        return max(0.0, now - self._begun.get(section, now) - waited)

    def usual(self) -> float | None:
        """Return the median duration of the finished sections; None before half of them are finished."""
        if not self._patience or 2 * len(self._times) < len(self._begun) or not self._times:
            return None
        return statistics.median(self._times.values())

    def left(self, section: str, now: float) -> float | None:
        """Return the seconds that a section has left; None when there is no limit yet."""
        usual = self.usual()
        if usual is None or section not in self._begun:
            return None
        patience = self._patience * (_AGAIN if section in self._again else 1.0)
        return max(patience * usual, self._least) - self.took(section, now)

    async def within(
        self, section: str, work: Sequence[Coroutine[Any, Any, _T]], now: Callable[[], float], *, has_notes: bool
    ) -> list[_T | None]:
        """Return the results of `work`, done side by side; None for what was cancelled when the time was over.

        A section that has nothing yet (`has_notes`, or a part of the work that is done) is not closed. Raises the
        first error of the work as itself, and leaves nothing running.
        """
        account = TURN_WAITS.set(self._turns[section])
        tasks = [asyncio.ensure_future(one) for one in work]
        TURN_WAITS.reset(account)
        try:
            await self._wait(section, tasks, now, has_notes)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        return [None if task.cancelled() else task.result() for task in tasks]

    async def _wait(
        self, section: str, tasks: Sequence[asyncio.Task[Any]], now: Callable[[], float], has_notes: bool
    ) -> None:
        """Wait until all is done, something has failed or the time is over, which each finished section may bring."""
        while pending := [task for task in tasks if not task.done()]:
            done = [task for task in tasks if task.done()]
            if any(task.cancelled() or task.exception() for task in done):
                return
            left = self.left(section, now()) if has_notes or done else None
            if left is not None and left <= 0:
                return
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(waiting)
            try:
                await asyncio.wait([*pending, waiting], timeout=left, return_when=asyncio.FIRST_COMPLETED)
            finally:
                self._waiting.discard(waiting)
