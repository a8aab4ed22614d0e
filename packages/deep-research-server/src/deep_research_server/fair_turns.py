"""Turns of owners, at runs and at answers that are long in the making: none of them takes all."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from deep_research.concurrency import Threads
from deep_research.errors import LimitReached

_T = TypeVar("_T")


class FairTurns:
    """At most `most` turns at a time; the next one is that of the owner who has the fewest.

    Where `is_shared` says that others could come, the last turn is left to an owner who has none: a run can take hours.
    Whoever is alone takes all.
    """

    def __init__(self, most: int, is_shared: Callable[[], bool]) -> None:
        self._most, self._is_shared = most, is_shared
        self._running = Counter[str]()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn_of(self, owner: str) -> AsyncIterator[None]:
        """Wait for a turn of an owner, and hold it for the block."""
        coming: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(coming)
        self._hand_out()
        try:
            await coming
        except asyncio.CancelledError:
            if not coming.cancelled():
                self._end(owner)
            raise
        try:
            yield
        finally:
            self._end(owner)

    def _end(self, owner: str) -> None:
        self._running[owner] -= 1
        self._hand_out()

    def _hand_out(self) -> None:
        while (free := self._most - self._running.total()) > 0:
            alone = free > 1 or not self._is_shared()
            may = [owner for owner in self._waiting if alone or not self._running[owner]]
            if not may:
                return
            owner = min(may, key=lambda one: self._running[one])
            queue = self._waiting.pop(owner)
            coming = queue.popleft()
            if queue:
                self._waiting[owner] = queue  # behind the others
            if not coming.cancelled():
                self._running[owner] += 1
                coming.set_result(None)


class LongAnswers:
    """Makes answers that take long, or much memory: two at a time in threads of their own, in turns of their owners."""

    def __init__(self, is_shared: Callable[[], bool]) -> None:
        self._turns, self._threads = FairTurns(2, is_shared), Threads(2, "answers")

    async def make(self, home: Path, work: Callable[..., _T], *about: Any) -> _T:
        """Return `work(*about)` for the owner of a state folder."""
        async with self._turns.turn_of(str(home)):
            return await self._threads.do(work, *about)


class UnderWay:
    """How much of an owner is under way, from when it was asked for until it has ended."""

    def __init__(self, most: int) -> None:
        """Begin with none; the user of this machine, "", may have more than `most`."""
        self._most, self._counts = most, Counter[str]()

    @contextmanager
    def one_of(self, owner: str) -> Iterator[None]:
        """Count one more inside the block. Raises LimitReached."""
        if owner and self._counts[owner] >= self._most:
            raise LimitReached(f"{self._most} requests of yours are under way: wait for their answers.")
        self._counts[owner] += 1
        try:
            yield
        finally:
            self._counts[owner] -= 1
