"""A run's web places: sources by name or strategy, and pages behind results."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from claimcheck.language import detect
from deep_research import sources
from deep_research.assembly import page_access
from deep_research.assembly.giving_up import GivingUp
from deep_research.assembly.page_access import OnGap, QuestionPages, RunPages, document_of, learn_links
from deep_research.concurrency import in_background
from deep_research.data import Document, Found, SearchResult
from deep_research.errors import ConfigError, NotFound, SourceError
from deep_research.fetch.addresses import KnownAddresses
from deep_research.i18n.catalog import gap_of
from deep_research.isolated_reading import RejectedDocuments
from deep_research.ports import Journal, Library, SearchPlace
from deep_research.reading_child import read_given
from deep_research.settings import Settings, load_keys
from deep_research.state_files import PAGES, REJECTED, make_private_folder
from deep_research.steps.open_source import LINKS
from deep_research.stores.open_stores import shared_limits
from deep_research.worker_pool import in_worker_thread, start_ahead

if TYPE_CHECKING:
    from deep_research.assembly.environment import Job, RunEnvironment
    from deep_research.fetch.page_fetcher import Fetcher
    from deep_research.fetch.web import Web, WebOptions
    from deep_research.sources._api import ApiSource


def chosen_sources(settings: Settings, keys: Mapping[str, str], *, question: str, language: str) -> tuple[str, ...]:
    """Return a run's source names, named before strategy ones. Raises ConfigError."""
    named = None if settings.strategy else settings.sources
    rows = {row.name: row for row in sources.source_rows(keys, settings.source_options, names=named)}
    for name in settings.sources:
        sources.named_source(name)
        if rows[name].missing:
            message = f"The source {name!r} is not ready: {rows[name].missing}."
            raise ConfigError(message, setting="sources", value=name)
    wanted = list(settings.sources)
    if settings.strategy:
        ready = {row.name for row in rows.values() if row.ready}
        has_model = settings.model_provider != "finder"
        wanted += sources.strategy_sources(settings.strategy, language, ready, question=question, whole=has_model)
    return tuple(dict.fromkeys(wanted))


@dataclass(frozen=True)
class WebPlaces:
    """A run's web sources and single pages over one shared fetcher."""

    web: "Web"
    fetcher: "Fetcher"
    places: tuple[SearchPlace, ...]
    pages: RunPages

    def remember(self, library: Library, journal: Journal) -> None:
        """Add addresses shown by the run, or named by pages it read before it stopped."""
        for told in journal.notes(LINKS).values():
            self.fetcher.known.add_page_text(told)
        for source in library.sources():
            snapshot = library.snapshot(source.id) if source.url.startswith("http") else None
            if snapshot is not None:
                self.fetcher.known.add(source.url)
                self.fetcher.known.add_page_text(snapshot.text)

    async def close(self) -> None:
        await self.fetcher.close()
        await self.web.close()


def open_web_places(
    names: Sequence[str], job: "Job", environment: "RunEnvironment", journal: Journal, *, on_gap: OnGap
) -> WebPlaces | None:
    """Return the sources `names` with one fetcher; the question's pages come first.

    Without `names` only addresses in the question, and others that the user has named, may be opened; None when there
    are none either. `journal` keeps each answer of a source. `on_gap` receives what the reader should know of a page
    (an archived copy stands in for it).
    """
    settings, question = job.settings, job.question
    asked = page_access.addresses_in(question)
    named = (*asked, *job.addresses)
    if not names and not named:
        return None
    from deep_research.fetch.web import Web  # noqa: PLC0415 - only with web sources
    from deep_research.fetch.web_api import JournaledApi  # noqa: PLC0415

    start_ahead(read_given, "html", b"<p>", "")  # while the question is judged: pages then find their reader ready
    make_private_folder(environment.home)  # of runs in a database nothing else lies there
    keys = load_keys(sources.variables(names))
    options = {name: dict(settings.source_options.get(name, {})) for name in names}
    # A follow-up comes later than the run: its pages are asked for as those of any other run are.
    began = datetime.fromisoformat(job.record.created).timestamp() if job.before is None else inf
    web = (environment.make_web or Web)(
        web_options(settings, options, keys, cache=environment.home / PAGES, began=began)
    )
    api = JournaledApi(web.api, journal)
    opened = [sources.open_source(name, api, keys, options[name]) for name in names]
    for source in opened:
        source.asked_in = detect(question)
    fetcher = web.fetcher(KnownAddresses((*named, *_written(options, keys))))
    rejected = RejectedDocuments(environment.home / REJECTED)
    searched = [WebPlace(source, fetcher, on_gap, rejected) for source in opened]
    only = None if names else KnownAddresses(named)
    pages = RunPages(fetcher, on_gap, only=only, rejected=rejected, readers=[place.page for place in searched])
    own = [QuestionPages(asked)] if asked else []
    return WebPlaces(web, fetcher, (*own, *searched), pages)


