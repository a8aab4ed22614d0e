"""The composition root: a run's inputs from the program, and its opened parts."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from deep_research import registry
from deep_research.assembly.follow_up_parts import JournalSince, prepared_late
from deep_research.assembly.own_objects import NOTHING, OwnObjects
from deep_research.assembly.reasoner_choice import Watch, open_reasoner
from deep_research.assembly.recording import OfflineJournal, note_outside, recorded_outside
from deep_research.assembly.web_search import WebPlaces, open_web_places
from deep_research.data import Asked, Gap, Ledger
from deep_research.data.outside_tools import McpServer
from deep_research.errors import StoreError
from deep_research.events import Event, Progress
from deep_research.ports import Journal, Library, OutsideTool, SearchPlace
from deep_research.providers.provider_catalog import VARIABLES
from deep_research.run_context.context import Outside, RunContext
from deep_research.run_context.steering import Steering
from deep_research.settings import ADDRESSES, Settings, load_keys, load_settings
from deep_research.sources.documents import DocumentsSource
from deep_research.state_files import DOCUMENTS, is_damage, make_private, make_private_folder, set_aside
from deep_research.stores.event_log import EventLog
from deep_research.stores.run_store import RunRecord, RunStore
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.templates import load_templates, template_folders

if TYPE_CHECKING:
    from deep_research.fetch.addresses import KnownAddresses
    from deep_research.fetch.web import Web, WebOptions

Answer = Callable[[Asked], "str | Awaitable[str | None] | None"]
"""Called with what the user is asked; None means that it cannot be answered now."""
MakeWeb = Callable[["WebOptions"], "Web"]
"""Builds the connection to the web from its options; a test builds one that leads to a web of its own."""


_MOST_FILE_BYTES = 64 * 2**20  # A larger file is a data set, not a document; the longest books and manuals have less


@dataclass(frozen=True)
class RunEnvironment:
    """A program's input to its runs: state folder, listener, answers, replacements.

    `places` are searched instead of the run's own sources. `make_web` builds the connection to the web in place of
    `fetch.web.Web`. `mcp_servers` replace those of the settings in force (None: those). `own` are the models and tools
    that the program hands over.
    """

    home: Path
    listener: Callable[[Event], None] = lambda _event: None
    answer: Answer | None = None
    places: Sequence[SearchPlace] | None = None
    make_web: MakeWeb | None = None
    mcp_servers: Mapping[str, McpServer] | None = None
    own: OwnObjects = NOTHING


@dataclass(frozen=True)
class Job:
    """One piece of work on a run: the research, or a follow-up question.

    `question` holds all the user's words, because the addresses in them may be opened. `before` is what the run had
    cost before a follow-up: its sources are prepared when they are first searched, and its costs are counted
    separately. `began` is when the work began, where that is not when the run did. `addresses` are others that the user has named.
    The bundled library `stands_in` where nothing else is searched. With `is_offline` it is done again
    from the journal, and nothing outside is reached. `watch` sees every request to a model.
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
    watch: Watch = lambda _request, _role: None

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


