"""Single pages by address, as named by the user, a source or a page read."""

import codecs
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from deep_research.concurrency import in_background
from deep_research.data import Document, Found, Gap, SearchResult, Source
from deep_research.errors import Blocked, NotFound, SourceError, Unreadable
from deep_research.fetch.addresses import KnownAddresses, parse_address, urls_in
from deep_research.i18n.catalog import gap_of
from deep_research.isolated_reading import RejectedDocuments, read_bytes
from deep_research.ports import SearchPlace
from deep_research.registry import reader_for, reader_of
from deep_research.steps.open_source import PLACE
from deep_research.text.page_noise import unreadable_because
from deep_research.worker_pool import in_worker_thread

if TYPE_CHECKING:
    from deep_research.fetch.fetched_page import Page
    from deep_research.fetch.page_fetcher import Fetcher

OnGap = Callable[[Gap], object]
_TITLE_CHARS = 120
MOST_NAMED = 10  # addresses of one question that are read
_FULL_TEXT = re.compile(
    r"https?://(?:www\.|export\.)?(?:arxiv\.org/(?:html|pdf)|ar5iv(?:\.labs\.arxiv)?\.org/(?:html|abs))/"
)


def addresses_in(question: str) -> tuple[str, ...]:
    """Return the web addresses that a question names, each once, at most ten."""
    return tuple(dict.fromkeys(urls_in(question)))[:MOST_NAMED]


def key_of_page(url: str) -> str:
    """Return a page's key, other for a paper's text than its record. Raises Blocked."""
    from deep_research.sources._web import page_key  # noqa: PLC0415

    key = page_key(parse_address(url).url)
    return f"text:{key}" if _FULL_TEXT.match(url) else key


class RunPages:
    """Implements `ports.Pages` over the fetcher of a run."""

    def __init__(
        self,
        fetcher: "Fetcher",
        on_gap: OnGap,
        *,
        only: KnownAddresses | None = None,
        rejected: RejectedDocuments | None = None,
        readers: Sequence[Callable[[Found], Awaitable[Document | None]]] = (),
    ) -> None:
        """Open pages, `only` these without web sources; `readers` are reading services."""
        self._fetcher, self._on_gap, self._only, self._rejected = fetcher, on_gap, only, rejected
        self._readers = readers

    def key(self, url: str) -> str:
        return key_of_page(url)

    async def open(self, url: str) -> Found:
        if self._only is not None:
            self._only.check(parse_address(url))
        try:
            found, document = await self._read(url)
        except SourceError as failed:
            found = Found(key=self.key(url), title="", url=url, origin=PLACE)
            if (document := await self._read_elsewhere(found, failed)) is None:
                raise
        await in_background(self._fetcher.known.add_page_text, document.text)
        if document.links:
            await in_background(learn_links, self._fetcher, url, document.linked_text)
        told = {"title": document.title or url, "published": document.published, "authors": document.authors}
        return found.model_copy(update={**told, "document": document})

    async def _read(self, url: str) -> tuple[Found, Document]:
        if _FULL_TEXT.match(url):
            page = await self._fetcher.fetch(url)
        else:
            page = await page_or_copy(self._fetcher, url, title=url, origin=PLACE, on_gap=self._on_gap)
        found = Found(key=self.key(page.archived_url or page.final_url), title="", url=url, origin=PLACE)
        return found, await in_worker_thread(document_of, page, found, self._rejected)

    async def _read_elsewhere(self, found: Found, failed: SourceError) -> Document | None:
        """Return an open page by a reading service if its host refuses us, else None."""
        is_refused_here = isinstance(failed, Blocked) and not failed.status
        is_gone = isinstance(failed, NotFound) and failed.reason != "dns"
        for read in () if is_refused_here or is_gone else self._readers:
            if (document := await read(found)) is not None:
                return document
        return None

    def links(self, url: str) -> Mapping[str, str]:
        only, found = self._only, self._fetcher.links(url)
        return {address: words for address, words in found.items() if only is None or address in only}

    def full_text(self, source: Source) -> Sequence[str]:
        if self._only is not None:
            return ()
        addresses = addresses_of_text(source)
        self._fetcher.known.add(*addresses)
        return addresses


