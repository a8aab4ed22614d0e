"""What a follow-up sees of its run: places that are made ready when they are searched, and its own costs."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from deep_research.data import Gap, Ledger
from deep_research.events import Progress
from deep_research.ports import Journal, SearchPlace
from deep_research.ports import Progress as TellProgress
from deep_research.steps.context import RunContext


def of_its_own(ctx: RunContext, before: Ledger) -> RunContext:
    """The context with places that are made ready when they are first searched (most follow-ups search none), and
    with a journal that tells the costs of the follow-up alone.
    """

    def tell(what: str, done: int, total: int) -> None:
        ctx.emit(Progress(what=what, done=done, total=total))

    places = tuple(_Prepared(place, tell, ctx.report_gap) for place in ctx.places)
    journal = _Since(ctx.journal, {"model": before.model_calls, "search": before.searches})
    return dataclasses.replace(ctx, places=places, journal=journal)


class _Since:
    """A journal whose counts and answers begin after the calls that were there before."""

    def __init__(self, journal: Journal, before: Mapping[str, int]) -> None:
        self._journal, self._before = journal, before

    async def call(self, kind: str, request: str, make: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        """See `ports.Journal.call`."""
        return await self._journal.call(kind, request, make)

    def count(self, kind: str) -> int:
        """See `ports.Journal.count`."""
        return self._journal.count(kind) - self._before.get(kind, 0)

    def answers(self, kind: str) -> Sequence[str]:
        """See `ports.Journal.answers`."""
        return self._journal.answers(kind)[self._before.get(kind, 0) :]

    def close(self) -> None:
        """See `ports.Journal.close`."""
        self._journal.close()


class _Prepared:
    """A place that makes itself ready before its first search."""

    def __init__(self, place: SearchPlace, tell: TellProgress, on_gap: Callable[[Gap], object]) -> None:
        self.name, self.purpose = place.name, place.purpose
        self._place, self._tell, self._on_gap = place, tell, on_gap
        self._ready = False
        self._lock = asyncio.Lock()

    async def prepare(self, progress: TellProgress) -> Sequence[Gap]:
        """Nothing yet."""
        return ()

    async def search(self, query: str, *, limit: int) -> Any:
        """See `ports.SearchPlace.search`."""
        await self._prepare()
        return await self._place.search(query, limit=limit)

    async def read(self, found: Any) -> Any:
        """See `ports.SearchPlace.read`."""
        await self._prepare()
        return await self._place.read(found)

    async def _prepare(self) -> None:
        async with self._lock:
            if not self._ready:
                for gap in await self._place.prepare(self._tell):
                    self._on_gap(gap)
                self._ready = True

    async def close(self) -> None:
        """See `ports.SearchPlace.close`."""
        await self._place.close()