@asynccontextmanager
async def open_context(job: Job, environment: RunEnvironment) -> AsyncIterator[RunContext]:
    """Yield a job's context, its sources unprepared. Raises ConfigError, StoreError."""
    async with AsyncExitStack() as stack:
        library, journal = await asyncio.to_thread(lambda: (job.store.open_library(), job.store.open_journal()))
        for store in (journal, library):  # closing writes what is left to the disk, which may take its time
            stack.push_async_callback(asyncio.to_thread, store.close)
        keys = load_keys(VARIABLES)
        if any(getattr(job.settings, name) for name in ADDRESSES):
            load_settings()  # a run keeps no passwords of its addresses: those of the settings in force are used

        def on_gap(gap: Gap) -> None:
            ctx.report_gap(gap)

        calls: Journal = journal
        if job.is_offline:
            calls = OfflineJournal(journal, job.record.run_id)
            # With these a model can be named, and none asked.
            keys = {name: "replay" if name.endswith("_KEY") else "http://127.0.0.1:9" for name in VARIABLES}
            outside = recorded_outside(journal, job.record, job.question)
        else:
            outside = await _open_outside(stack, job, environment, (library, journal), on_gap)
        reasoner, held = await asyncio.to_thread(
            open_reasoner,
            job.settings,
            keys,
            journal=calls,
            home=environment.home,
            outside=outside,
            on_gap=on_gap,
            on_progress=lambda what, done, total: job.log.emit(Progress(what=what, done=done, total=total)),
            watch=job.watch,
            today=job.today,
            models=environment.own.models,
            is_offline=job.is_offline,
        )
        if held is not None:
            stack.push_async_callback(held.close)
        if job.before is not None:
            calls = JournalSince(calls, {"model": job.before.model_calls, "search": job.before.searches})
            # Most follow-ups search nowhere.
            late = prepared_late(outside.places, job.log.emit, on_gap)
            outside = replace(outside, places=late, sources_before=job.before.fetches)
        ctx = RunContext(
            run_id=job.record.run_id,
            settings=job.settings,
            reasoner=reasoner,
            library=library,
            journal=calls,
            log=job.log,
            outside=outside,
            steering=job.steering,
            templates=load_templates(template_folders(environment.home)),
        )
        yield ctx


async def _open_outside(
    stack: AsyncExitStack,
    job: Job,
    environment: RunEnvironment,
    stores: tuple[Library, Journal],
    on_gap: Callable[[Gap], object],
) -> Outside:
    library, journal = stores
    tools, own = OpenTools(), environment.own
    if (environment.places is None and job.record.mcp_servers) or own.tools or own.hn_tools:
        from deep_research.assembly.mcp_tools import open_tools  # noqa: PLC0415 - only with tools

        tools = await stack.enter_async_context(open_tools(job, environment, journal=journal, library=library))
    web: WebPlaces | None = None
    if environment.places is None and (job.settings.sources or job.addresses or "http" in job.question.lower()):
        names = [name for name in job.settings.sources if name not in tools.replaced]
        # Away from the event loop: the modules of the web are many.
        web = await asyncio.to_thread(open_web_places, names, job, environment, journal, on_gap=on_gap)
    if web is not None:
        await asyncio.to_thread(web.remember, library, journal)
        stack.push_async_callback(web.close)
        tools.share(web.fetcher.known)
    places = [*tools.places, *(environment.places or ()), *(web.places if web is not None else ())]
    if environment.places is None and (job.record.docs or (job.stands_in and not places)):
        documents, index = open_documents(job.record.docs, environment.home)
        stack.push_async_callback(asyncio.to_thread, index.close)
        places.insert(0, documents)
    for place in places:
        stack.push_async_callback(place.close)
    outside = Outside(
        places=tuple(places),
        tools=tools.tools,
        unopened=tools.gaps,
        pages=web.pages if web is not None else None,
        opens_addresses=web is not None and bool(job.settings.sources),
        docs=job.record.docs,
        asked=job.question,
    )
    note_outside(journal, outside)
    return outside


def bundled_library() -> Path:
    """Return the folder of the notes that come with the program."""
    return Path(str(resources.files("deep_research"))) / "bundled_library"


def index_name(docs: Sequence[str]) -> str:
    """Return the stem of the index of these paths (none: of the bundled library)."""
    paths = [Path(p).expanduser() for p in docs] or [bundled_library()]
    names = "\0".join(sorted(str(p.resolve()) for p in paths))
    return hashlib.sha256(names.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def open_documents(docs: Sequence[str], home: Path) -> tuple[SearchPlace, Library]:
    """Return the user's documents as a source, unprepared, and its index to close.

    Without `docs` it is that of the bundled library. Each set of paths has an index of its own in the state folder, kept
    from run to run. One that another version of the readers has made would be emptied file by file, so it is replaced
    as a whole.
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
    """Open an index of documents; a damaged one is set aside and rebuilt."""
    try:
        return SqliteLibrary(path)
    except StoreError as error:
        if not is_damage(error.__cause__):
            raise
        set_aside(path)
        return SqliteLibrary(path)
