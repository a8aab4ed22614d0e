"""A library in memory: for tests, and for runs that leave nothing behind."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from deep_research.data import Document, Found, Passage, PassageHit, Snapshot, Source
from deep_research.errors import StoreError
from deep_research.search.memory_postings import MemoryPostings
from deep_research.search.passage_search import Text, search
from deep_research.search.passage_terms import analyse
from deep_research.stores.evidence_factories import snapshot_of, source_of
from deep_research.text.passages import cut


class MemoryLibrary:
    """Sources, snapshots and passages in dictionaries."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._sources: dict[str, Source] = {}
        self._keys: dict[str, str] = {}
        self._last = 0
        self._snapshots: dict[str, Snapshot] = {}
        self._texts: dict[str, str] = {}
        self._passages: dict[str, Passage] = {}
        self._of_source: dict[str, list[Passage]] = {}
        self._counts: Counter[str] = Counter()
        self._postings = MemoryPostings()
        self._numbers: dict[int, Passage] = {}
        self._next = 1

    def add_source(self, found: Found) -> Source:
        """Return the source of `found.key`, making it when it is new."""
        with self._lock:
            if found.key in self._keys:
                return self._sources[self._keys[found.key]]
            self._last += 1
            source = source_of(f"s{self._last}", found)
            self._keys[found.key] = source.id
            self._sources[source.id] = source
            return source

    def add_snapshot(self, source: str, document: Document, *, retrieved_at: str) -> Snapshot:
        """Store the text once, cut it into passages and index them; idempotent."""
        with self._lock:
            owner = self._sources.get(source)
            if owner is None:
                raise StoreError(f"There is no source {source} in the library.", path="memory")
            old = self._snapshots.get(source)
            if old and old.sha256 == document.sha256:
                return old
            if not owner.title and document.title:
                owner = owner.model_copy(update={"title": document.title})
                self._sources[source] = owner
            self._unindex(source)
            document = self._shared(document)
            snapshot = snapshot_of(source, document, retrieved_at)
            self._snapshots[source] = snapshot
            self._index(owner, document)
            return snapshot

    def _shared(self, document: Document) -> Document:
        """The document, with the text object that is already held when there is one."""
        text = self._texts.setdefault(document.sha256, document.text)
        return document.model_copy(update={"text": text})

    def _index(self, owner: Source, document: Document) -> None:
        for piece in cut(document):
            self._counts[owner.id] += 1
            passage = Passage(
                id=f"{owner.id}p{self._counts[owner.id]}",
                source=owner.id,
                sha256=document.sha256,
                start=piece.start,
                end=piece.end,
                text=document.text[piece.start : piece.end],
                page=piece.page,
                heading=piece.heading,
            )
            self._passages[passage.id] = passage
            self._of_source.setdefault(owner.id, []).append(passage)
            analysed = analyse(passage.text, title=owner.title, heading=passage.heading)
            self._postings.add(self._next, analysed)
            self._numbers[self._next] = passage
            self._next += 1

    def _unindex(self, source: str) -> None:
        title = self._sources[source].title
        gone = {number for number, passage in self._numbers.items() if passage.source == source}
        for number in gone:
            passage = self._numbers.pop(number)
            self._postings.remove(number, analyse(passage.text, title=title, heading=passage.heading))
        self._of_source.pop(source, None)

    def source(self, source: str) -> Source | None:
        """Return the source of an id, or None."""
        return self._sources.get(source)

    def sources(self) -> Sequence[Source]:
        """Return all sources in order of their ids."""
        with self._lock:
            return list(self._sources.values())

    def snapshot(self, source: str) -> Snapshot | None:
        """Return the newest snapshot of a source, or None."""
        return self._snapshots.get(source)

    def passage(self, passage: str) -> Passage | None:
        """Return the passage of an id, or None."""
        return self._passages.get(passage)

    def passages(self, source: str) -> Sequence[Passage]:
        """Return the passages of a source's newest snapshot in order of the text."""
        with self._lock:
            return list(self._of_source.get(source, ()))

    def search(
        self, query: str, *, limit: int, sources: Sequence[str] = (), hops: int = 1, diversity: float = 0.0
    ) -> Sequence[PassageHit]:
        """Return the best passages for `query`, best first, near-duplicates once, at most `limit`.

        `sources` restricts to those ids; `hops` 2 also follows names found in the first hits;
        `diversity` (0–1) favours passages of sources that are not in the result yet.
        """
        with self._lock:
            wanted = set(sources)
            allowed = {n for n, p in self._numbers.items() if p.source in wanted} if sources else None
            found = search(
                self._postings, self._read, query, limit=limit, hops=hops, allowed=allowed, diversity=diversity
            )
            return [self._hit(number, score) for number, score in found]

    def _hit(self, number: int, score: float) -> PassageHit:
        passage = self._numbers[number]
        return PassageHit(passage=passage, score=score, title=self._sources[passage.source].title)

    def _read(self, numbers: Iterable[int]) -> Mapping[int, Text]:
        found = {number: self._numbers[number] for number in numbers}
        return {number: Text(p.text, self._sources[p.source].title, p.source) for number, p in found.items()}

    def remove_source(self, source: str) -> None:
        """Forget a source with its snapshots and passages."""
        with self._lock:
            if source not in self._sources:
                return
            self._unindex(source)
            del self._keys[self._sources.pop(source).key]
            self._snapshots.pop(source, None)
            for passage in [p for p in self._passages.values() if p.source == source]:
                del self._passages[passage.id]

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Hold the library for many additions."""
        with self._lock:
            yield

    def close(self) -> None:
        """Nothing to let go of."""
