"""The composition root: what a program gives to a run, and the opening of all that the run's steps then use."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib import resources
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from deep_research import registry
from deep_research.assembly.own_objects import NOTHING, OwnObjects
from deep_research.assembly.page_access import QuestionPages, addresses_in
from deep_research.assembly.reasoner_choice import Offers, key_variables, open_reasoner, placeholder_keys
from deep_research.assembly.recording import (
    OUTSIDE,
    OfflineJournal,
    Recorded,
    RecordedJournal,
    RecordedPages,
    note_outside,
)
from deep_research.data import Asked, Document, Found, Gap, Ledger, SearchResult, ToolSpec
from deep_research.data.outside_tools import McpServer
from deep_research.errors import ReplayDiffers, StoreError
from deep_research.events import Event
from deep_research.ports import Journal, Library, OutsideTool, Pages, Progress, SearchPlace
from deep_research.run_context.context import RunContext
from deep_research.run_context.steering import Steering
from deep_research.settings import ADDRESSES, Settings, load_keys, load_settings
from deep_research.sources.documents import DocumentsSource
from deep_research.state_files import DOCUMENTS, is_damage, make_private, make_private_folder, set_aside
from deep_research.stores.event_log import EventLog
from deep_research.stores.run_store import RunRecord, RunStore
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.templates import load_templates, template_folders

if TYPE_CHECKING:
    from deep_research.assembly.web_search import WebPlaces
    from deep_research.fetch.addresses import KnownAddresses
    from deep_research.fetch.web import Web, WebOptions

Answer = Callable[[Asked], "str | Awaitable[str | None] | None"]
"""Called with what the user is asked; None means that it cannot be answered now."""
MakeWeb = Callable[["WebOptions"], "Web"]
"""Builds the connection to the web from its options; a test builds one that leads to a web of its own."""


_MOST_FILE_BYTES = 64 * 2**20
"""A larger file is a data set, not a document; the longest books and manuals have less."""


def _ignore(_event: Event) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class RunEnvironment:
    """What a program gives to its runs: the state folder, the listener and the answers, and what replaces the usual parts.

    `places` are searched instead of the run's own sources. `make_web` builds the connection to the web in place of
    `fetch.web.Web`. `mcp_servers` replace those of the settings in force (None: those). `own` are the models and tools
    that the program hands over.
    """

    home: Path
    listener: Callable[[Event], None] = _ignore
    answer: Answer | None = None
    places: Sequence[SearchPlace] | None = None
    make_web: MakeWeb | None = None
    mcp_servers: Mapping[str, McpServer] | None = None
    own: OwnObjects = NOTHING


@dataclass(frozen=True)
class Job:
    """One piece of work at a run: the research itself, or a follow-up question about its report.

    `question` holds all the user's words, because the addresses in them may be opened. `before` is what the run had
    cost before a follow-up: its sources are prepared when they are first searched, and its costs are counted
    separately. `began` is when the work began, where that is not when the run did. `addresses` are others that the user has named.
    The bundled library `stands_in` where nothing else is searched. With `is_offline` it is done again
    from the journal, and nothing outside is reached.
    """

    store: RunStore
    record: RunRecord
    settings: Settings
    question: str
    log: EventLog
    began: str = ""
    steering: Steering = field(default_factory=Steering)
    before: Ledger | None = None
    addresses: tuple[str, ...] = ()
    stands_in: bool = True
    is_offline: bool = False

    @property
    def today(self) -> date:
        """The day on which the work began; UTC."""
        return date.fromisoformat((self.began or self.record.created)[:10])


@dataclass(frozen=True)
class OpenTools:
    """The tools of MCP servers and of the program, while they are open.

    `tools` are named as a model calls them; `places` are those that can be searched; `gaps` say what did not open;
    `replaced` are the sources that a tool stands in for.
    """

    tools: Mapping[str, OutsideTool] = field(default_factory=dict)
    places: tuple[SearchPlace, ...] = ()
    gaps: tuple[Gap, ...] = ()
    replaced: frozenset[str] = frozenset()
    share: "Callable[[KnownAddresses], None]" = lambda _addresses: None

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model sees them."""
        return tuple(tool.spec for tool in self.tools.values())


class JournaledPlace:
    """A place that a program brings along: what it answers is in the journal before anything is made of it."""

    def __init__(self, place: SearchPlace, journal: Journal) -> None:
        self._place, self._journal = place, journal
        self.name, self.purpose = place.name, place.purpose

    async def prepare(self, progress: Progress) -> Sequence[Gap]:
        return await self._place.prepare(progress)

    async def search(self, query: str, *, limit: int) -> SearchResult:
        async def make() -> str:
            return (await self._place.search(query, limit=limit)).model_dump_json()

        request = json.dumps({"query": query, "limit": limit}, ensure_ascii=False)
        answer, _ = await self._journal.call(f"answer of {self.name}", request, make)
        return SearchResult.model_validate_json(answer)

    async def read(self, found: Found) -> Document:
        return await self._place.read(found)

    async def close(self) -> None:
        await self._place.close()


