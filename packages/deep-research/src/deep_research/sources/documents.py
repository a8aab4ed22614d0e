"""An index of the user's folders and files; workers read only those that changed."""

import asyncio
import ctypes
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from claimcheck.text.tokens import content_terms
from deep_research import registry
from deep_research.concurrency import FairThreads
from deep_research.data import Document, Found, Gap, PassageHit, SearchResult, Source, Span
from deep_research.data.noun import copy_fields
from deep_research.errors import ConfigError, NotFound, ResearchError, Stopped, WorkTooLarge
from deep_research.isolated_reading import CRASHED
from deep_research.ports import Library, Progress
from deep_research.reading_child import MOST_PAGES, FileAnswer, longest_wait, read_file
from deep_research.sources._folders import File, Problem, walk
from deep_research.worker_pool import StopSwitch, Worker, own_worker

_INDEXING = FairThreads(16, "indexing")  # it may take minutes
_REQUESTS_AHEAD = 16
_ORIGIN = "documents"
_PROBLEM = "documents: not read"
_BATCH_FILES, _BATCH_CHARS = 128, 100_000
_MOMENT = 0.2
_MOST_DOCUMENTS = 200_000  # of one index, messages of a mailbox too: their names are held in memory
_NAMED = 5  # files that a gap names; more are counted
_TRIED = "tried-"  # marks a file that ended its reader once: it may have been a want of memory that passes
Reading = tuple[str, FileAnswer]  # the path of a file, and what became of it


class _Room:
    """The room of one reading run for a long text in memory, which all of them share."""

    _ONE = threading.Lock()

    def __init__(self, go_on: Callable[[], None]) -> None:
        self._go_on, self._is_mine = go_on, False

    def take(self) -> None:
        """Wait until nobody else holds a long text. Raises Stopped."""
        while not self._is_mine:
            self._go_on()
            self._is_mine = self._ONE.acquire(timeout=_MOMENT)

    def leave(self) -> None:
        """Say that the text is let go, whose memory the system gets back."""
        if self._is_mine:
            self._is_mine = False
            _give_memory_back()
            self._ONE.release()


def _give_memory_back() -> None:
    """Return freed memory to the system, where the C library keeps it for later."""
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def read_in_child(
    paths: Iterable[str], max_bytes: int, *, seconds: float = 0.0, go_on: Callable[[], None] = lambda: None
) -> Generator[Reading]:
    """Read files in another process, which reads ahead, with `seconds` for each file.

    A long text has to be let go before the next reading is asked for; `go_on` raises Stopped where others have the room
    for it and this one is no longer wanted. A file that crashes the process or takes longer is given up. Raises
    ResearchError when none can be started.
    """
    waiting, room = deque(paths), _Room(go_on)
    seconds = seconds or max(120.0, longest_wait(0, "picture", pages=MOST_PAGES))
    while waiting:
        try:
            with own_worker() as worker:
                yield from _answers(worker, waiting, max_bytes, seconds, room)
        except OSError as error:
            raise ResearchError(f"no process could be started to read documents ({error})") from error


def _answers(worker: Worker, waiting: deque[str], max_bytes: int, seconds: float, room: _Room) -> Iterator[Reading]:
    """Yield readings of the files in `waiting` until the worker can take no more."""
    asked = 0
    while waiting and worker.is_usable:
        for path in islice(waiting, asked, _REQUESTS_AHEAD):
            worker.send(read_file, path, max_bytes)
        asked = min(len(waiting), _REQUESTS_AHEAD) - 1
        try:
            yield waiting[0], _answer(worker, seconds, room)
        finally:
            room.leave()
        waiting.popleft()


def _answer(worker: Worker, seconds: float, room: _Room) -> FileAnswer:
    try:
        return worker.result(FileAnswer, seconds, take_room=room.take)
    except Stopped:
        raise
    except ResearchError as error:  # whatever one file brings about, the others are read
        return FileAnswer(None, CRASHED if isinstance(error, WorkTooLarge) else error.message, _TRIED)


