"""Open what a run needs: library, journal, sources and reasoner; and close it again."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from deep_research import registry
from deep_research.assembly.mcp_tools import NOTHING_BROUGHT, Outside, OutsideTools, open_tools
from deep_research.assembly.page_access import addresses_in
from deep_research.assembly.reasoner_choice import Thinking, key_variables, open_thinking
from deep_research.assembly.web_search import MakeWeb, WebPlaces, open_web_places, source_variables
from deep_research.data import Gap, ReasonerInfo
from deep_research.events import Event
from deep_research.ports import Pages, SearchPlace
from deep_research.run_context.context import RunContext
from deep_research.run_context.deadlines import Pace
from deep_research.settings import Settings, load_keys
from deep_research.sources.documents import DocumentsSource
from deep_research.stores.event_log import EventLog, read_events
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.run_folder import RunFolder, RunRecord
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.stores.sqlite_scan import ScannedLibrary
from deep_research.templates import load_templates, template_folders


def bundled_library() -> Path:
    """Return the folder of the notes that come with the program."""
    packaged = Path(str(resources.files("deep_research"))) / "bundled_library"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "examples" / "library"


def open_places(docs: Sequence[str], home: Path, settings: Settings) -> tuple[SearchPlace, ...]:
    """Return the places to search, not yet prepared; without `docs` that is the bundled library.

    Each set of paths has an index of its own in the state folder, kept from run to run. One that another
    version of the readers has made would be emptied file by file, so it is replaced as a whole.
    """
    paths = [Path(p).expanduser() for p in docs] or [bundled_library()]
    name = hashlib.sha256("\0".join(sorted(str(p.resolve()) for p in paths)).encode("utf-8", "surrogatepass"))
    folder = home / "documents"
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / f"{name.hexdigest()[:24]}-{registry.readers_version()}.db"
    for old in folder.glob(f"{name.hexdigest()[:24]}-*"):
        if not old.name.startswith(index.name):
            with suppress(OSError):  # another process may hold it open
                old.unlink()
    library = SqliteLibrary(index)
    limit = settings.max_file_megabytes * 1024 * 1024
    return (DocumentsSource(paths, library, max_file_bytes=limit),)


@asynccontextmanager
async def opened(
    folder: RunFolder,
    record: RunRecord,
    settings: Settings,
    *,
    home: Path,
    log: EventLog,
    events: Path,
    given: Sequence[SearchPlace] | None = None,
    make_web: MakeWeb | None = None,
    outside: Outside = NOTHING_BROUGHT,
) -> AsyncIterator[RunContext]:
    """Give the context of a sitting at a run, with `settings`; everything is closed at the end of the block.

    `events` is the file of the sittings before, whose gaps are known; `given` are searched instead of the run's
    own places. `outside` are the MCP servers and tools that a program brings along. The places are not prepared.
    Raises ConfigError and StoreError.
    """
    library = await asyncio.to_thread(_open_library, settings, folder)
    journal = await asyncio.to_thread(SqliteJournal, folder.journal)
    own = record if given is None else record.model_copy(update={"mcp_servers": ()})
    async with (
        _closed(library, journal),
        open_tools(own, settings, outside, journal=journal, library=library) as tools,
        _thinking(record, settings, home, given, make_web, tools, journal, lambda gap: ctx.report_gap(gap)) as looking,  # noqa: PLW0108 - ctx is made below
    ):
        ctx = RunContext(
            run_id=record.run_id,
            settings=settings,
            reasoner=looking.thinking.reasoner,
            library=library,
            journal=journal,
            places=looking.places,
            templates=load_templates(template_folders(home)),
            pages=looking.pages,
            tools=tools.tools,
            unopened=tools.gaps,
            gaps=_earlier_gaps(events),
            pace=Pace(settings.section_patience, settings.section_patience_seconds, read_events(events)),
            emit=log.emit,
            elapsed=lambda: log.seconds,
        )
        yield ctx


class _Looking(NamedTuple):
    """Who thinks, and where a run looks."""

    thinking: Thinking
    places: tuple[SearchPlace, ...]
    pages: Pages | None


@asynccontextmanager
async def _closed(*stores: SqliteLibrary | SqliteJournal) -> AsyncIterator[None]:
    """Close the stores at the end."""
    try:
        yield
    finally:
        await asyncio.to_thread(_close, *stores)


@asynccontextmanager
async def _thinking(
    record: RunRecord,
    settings: Settings,
    home: Path,
    given: Sequence[SearchPlace] | None,
    make_web: MakeWeb | None,
    tools: OutsideTools,
    journal: SqliteJournal,
    on_gap: Callable[[Gap], object],
) -> AsyncIterator[_Looking]:
    """Open the places and who thinks, and close them at the end."""
    web = _open_web(settings, home, record.question, tools, on_gap, make_web) if given is None else None
    if web is not None:
        tools.share(web.known)
    # The bundled library stands in only where nothing else is searched.
    alone = given is None and web is None and not tools.places
    local = open_places(record.docs, home, settings) if given is None and (record.docs or alone) else ()
    places = (*local, *tools.places, *(web.places if web else ()), *(given or ()))
    thinking = await asyncio.to_thread(
        open_thinking,
        settings,
        load_keys(key_variables()),
        journal=journal,
        places=places,
        home=home,
        on_gap=on_gap,
        opens_addresses=web is not None and bool(settings.sources),
        outside=tools.specs,
    )
    try:
        yield _Looking(thinking, places, web.pages if web else None)
    finally:
        await thinking.close()
        for place in places:
            await place.close()
        if web is not None:
            await web.close()


def is_bundled(record: RunRecord, places: Sequence[SearchPlace]) -> bool:
    """Whether a run has nothing of the user's to search, so that the bundled library stands in."""
    return not record.docs and any(place.name == "documents" for place in places)


def named(info: ReasonerInfo) -> str:
    """Who thinks, for screens: `extractive`, or provider and models."""
    models = ", ".join(dict.fromkeys(info.models.values()))
    return f"{info.provider} {models}".strip() or info.kind


def _close(*stores: SqliteLibrary | SqliteJournal) -> None:
    """Closing writes what is left to the disk, which may take its time."""
    for store in stores:
        store.close()


def _open_library(settings: Settings, folder: RunFolder) -> SqliteLibrary:
    """Without a model the library is searched all the time; a model names what it wants by ids."""
    return (SqliteLibrary if settings.model_provider == "extractive" else ScannedLibrary)(folder.library)


def _open_web(
    settings: Settings,
    home: Path,
    question: str,
    tools: OutsideTools,
    on_gap: Callable[[Gap], object],
    make_web: MakeWeb | None,
) -> WebPlaces | None:
    """The way out: for the sources that were chosen, and for addresses that the user wrote into the question."""
    names = tuple(name for name in settings.sources if name not in tools.replaced)
    if not names and not addresses_in(question):
        return None
    keys = load_keys(source_variables())
    return open_web_places(names, settings, keys, home, question=question, on_gap=on_gap, make_web=make_web)


def _earlier_gaps(events: Path) -> list[Gap]:
    """What earlier sittings could not find or do."""
    seen: list[Event] = read_events(events)
    return [Gap(**e.model_dump(include=set(Gap.model_fields))) for e in seen if e.kind == "gap_found"]