@dataclass(frozen=True)
class Outside:
    """What a run reaches outside itself: places to search, tools of others, single pages; `docs` as they were named."""

    places: tuple[SearchPlace, ...]
    tools: OpenTools = field(default_factory=OpenTools)
    pages: Pages | None = None
    opens_addresses: bool = False
    docs: tuple[str, ...] = ()


@asynccontextmanager
async def open_context(job: Job, environment: RunEnvironment) -> AsyncIterator[RunContext]:
    """Give the complete context of a job; everything is closed at the end of the block.

    The sources are not prepared. Raises ConfigError and StoreError.
    """
    async with AsyncExitStack() as stack:
        library, journal = await asyncio.to_thread(lambda: (job.store.open_library(), job.store.open_journal()))
        stack.push_async_callback(asyncio.to_thread, _close_stores, library, journal)
        keys = load_keys(key_variables())
        if any(getattr(job.settings, name) for name in ADDRESSES):
            load_settings()  # a run keeps no passwords of its addresses: those of the settings in force are used

        def on_gap(gap: Gap) -> None:
            ctx.report_gap(gap)

        calls: Journal = RecordedJournal(journal)
        if job.is_offline:
            outside, keys = _recorded_outside(job, journal), placeholder_keys(key_variables())
            calls = OfflineJournal(journal, job.record.run_id)
        else:
            outside = await _open_outside(stack, job, environment, (library, journal), on_gap)
        reasoner = await asyncio.to_thread(
            open_reasoner,
            job.settings,
            keys,
            journal=calls,
            home=environment.home,
            offers=Offers(outside.places, outside.opens_addresses, outside.tools.specs),
            on_gap=on_gap,
            today=job.today,
            models=environment.own.models,
            is_offline=job.is_offline,
        )
        stack.push_async_callback(reasoner.close)
        ctx = RunContext(
            run_id=job.record.run_id,
            settings=job.settings,
            reasoner=reasoner.reasoner,
            library=library,
            journal=_own_costs(calls, job),
            places=_lazy(outside.places, job, on_gap),
            docs=outside.docs,
            asked=job.question,
            templates=load_templates(template_folders(environment.home)),
            pages=outside.pages,
            tools=outside.tools.tools,
            unopened=outside.tools.gaps,
            sources_before=job.before.fetches if job.before is not None else 0,
            gaps=[Gap(**e.model_dump(include=set(Gap.model_fields))) for e in job.log.earlier if e.kind == "gap_found"],
            emit=job.log.emit,
            steering=job.steering,
            elapsed=lambda: job.log.seconds,
            paused=job.log.paused,
            today=job.today,
        )
        yield ctx


async def _open_outside(
    stack: AsyncExitStack,
    job: Job,
    environment: RunEnvironment,
    stores: tuple[Library, Journal],
    on_gap: Callable[[Gap], object],
) -> Outside:
    """Open what the run reaches outside itself, and note it."""
    library, journal = stores
    tools = await stack.enter_async_context(_open_tools(job, environment, journal, library))
    # Away from the event loop: the modules of the web are many.
    web = await asyncio.to_thread(_open_web, job, environment, tools, journal, on_gap)
    if web is not None:
        await asyncio.to_thread(web.remember, library)
        stack.push_async_callback(web.close)
        tools.share(web.known)
    places = _places(job, environment, tools, web, journal, stack)
    for place in places:
        stack.push_async_callback(place.close)
    opens = web is not None and bool(job.settings.sources)
    opened = "all" if opens else "question" if web is not None else ""
    note_outside(journal, places, tools.specs, web=opened, docs=job.record.docs)
    return Outside(places, tools, web.pages if web is not None else None, opens, job.record.docs)


def _recorded_outside(job: Job, recorded: Journal) -> Outside:
    """Return what the recorded run could reach, by name alone. Raises ReplayDiffers where it is not noted."""
    noted = recorded.notes(OUTSIDE).get("")
    if noted is None:
        message = f"The run {job.record.run_id} was made by an earlier version, which noted too little for a replay."
        raise ReplayDiffers(message, run_id=job.record.run_id, kind=OUTSIDE)
    told = json.loads(noted)
    named = {QuestionPages.name: QuestionPages(addresses_in(job.question))}
    places = [
        named.get(name) or Recorded(ToolSpec(name=name, description=purpose, parameters={}))
        for name, purpose in told["places"]
    ]
    tools = [Recorded(ToolSpec.model_validate(spec)) for spec in told["tools"]]
    return Outside(
        places=tuple(places),
        tools=OpenTools(tools={tool.name: tool for tool in tools}),
        pages=RecordedPages(everywhere=told["web"] == "all") if told["web"] else None,
        opens_addresses=told["web"] == "all",
        docs=tuple(told.get("docs", job.record.docs)),
    )


