"""Context of a follow-up: sources prepared late, costs counted separately."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from deep_research.assembly.page_access import QuestionPages
from deep_research.data import Document, Found, Gap, SearchResult
from deep_research.events import Event, Progress
from deep_research.ports import Journal, SearchPlace
from deep_research.ports import Progress as OnProgress


class JournalSince:
    """A journal view whose counts and answers skip earlier calls of each kind."""

    def __init__(self, journal: Journal, before: Mapping[str, int]) -> None:
        self._journal, self._before = journal, before
        self.call, self.keep, self.close = journal.call, journal.keep, journal.close
        self.find, self.note, self.notes = journal.find, journal.note, journal.notes

    def count(self, kind: str) -> int:
        return self._journal.count(kind) - self._before.get(kind, 0)

    def answers(self, kind: str) -> Sequence[str]:
        return self._journal.answers(kind)[self._before.get(kind, 0) :]


def prepared_late(
    places: Sequence[SearchPlace], emit: Callable[[Event], None], on_gap: Callable[[Gap], object]
) -> tuple[SearchPlace, ...]:
    """Return the places, each to be prepared before its first search."""

    def show(what: str, done: int, total: int) -> None:
        emit(Progress(what=what, done=done, total=total))

    return tuple(place if isinstance(place, QuestionPages) else _PreparedLate(place, show, on_gap) for place in places)


class _PreparedLate(SearchPlace):
    def __init__(self, place: SearchPlace, on_progress: OnProgress, on_gap: Callable[[Gap], object]) -> None:
        self.name, self.purpose = place.name, place.purpose
        self._place, self._on_progress, self._on_gap = place, on_progress, on_gap
        self._ready = False
        self._lock = asyncio.Lock()

    async def search(self, query: str, *, limit: int) -> SearchResult:
        await self._prepare()
        return await self._place.search(query, limit=limit)

    async def read(self, found: Found) -> Document:
        await self._prepare()
        return await self._place.read(found)

    async def close(self) -> None:
        await self._place.close()

    async def _prepare(self) -> None:
        async with self._lock:
            if not self._ready:
                for gap in await self._place.prepare(self._on_progress):
                    self._on_gap(gap)
                self._ready = True