class DocumentsSource:
    """A search of folders and files, with the persistent index `library` of its own.

    What is in it is remembered by keys `file:…#size-times-version`, in one transaction with the text. Files that cannot
    be read are remembered as sources without text; one that ended its reader is tried in one more run.
    """

    name = _ORIGIN
    purpose = "The documents that the user named: files and folders on this computer."

    def __init__(self, paths: Sequence[Path], library: Library, *, max_file_bytes: int = 64_000_000) -> None:
        self._paths = [Path(path) for path in paths]
        self._library, self._max_bytes = library, max_file_bytes
        self._version = registry.readers_version()
        self._sources: dict[str, Source] = {}
        self._by_url: dict[str, Source] = {}
        self._problems: list[Problem] = []
        self._known = set[str]()
        self._stop = StopSwitch()
        self._held = 0

    async def prepare(self, progress: Progress) -> Sequence[Gap]:
        """Bring the index up to date and return what could not be read.

        Raises ConfigError for a path that does not exist, and where no document can be read.
        """
        loop = asyncio.get_running_loop()

        def report(what: str, done: int, total: int) -> None:
            loop.call_soon_threadsafe(progress, what, done, total)

        def work_on() -> Sequence[Gap]:
            with self._stop.governing():
                return self._prepare(report)

        self._stop.clear()
        work = asyncio.create_task(_INDEXING.do(work_on))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            # The thread cannot be cancelled; it ends with the file at hand, and then the library may be closed.
            self._stop.set()
            await asyncio.wait([work], timeout=5.0)
            work.cancel()
            raise

    def _prepare(self, progress: Progress) -> Sequence[Gap]:
        progress("Looking for documents", 0, 0)
        listed = list(walk(self._paths))
        files = [entry for entry in listed if isinstance(entry, File)]
        problems = [entry for entry in listed if isinstance(entry, Problem)]
        if not listed:
            raise ConfigError(f"there are no files in {self._named()}", setting="docs", value=self._named())
        wanted = {self._key(file, file.mark): file for file in files}
        self._known = {_stem(source.key) for source in self._library.sources()}
        self._forget(set(wanted))
        self._held = len(self._library.sources())
        self._index([file for key, file in wanted.items() if key not in self._known], progress)
        self._load({file.url: file for file in files})
        gaps = _gaps([*problems, *self._problems])
        if not self._sources:
            why = "; ".join(f"{gap.what}: {gap.why}" for gap in gaps[:3])
            # Who named one file knows its format.
            formats = "" if [file.path for file in files] == self._paths else f"; formats: {registry.formats()}"
            message = f"there is no readable document in {self._named()} ({why}){formats}"
            raise ConfigError(message, setting="docs", value=self._named())
        return gaps

    def _named(self) -> str:
        return ", ".join(str(path) for path in self._paths)

    def _key(self, file: File, mark: str) -> str:
        return f"{file.url}#{mark}-{self._version}-{self._max_bytes}"

    def _forget(self, wanted: set[str]) -> None:
        stale = [source for source in self._library.sources() if _stem(source.key) not in wanted]
        for start in range(0, len(stale), _BATCH_FILES):
            self._go_on()
            with self._library.batch():
                for source in stale[start : start + _BATCH_FILES]:
                    self._library.remove_source(source.id)

    def _index(self, files: list[File], progress: Progress) -> None:
        if not files:
            return
        by_path = {str(file.path): file for file in files}
        done = read = 0
        progress("Reading documents", done, len(files))
        # Closed also where this is stopped: its process ends.
        with closing(read_in_child(by_path, self._max_bytes, go_on=self._go_on)) as readings:
            for group in _batched(readings, self._go_on):
                done += len(group)
                read += sum(answer.document is not None for _, answer in group)
                with self._library.batch():
                    while group:  # and nothing keeps a text that was taken
                        self._keep(by_path, *group.pop(0))
                told = ("Reading documents", done) if done < len(files) else ("Documents read", read)
                progress(*told, len(files))

    def _go_on(self) -> None:
        if self._stop.is_set:
            raise Stopped("indexing was stopped; what was read so far is kept")

    def _keep(self, files: Mapping[str, File], path: str, answer: FileAnswer) -> None:
        file, mark = files[path], answer.mark
        if mark == _TRIED:
            mark = file.mark if self._key(file, _TRIED + file.mark) in self._known else _TRIED + file.mark
        key = self._key(file, mark)
        document = answer.document
        if document is None:
            self._note(f"{key}#0", file, answer.why)
            return
        retrieved_at = datetime.now(UTC).isoformat(timespec="seconds")
        several = document.split()
        taken = several[: max(0, _MOST_DOCUMENTS - self._held)]
        self._held += len(taken)
        if len(taken) < len(several):
            left = f"{len(several) - len(taken):,} of its {len(several):,} documents were left out"
            self._note(f"{key}#left", file, f"{left}: a search takes {_MOST_DOCUMENTS:,} in all. Name fewer files.")
        for number, part in enumerate(taken, start=1):
            self._go_on()
            place = f"#{number}" if len(several) > 1 else ""
            found = copy_fields(
                Found,
                part,
                key=f"{key}#part{number}" if place else key,
                title=part.title or file.path.stem,
                url=file.url + place,
                origin=_ORIGIN,
                location=file.location + place,
            )
            source = self._library.add_source(found)
            self._library.add_snapshot(source.id, part, retrieved_at=retrieved_at)
        for number, warning in enumerate(document.warnings, start=1):
            self._note(f"{key}#{number}", file, warning)

    def _note(self, key: str, file: File, why: str) -> None:
        self._library.add_source(Found(key=key, title=why, url=file.url, origin=_PROBLEM, location=file.location))

    def _load(self, files: dict[str, File]) -> None:
        sources = [source for source in self._library.sources() if source.url.partition("#")[0] in files]
        # Two states of a file can be there when another process saw it change; the newer one counts.
        self._by_url = {source.url: source for source in sources if source.origin == _ORIGIN}
        self._sources = {source.id: source for source in self._by_url.values()}
        self._problems = [Problem(source.location, source.title) for source in sources if source.origin == _PROBLEM]

    async def search(self, query: str, *, limit: int) -> SearchResult:
        """Return documents matching best or alone holding a query word, with passages."""
        found = await asyncio.to_thread(self._search, query, limit)
        return SearchResult(found=tuple(_found(self._sources[source], hits) for source, hits in found.items()))

    def _search(self, query: str, limit: int) -> dict[str, list[PassageHit]]:
        by_source: dict[str, list[PassageHit]] = defaultdict(list)
        for hit in self._library.search(query, limit=max(40, 5 * limit), hops=2):
            if hit.passage.source in self._sources and (hit.passage.source in by_source or len(by_source) < limit):
                by_source[hit.passage.source].append(hit)
        hits = (hit for hits in by_source.values() for hit in hits)
        held = {term for hit in hits for term in content_terms(f"{hit.title}\n{hit.passage.text}")}
        lost = [term for term in dict.fromkeys(content_terms(query)) if term not in held and term.isascii()]
        for hit in [hit for term in lost[:limit] for hit in self._library.search(term, limit=1)]:
            if hit.passage.source in self._sources:
                by_source[hit.passage.source].append(hit)
        return by_source

    async def read(self, found: Found) -> Document:
        """Return the document as it was indexed. Raises NotFound when it is none of ours."""
        source = self._by_url.get(found.key)
        snapshot = await asyncio.to_thread(self._library.snapshot, source.id) if source else None
        if source is None or snapshot is None:
            raise NotFound(f"{found.key} is not among the documents", source=self.name, url=found.url)
        told = {"title": source.title, "published": source.published, "authors": source.authors}
        return copy_fields(Document, snapshot, **told)

    async def close(self) -> None:
        """Stop reading. The library belongs to the caller, who closes it."""
        self._stop.set()