def _close_stores(*stores: Library | Journal) -> None:
    """Close them one by one; closing writes what is left to the disk, which may take its time."""
    for store in stores:
        store.close()


@asynccontextmanager
async def _open_tools(
    job: Job, environment: RunEnvironment, journal: Journal, library: Library
) -> AsyncIterator[OpenTools]:
    if (environment.places is None and job.record.mcp_servers) or environment.own.tools or environment.own.hn_tools:
        from deep_research.assembly.mcp_tools import open_tools  # noqa: PLC0415 - only with tools

        async with open_tools(job, environment, journal=journal, library=library) as tools:
            yield tools
    else:
        yield OpenTools()


def _open_web(
    job: Job, environment: RunEnvironment, tools: OpenTools, journal: Journal, on_gap: Callable[[Gap], object]
) -> "WebPlaces | None":
    """Open the web for the sources that were chosen, and for addresses that the user wrote into the question."""
    names = tuple(name for name in job.settings.sources if name not in tools.replaced)
    named = job.addresses or "http" in job.question.lower()
    if environment.places is not None or not (names or named):
        return None
    from deep_research.assembly.web_search import open_web_places  # noqa: PLC0415 - only for the web

    # A follow-up comes later than the run: its pages are asked for as those of any other run are.
    began = datetime.fromisoformat(job.record.created).timestamp() if job.before is None else inf
    return open_web_places(
        names,
        job.settings,
        environment,
        (journal, began),
        question=job.question,
        addresses=job.addresses,
        on_gap=on_gap,
    )


def _places(
    job: Job,
    environment: RunEnvironment,
    tools: OpenTools,
    web: "WebPlaces | None",
    journal: Journal,
    stack: AsyncExitStack,
) -> tuple[SearchPlace, ...]:
    """Return all places to search; the bundled library stands in only where nothing else is searched.

    The index of the documents is closed with `stack`.
    """
    if environment.places is not None:
        return (*tools.places, *(JournaledPlace(place, journal) for place in environment.places))
    found = (*tools.places, *(web.places if web is not None else ()))
    if job.record.docs or (job.stands_in and not found):
        documents, index = open_documents(job.record.docs, environment.home, job.settings)
        stack.push_async_callback(asyncio.to_thread, _close_stores, index)
        return (documents, *found)
    return found


def _own_costs(journal: Journal, job: Job) -> Journal:
    if job.before is None:
        return journal
    from deep_research.assembly.follow_up_parts import JournalSince  # noqa: PLC0415 - only in a follow-up

    return JournalSince(journal, {"model": job.before.model_calls, "search": job.before.searches})


def _lazy(places: tuple[SearchPlace, ...], job: Job, on_gap: Callable[[Gap], object]) -> tuple[SearchPlace, ...]:
    """Return the places, prepared when they are first searched in a follow-up: most follow-ups search none."""
    if job.before is None:
        return places
    from deep_research.assembly.follow_up_parts import prepared_late  # noqa: PLC0415 - only in a follow-up

    return prepared_late(places, job.log.emit, on_gap)


def bundled_library() -> Path:
    """Return the folder of the notes that come with the program."""
    packaged = Path(str(resources.files("deep_research"))) / "bundled_library"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "examples" / "library"


def is_bundled(record: RunRecord, places: Sequence[SearchPlace]) -> bool:
    """Return whether the bundled library stands in because the user named nothing to search."""
    return not record.docs and any(place.name == "documents" for place in places)


def index_name(docs: Sequence[str]) -> str:
    """Return how the files begin that hold the index of these paths, without any of the bundled library."""
    paths = [Path(p).expanduser() for p in docs] or [bundled_library()]
    names = "\0".join(sorted(str(p.resolve()) for p in paths))
    return hashlib.sha256(names.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def open_documents(docs: Sequence[str], home: Path, settings: Settings) -> tuple[SearchPlace, Library]:
    """Return the source of the user's documents, not yet prepared, and its index, which the caller closes.

    Without `docs` it is that of the bundled library.

    Each set of paths has an index of its own in the state folder, kept from run to run. One that another
    version of the readers has made would be emptied file by file, so it is replaced as a whole.
    """
    paths = [Path(p).expanduser() for p in docs] or [bundled_library()]
    name = index_name(docs)
    folder = home / DOCUMENTS
    make_private_folder(folder)
    make_private(folder)
    index = folder / f"{name}-{registry.readers_version()}.db"
    for old in folder.glob(f"{name}-*"):
        if not old.name.startswith(index.name):
            with suppress(OSError):  # another process may hold it open
                old.unlink()
    library = _open_index(index)
    return DocumentsSource(paths, library, max_file_bytes=_MOST_FILE_BYTES), library


def _open_index(path: Path) -> SqliteLibrary:
    """Open an index of documents; a damaged one is set aside and made anew, from the documents."""
    try:
        return SqliteLibrary(path)
    except StoreError as error:
        if not is_damage(error.__cause__):
            raise
        set_aside(path)
        return SqliteLibrary(path)
