"""Places on the web for a run: sources by name or strategy, and the pages behind their results."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deep_research.data import Document, Found, Gap, SearchResult
from deep_research.errors import ConfigError, NotFound, SourceError, Unreadable
from deep_research.ports import Progress, SearchPlace
from deep_research.registry import reader_for, reader_of
from deep_research.settings import Settings
from deep_research.text.shells import unreadable_because

if TYPE_CHECKING:
    from deep_research.fetch.fetcher import Fetcher
    from deep_research.fetch.page import Page
    from deep_research.fetch.web import Web
    from deep_research.sources._api import ApiSource


def source_variables() -> tuple[str, ...]:
    """Return the environment variables that hold the keys of sources."""
    from deep_research.sources import variables  # noqa: PLC0415 - only with web sources

    return variables()


def chosen_sources(settings: Settings, keys: Mapping[str, str], *, question: str, language: str) -> tuple[str, ...]:
    """Return the names of the sources of a run, in order of trust: those named, then those of the strategy.

    Raises ConfigError for an unknown source or strategy, and for a named source that lacks its key.
    """
    from deep_research.sources import source_rows, strategy_sources  # noqa: PLC0415 - only with web sources

    rows = {row.name: row for row in source_rows(keys, settings.source_options)}
    for name in settings.sources:
        if name not in rows:
            message = f"There is no source {name!r}. `deep-research sources` lists all of them."
            raise ConfigError(message, setting="sources", value=name)
        if rows[name].missing:
            message = f"The source {name!r} is not ready: {rows[name].missing}."
            raise ConfigError(message, setting="sources", value=name)
    wanted = list(settings.sources)
    if settings.strategy:
        ready = {row.name for row in rows.values() if row.ready}
        wanted += strategy_sources(settings.strategy, language, ready, question=question)
    return tuple(dict.fromkeys(wanted))


class WebPlaces:
    """The web sources of one run, with the one way out they share."""

    def __init__(self, web: "Web", fetcher: "Fetcher", places: Sequence[SearchPlace]) -> None:
        self._web = web
        self._fetcher = fetcher
        self.places = tuple(places)

    async def close(self) -> None:
        """Let go of connections."""
        await self._fetcher.close()
        await self._web.close()


def open_web_places(
    names: Sequence[str], settings: Settings, keys: Mapping[str, str], home: Path, *, question: str
) -> WebPlaces:
    """Return the sources `names`, reading pages through one fetcher; addresses in the question may be opened."""
    from deep_research.fetch.fetcher import FetchOptions  # noqa: PLC0415 - only with web sources
    from deep_research.fetch.known import KnownAddresses  # noqa: PLC0415
    from deep_research.fetch.web import Web, WebOptions  # noqa: PLC0415
    from deep_research.sources import api_delays, api_sources, open_source  # noqa: PLC0415

    options = {name: dict(settings.source_options.get(name, {})) for name in names}
    bases = tuple(str(o["base_url"]) for o in options.values() if o.get("base_url"))
    known = KnownAddresses()
    known.add_text(question)
    web = Web(
        WebOptions(
            contact=settings.contact,
            allowed_internal_hosts=settings.allowed_internal_hosts,
            base_addresses=bases,
            proxy=settings.proxy,
            api_delays=api_delays(api_sources()[name].read_options(options[name]) for name in names),
            cache=home / "pages.db",
            fetch=FetchOptions(obey_robots=settings.obey_robots),
        )
    )
    opened = [open_source(name, web.api, keys, options[name]) for name in names]
    fetcher = web.fetcher(known)
    return WebPlaces(web, fetcher, [WebPlace(source, fetcher) for source in opened])


class WebPlace:
    """A source whose results are read where the API has no text: the page itself, or its archived copy."""

    def __init__(self, source: "ApiSource[Any]", fetcher: "Fetcher") -> None:
        self._source = source
        self._fetcher = fetcher
        self.name: str = source.name
        self.purpose: str = source.purpose

    async def prepare(self, progress: Progress) -> Sequence[Gap]:
        """See `ports.SearchPlace.prepare`."""
        return await self._source.prepare(progress)

    async def search(self, query: str, *, limit: int) -> SearchResult:
        """See `ports.SearchPlace.search`; the addresses of the results may be opened from now on."""
        result = await self._source.search(query, limit=limit)
        self._fetcher.known.add(*(found.url for found in result.found if found.url))
        return result

    async def read(self, found: Found) -> Document:
        """Return the source's own text of a result, else the page's. Raises SourceError."""
        try:
            return await self._source.read(found)
        except NotFound:
            if not found.url:
                raise
        page = await self._page(found.url)
        return await asyncio.to_thread(document_of, page, found)

    async def _page(self, url: str) -> "Page":
        try:
            return await self._fetcher.fetch(url)
        except NotFound as dead:
            try:
                return await self._fetcher.archived(url)
            except SourceError:
                raise dead from None

    async def close(self) -> None:
        """See `ports.SearchPlace.close`; the connections are the run's."""
        await self._source.close()


def document_of(page: "Page", found: Found) -> Document:
    """Return the text of a page. Raises Unreadable for formats we do not read and for pages that are no content."""
    name = page.final_url.rstrip("/").rsplit("/", 1)[-1] or "page"
    reader = reader_of(page.media_type) or reader_for(name, page.body[:4096])
    if reader is None:
        raise Unreadable(f"{page.url} is of no format that is read ({page.media_type}).", url=page.url)
    document = reader.read(page.body, name=name)
    if why := unreadable_because(document.text):
        raise Unreadable(f"{page.url} shows {why} instead of its content.", url=page.url)
    if not document.text.strip():
        raise Unreadable(f"{page.url} has no text.", url=page.url)
    return document.model_copy(
        update={
            "title": document.title or found.title,
            "published": document.published or found.published,
            "authors": document.authors or found.authors,
        }
    )
