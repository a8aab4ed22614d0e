"""What a replay needs beside the journal's answers: failures, and what the library showed at each moment.

A run notes them while it works; a replay of it is given them again, and reaches nothing outside.
"""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields
from hashlib import sha256
from typing import Any

from deep_research import errors
from deep_research.assembly.page_access import addresses_of_text, key_of_page
from deep_research.data import Document, Found, Gap, PassageHit, SearchResult, Source, ToolSpec
from deep_research.errors import ReplayDiffers, ResearchError
from deep_research.ports import Journal, Library, Progress, SearchPlace
from deep_research.run_context.context import current_position

FAILED, SEEN, OUTSIDE, ANSWERED = "failed", "seen", "outside", "answered"
"""Kinds of notes: failed calls, what the library and the journal showed, what lies outside, the user's answers."""


class _Moments:
    """Names each request by the position of the run and by how often it was made there."""

    def __init__(self) -> None:
        self._made: Counter[str] = Counter()

    def name(self, *request: str) -> str:
        """Return the name of this request at this moment."""
        digest = sha256("\0".join(request).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        name = f"{current_position()} {digest}".strip()
        self._made[name] += 1
        return f"{name} {self._made[name]}"


class RecordedJournal:
    """A journal that notes which calls failed, and how much it held whenever it was asked (`ports.Journal`)."""

    def __init__(self, journal: Journal) -> None:
        self._journal, self._moments = journal, _Moments()
        self.find, self.note, self.notes, self.close = journal.find, journal.note, journal.notes, journal.close
        self.keep = journal.keep

    async def call(self, kind: str, request: str, make: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        moment = self._moments.name(kind, request)
        try:
            return await self._journal.call(kind, request, make)
        except Exception as error:
            self._journal.note(FAILED, moment, _failure(error))
            raise

    def count(self, kind: str) -> int:
        found = self._journal.count(kind)
        self._journal.note(SEEN, self._moments.name("count", kind), str(found))
        return found

    def answers(self, kind: str) -> Sequence[str]:
        found = self._journal.answers(kind)
        self._journal.note(SEEN, self._moments.name("answers", kind), str(len(found)))
        return found


class RerunJournal:
    """A journal for the `number`th time that a part of a run is begun again: calls of before are made anew.

    It counts and gives all calls (`ports.Journal`).
    """

    def __init__(self, journal: Journal, number: int) -> None:
        self._journal, self._suffix = journal, f"\0again {number}"
        self.note, self.notes, self.count, self.answers, self.close = (
            journal.note, journal.notes, journal.count, journal.answers, journal.close,
        )  # fmt: skip

    async def call(self, kind: str, request: str, make: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        return await self._journal.call(kind, request + self._suffix, make)

    def keep(self, kind: str, request: str, answer: str) -> None:
        self._journal.keep(kind, request + self._suffix, answer)

    def find(self, kind: str, request: str) -> str | None:
        return self._journal.find(kind, request + self._suffix)


class RecordedLibrary:
    """A library that notes what it showed of the sources that other researchers add (`ports.Library`)."""

    def __init__(self, library: Library, journal: Journal) -> None:
        self._library, self._journal, self._moments = library, journal, _Moments()
        self.add_source, self.add_snapshot, self.remove_source = (
            library.add_source, library.add_snapshot, library.remove_source,
        )  # fmt: skip
        self.source, self.snapshot = library.source, library.snapshot
        self.passage, self.passages = library.passage, library.passages
        self.batch, self.close = library.batch, library.close
        # Only a search asks for these, whose answer the journal keeps.
        self.is_read, self.search_each = library.is_read, library.search_each

    def sources(self) -> Sequence[Source]:
        found = self._library.sources()
        self._journal.note(SEEN, self._moments.name("sources"), str(len(found)))
        return found

    def search(
        self, query: str, *, limit: int, sources: Sequence[str] = (), hops: int = 1, diversity: float = 0.0
    ) -> Sequence[PassageHit]:
        hits = self._library.search(query, limit=limit, sources=sources, hops=hops, diversity=diversity)
        moment = self._moments.name("search", query, json.dumps([limit, list(sources), hops, diversity]))
        self._journal.note(SEEN, moment, json.dumps([[hit.passage.id, hit.score] for hit in hits]))
        return hits


class ReplayedJournal:
    """A recorded journal that makes no call (`ports.Journal`): what it does not hold ends the replay."""

    def __init__(self, recorded: Journal, run_id: str) -> None:
        self._recorded, self._run_id, self._moments = recorded, run_id, _Moments()
        self._failed, self._seen = recorded.notes(FAILED), recorded.notes(SEEN)
        self.find, self.notes = recorded.find, recorded.notes

    async def call(self, kind: str, request: str, make: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        failure = self._failed.get(self._moments.name(kind, request))
        if failure is not None:
            raise _failed(failure)
        answer = self._recorded.find(kind, request)
        if answer is None:
            raise differs(self._run_id, kind, request)
        return answer, False

    def keep(self, kind: str, request: str, answer: str) -> None:
        """Keep nothing: the record stays as it is."""

    def note(self, kind: str, request: str, answer: str) -> None:
        """Keep nothing: the record stays as it is."""

    def count(self, kind: str) -> int:
        return int(self.seen("count", kind))

    def answers(self, kind: str) -> Sequence[str]:
        return self._recorded.answers(kind)[: int(self.seen("answers", kind))]

    def seen(self, *request: str) -> str:
        """Return what the recorded run saw at this moment. Raises ReplayDiffers when it did not look then."""
        noted = self._seen.get(self._moments.name(*request))
        if noted is None:
            raise differs(self._run_id, request[0], " ".join(request[1:]))
        return noted

    def close(self) -> None:
        self._recorded.close()


class ReplayedLibrary(RecordedLibrary):
    """A copy of a recorded library that shows at each moment what was there then."""

    def __init__(self, library: Library, journal: ReplayedJournal) -> None:
        super().__init__(library, journal)
        self._replayed = journal

    def sources(self) -> Sequence[Source]:
        return self._library.sources()[: int(self._replayed.seen("sources"))]

    def search(
        self, query: str, *, limit: int, sources: Sequence[str] = (), hops: int = 1, diversity: float = 0.0
    ) -> Sequence[PassageHit]:
        noted = self._replayed.seen("search", query, json.dumps([limit, list(sources), hops, diversity]))
        return [self._hit(passage, score) for passage, score in json.loads(noted)]

    def _hit(self, key: str, score: float) -> PassageHit:
        passage = self._library.passage(key)
        source = self._library.source(passage.source) if passage is not None else None
        if passage is None or source is None:
            message = f"The recorded run saw the passage {key}, which its library does not hold."
            raise ReplayDiffers(message, kind="passage", request=key)
        return PassageHit(passage=passage, score=score, title=source.title)


class ReplayedPlace:
    """A place of the recorded run by its name: all it answered is in the journal (`ports.SearchPlace`)."""

    def __init__(self, name: str, purpose: str) -> None:
        self.name, self.purpose = name, purpose

    async def prepare(self, progress: Progress) -> Sequence[Gap]:
        return ()

    async def search(self, query: str, *, limit: int) -> SearchResult:
        raise differs("", self.name, query)

    async def read(self, found: Found) -> Document:
        raise differs("", self.name, found.key)

    async def close(self) -> None:
        """Nothing is held."""


class ReplayedTool:
    """A tool of the recorded run (`ports.OutsideTool`)."""

    def __init__(self, spec: ToolSpec) -> None:
        self.name, self.spec = spec.name, spec

    async def call(self, arguments: Mapping[str, Any]) -> SearchResult:
        raise differs("", self.name, json.dumps(dict(arguments)))

    async def read(self, found: Found) -> Document:
        raise differs("", self.name, found.key)


class ReplayedPages:
    """The single pages of the recorded run (`ports.Pages`); `everywhere`: it opened more than the question named."""

    def __init__(self, *, everywhere: bool) -> None:
        self._everywhere = everywhere

    def key(self, url: str) -> str:
        return key_of_page(url)

    def full_text(self, source: Source) -> Sequence[str]:
        return addresses_of_text(source) if self._everywhere else ()

    async def open(self, url: str) -> Found:
        raise differs("", "page", url)


def note_outside(
    journal: Journal, places: Sequence[SearchPlace], tools: Sequence[ToolSpec], *, web: str, docs: Sequence[str]
) -> None:
    """Note what the run could reach; `web` says which addresses it may open: all, those of the question, or none.

    `docs` are noted because a report may name them, and a bundle leaves them out of the record.
    """
    told = {
        "places": [[place.name, place.purpose] for place in places],
        "tools": [tool.model_dump(mode="json") for tool in tools],
        "web": web,
        "docs": list(docs),
    }
    journal.note(OUTSIDE, "", json.dumps(told, ensure_ascii=False))


def differs(run_id: str, kind: str, request: str) -> ReplayDiffers:
    """Return the error that says what a replay asks for and the recorded run did not."""
    shown = request if len(request) <= _SHOWN else f"{request[:_SHOWN]}…"
    message = f"The replay differs: the recorded run made no {kind!r} call like this one here: {shown}"
    return ReplayDiffers(message, run_id=run_id, kind=kind, request=request)


_SHOWN = 300


def _failure(error: Exception) -> str:
    """Return a failure as JSON: its class and what of its fields is plain."""
    named = fields(error) if isinstance(error, ResearchError) else ()
    plain = {f.name: value for f in named if isinstance(value := getattr(error, f.name), str | int | float | bool)}
    return json.dumps({"error": type(error).__name__, **({"message": str(error)} | plain)})


def _failed(failure: str) -> Exception:
    """Return a noted failure as the error that it was; a defect as one of the same name."""
    told = json.loads(failure)
    kind = getattr(errors, name := str(told.pop("error")), None)
    if isinstance(kind, type) and issubclass(kind, ResearchError):
        return kind(**told)
    return type(name, (Exception,), {})(told["message"])