def _stem(key: str) -> str:
    """Return the key of the file to which a remembered problem belongs."""
    return "#".join(key.split("#")[:2])


def _found(source: Source, hits: Sequence[PassageHit]) -> Found:
    spans = tuple(Span(start=hit.passage.start, end=hit.passage.end, score=hit.score) for hit in hits)
    begins = hits[0].passage.text[:300]
    return copy_fields(Found, source, key=source.url, snippet=begins, score=hits[0].score, spans=spans)


def _gaps(problems: Sequence[Problem]) -> list[Gap]:
    """Return one gap per reason with its files; beyond a few they are counted."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for location, why in sorted(problems):
        by_reason[why].append(location)
    gaps: list[Gap] = []
    for why, names in by_reason.items():
        what = f"{len(names)} files: {', '.join(names[:_NAMED])}, …" if len(names) > _NAMED else ", ".join(names)
        gaps.append(Gap(what=what, why=why, source=_ORIGIN))
    return gaps


def _batched(readings: Iterable[Reading], go_on: Callable[[], None]) -> Iterator[list[Reading]]:
    group, begun, size = list[Reading](), time.monotonic(), 0
    for path, answer in readings:
        go_on()
        group.append((path, answer))
        size += len(answer.document.text) if answer.document is not None else 0
        del answer  # as long as the group alone
        if len(group) >= _BATCH_FILES or size >= _BATCH_CHARS or time.monotonic() - begun >= 1.0:
            yield group
            group, begun, size = [], time.monotonic(), 0
    if group:
        yield group