def addresses_of_text(source: Source) -> Sequence[str]:
    """Return the full-text addresses of a paper record: arXiv HTML, ar5iv, PDF."""
    from deep_research.sources._papers import arxiv_texts  # noqa: PLC0415 - only with web pages

    return arxiv_texts(source.key, source.url)


class QuestionPages(SearchPlace):
    """The pages named in the question as a search place; a search covers all."""

    name = PLACE
    purpose = "The pages that the question names."

    def __init__(self, urls: Sequence[str]) -> None:
        self.urls = tuple(urls)
        self._found: tuple[Found, ...] = ()

    def offer(self, sources: Iterable[Source]) -> None:
        self._found = tuple(Found(key=s.key, title=s.title, url=s.url, origin=s.origin) for s in sources)

    def told(self, question: str) -> str:
        """Return the question with the titles of the pages in place of their addresses.

        For who goes by words; a title is a stranger's, so a model is shown the question as the user wrote it.
        """
        titles = {found.url: found.title for found in self._found}
        said = question
        for url in sorted(self.urls, key=len, reverse=True):
            title = " ".join(titles.get(url, "").split())[:_TITLE_CHARS]
            said = said.replace(url, "" if title == url else title)
        return " ".join(said.split()) or question

    async def search(self, query: str, *, limit: int) -> SearchResult:
        """Return the pages; which of their passages answer is the library's to find."""
        return SearchResult(found=self._found[:limit])

    async def read(self, found: Found) -> Document:
        raise NotFound(f"{found.url} could not be read.", url=found.url)


async def page_or_copy(fetcher: "Fetcher", url: str, *, title: str, origin: str, on_gap: OnGap) -> "Page":
    """Return the page, or its archived copy and a gap. Raises SourceError."""
    try:
        return await fetcher.fetch(url)
    except NotFound as dead:
        try:
            page = await fetcher.archived(url)
        except SourceError:
            raise dead from None
    on_gap(gap_of(title, "archived_copy", source=origin, url=url, copy=page.final_url))
    return page


def learn_links(fetcher: "Fetcher", url: str, text: str) -> None:
    """Register the links in a page's Markdown; the text read keeps only their words."""
    from deep_research.fetch.fetched_page import links_in_markdown  # noqa: PLC0415 - only with web pages

    fetcher.learn(url, url, links_in_markdown(url, text))


def document_of(page: "Page", found: Found, rejected: RejectedDocuments | None = None) -> Document:
    """Return a page's text. Raises Unreadable for unknown formats and error pages."""
    name = page.final_url.rstrip("/").rsplit("/", 1)[-1] or "page"
    reader = reader_of(page.media_type) or reader_for(name, page.body[:4096])
    if reader is None:
        raise Unreadable(f"{page.url} is of no format that is read ({page.media_type}).", url=page.url)
    try:
        document = read_bytes(reader, _declared(page), name=name, rejected=rejected)
    except Unreadable as error:
        raise Unreadable(f"{page.url} cannot be read: {error.message}.", url=page.url) from error
    if why := unreadable_because(document.text):
        raise Unreadable(f"{page.url} shows {why} instead of its content.", url=page.url)
    if not document.text.strip():
        raise Unreadable(f"{page.url} has no text; perhaps scripts make it.", url=page.url)
    return document.model_copy(
        update={
            "title": document.title or found.title,
            "published": document.published or found.published,
            "authors": document.authors or found.authors,
        }
    )


def _declared(page: "Page") -> bytes:
    """Return a page's body as UTF-8 with BOM: readers do not see a declared charset."""
    if not page.charset or not page.media_type.startswith("text/"):
        return page.body
    return codecs.BOM_UTF8 + page.body.decode(page.charset, "replace").removeprefix("\ufeff").encode("utf-8", "replace")