def web_options(
    settings: Settings,
    options: Mapping[str, Mapping[str, Any]],
    keys: Mapping[str, str],
    *,
    cache: Path | None = None,
    began: float = inf,
) -> "WebOptions":
    """Return the web options from `settings` and sources; `began` is the run's start."""
    from deep_research.fetch.fetch_policies import LONGEST_SILENCE, FetchLimits  # noqa: PLC0415
    from deep_research.fetch.page_fetcher import FetchOptions  # noqa: PLC0415 - only with web sources
    from deep_research.fetch.web import WebOptions  # noqa: PLC0415

    seconds = min(settings.model_timeout_seconds, LONGEST_SILENCE)
    return WebOptions(
        contact=settings.contact,
        allowed_internal_hosts=settings.allowed_internal_hosts,
        base_addresses=_written(options, keys),
        proxy=settings.proxy,
        api_rates=sources.api_rates(sources.named_source(name).read_options(given) for name, given in options.items()),
        cache=cache,
        silence_seconds=seconds,
        fetch=FetchOptions(limits=FetchLimits().within(seconds), run_began=began),
        shared=shared_limits(),
    )


def _written(options: Mapping[str, Mapping[str, Any]], keys: Mapping[str, str]) -> tuple[str, ...]:
    """Return the addresses set by the user for APIs, feeds and service variables."""
    found: list[str] = []
    for name, given in options.items():
        kind = sources.named_source(name)
        usual = kind.read_options(None).addresses()
        found += [url for url in kind.read_options(given).addresses() if url not in usual]
        found += [keys[variable] for variable in kind.variables() if variable.endswith("_URL") and keys.get(variable)]
    return tuple(found)


class WebPlace:
    """A source whose results without text are read from the page or an archive."""

    def __init__(
        self, source: "ApiSource[Any]", fetcher: "Fetcher", on_gap: OnGap, rejected: RejectedDocuments | None = None
    ) -> None:
        self._source, self._fetcher, self._on_gap, self._rejected = source, fetcher, on_gap, rejected
        self._giving_up = GivingUp()
        self._hosts: set[str | None] = set()
        self.name, self.purpose = source.name, source.purpose
        self.prepare = source.prepare

    async def search(self, query: str, *, limit: int) -> SearchResult:
        result = await self._giving_up.ask(lambda: self._source.search(query, limit=limit))
        for found in result.found:
            self._fetcher.known.add(found.url)
            self._hosts.add(urlsplit(found.url).hostname)
            self._fetcher.known.add_page_text(found.document.text if found.document else "")
        return result

    async def read(self, found: Found) -> Document:
        """Return a result's own text, else the page's, and learn its addresses."""
        document = await (self._whole(found) if found.excerpt else self._read(found))
        text = document.linked_text if document.links else found.page_text
        if "](" in text and found.url:
            await in_background(learn_links, self._fetcher, found.url, text)
        if "://" in document.text:
            await in_background(self._fetcher.known.add_page_text, document.text)
        return document

    async def page(self, found: Found) -> Document | None:
        """Return a page by the source, if it reads pages and has found the site, or None."""
        if not self._source.reads_pages or urlsplit(found.url).hostname not in self._hosts:
            return None
        with suppress(SourceError):
            return await self._source.read(found)
        return None

    async def _whole(self, found: Found) -> Document:
        """Return the text behind an excerpt, or the excerpt and a gap if unreadable."""
        try:
            return await self._read(found.model_copy(update={"document": None, "page_text": ""}))
        except SourceError as error:
            if found.document is None and not found.page_text:
                raise
            what = found.title or found.url
            self._on_gap(gap_of(what, "only_excerpt", source=self.name, place=self.name, error=error.message))
            return await self._source.read(found)

    async def _read(self, found: Found) -> Document:
        try:
            return await self._source.read(found)
        except NotFound:
            if not found.url:
                raise
        title = found.title or found.url
        page = await page_access.page_or_copy(
            self._fetcher, found.url, title=title, origin=self.name, on_gap=self._on_gap
        )
        return await in_worker_thread(document_of, page, found, self._rejected)

    async def close(self) -> None:
        await self._source.close()
