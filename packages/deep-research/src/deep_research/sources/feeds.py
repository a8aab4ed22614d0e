"""Feeds (RSS 0.9–2.0, RDF, Atom 1.0), and what sources share that only list.

A listing is fetched once and ranked here.
"""

import asyncio
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar
from urllib.parse import urljoin, urlsplit

from pydantic import Field, field_validator

from claimcheck.text.tokens import content_terms
from deep_research.concurrency import side_by_side
from deep_research.data import Found, Gap, SearchResult
from deep_research.errors import SourceError, Unreadable
from deep_research.ports import ApiClient, ApiResponse
from deep_research.sources._api import ApiOptions, ApiSource, Options, in_a_worker, read_answer, web_addresses
from deep_research.sources._api_answers import Declaration, Node
from deep_research.sources._record_documents import Item, line, paragraphs, snippet

_LEAST_SHARE = 0.34  # of the query's weight: one rare word of three is enough, one common word is not
_MOST_ENTRIES = 2_000  # of one feed, which begins with the newest
_ENOUGH_CHARS = 600  # a teaser is shorter; the page is read then
_DATES = ("published", "pubDate", "date", "issued", "updated", "created")
_TEASERS = ("description", "summary", "subtitle")
_BODIES = ("encoded", "content", "description", "summary", "subtitle")


class ListingSource(ApiSource[Options]):
    """A source that ranks a listing, which is fetched once."""

    def __init__(self, options: Options, client: ApiClient, keys: Mapping[str, str]) -> None:
        super().__init__(options, client, keys)
        self._lock = asyncio.Lock()
        self._listing: tuple[Sequence[Found], Sequence[Gap]] | None = None

    async def _side_by_side(
        self, addresses: Sequence[str], read: Callable[[str], Awaitable[list[Found]]], what: str
    ) -> tuple[list[Found], list[Gap]]:
        """Return results of `read` for all addresses; a failure is a gap named `what`."""

        async def tried(address: str) -> list[Found] | SourceError:
            try:
                return await read(address)
            except SourceError as error:
                return error

        answers = await side_by_side(tried(address) for address in addresses)
        errors = [answer for answer in answers if isinstance(answer, SourceError)]
        if len(errors) == len(answers):
            raise errors[0]
        found = [one for answer in answers if isinstance(answer, list) for one in answer]
        return found, [self._gap(what, error) for error in errors]

    @abstractmethod
    async def _list(self) -> tuple[Sequence[Found], Sequence[Gap]]:
        """Return all listed entries and gaps; raise SourceError if nothing can be listed."""
        raise NotImplementedError

    async def _search(self, query: str, limit: int) -> SearchResult:
        async with self._lock:
            if self._listing is None:
                self._listing = await self._list()
        found, gaps = self._listing
        return SearchResult(found=tuple(await best(query, found, limit)), gaps=tuple(gaps))


async def best(query: str, listing: Sequence[Found], limit: int) -> list[Found]:
    """Return the best of what answers the query (`rank`), found in a worker."""
    size = sum(len(found.title) + len(_body(found)) for found in listing)
    return await in_a_worker(rank, query, listing, limit, size=size)


def rank(query: str, listing: Sequence[Found], limit: int) -> list[Found]:
    """Return at most `limit` entries of the listing for a query, best first.

    The rank counts words in common; rare words count more, those of titles twice.
    """
    titles = [set(content_terms(found.title)) for found in listing]
    texts = [title.union(content_terms(_body(found))) for title, found in zip(titles, listing, strict=True)]
    spread = Counter(term for text in texts for term in text)
    weights = {term: math.log(1 + len(listing) / (1 + spread[term])) for term in content_terms(query)}
    whole = sum(weights.values()) or 1.0
    scored: list[Found] = []
    for found, title, text in zip(listing, titles, texts, strict=True):
        share = sum(weight for term, weight in weights.items() if term in text) / whole
        if share >= _LEAST_SHARE:
            extra = sum(weight for term, weight in weights.items() if term in title) / whole
            scored.append(found.model_copy(update={"score": share + extra}))
    return sorted(scored, key=lambda found: -found.score)[:limit]


def _body(found: Found) -> str:
    return f"{found.snippet} {found.document.text if found.document else ''}"


def entries(response: ApiResponse, source: type[Declaration]) -> list[Found]:
    """Return a feed's entries in its order, their texts as documents; or SourceError."""
    root = source.xml_of(response, lenient=True)
    if root.name not in ("rss", "feed", "rdf", "channel"):
        raise source.failure(Unreadable, response, "the answer is no feed")
    channel = root.child("channel") or root
    nodes = root.children("entry") or channel.children("item") or root.children("item")
    site = snippet(channel.text("title"))
    posts = [_entry(node, site, response.url) for node in nodes[:_MOST_ENTRIES]]
    return [found for post in posts if (found := post.found(source.name))]


def _entry(node: Node, site: str, base: str) -> Item:
    parts = ((name, node.child(name)) for name in _BODIES)
    bodies = ((name, part.markup() if part.children("*") else part.raw()) for name, part in parts)  # XHTML, or escaped
    named, body = next(((name, body) for name, body in bodies if body.strip()), ("", ""))
    published = next((day for name in _DATES if (day := node.date(name))), None)
    people = [*node.children("author"), *node.children("creator")]
    authors = [line((one.child("name") or one).text()) for one in people]
    url, plain = _address(base, _link(node)), paragraphs(body)
    is_long = len(plain) >= _ENOUGH_CHARS
    return Item(
        key=url or node.text("guid") or node.text("id"),
        title=node.line("title") or snippet(plain, most=80) or url,
        url=url,
        about=plain,
        published=published,
        authors=authors,
        facts=[("Published by", site)] if is_long else (),
        sections=[("Text", plain)] if is_long else (),
        location="" if url else site,
        # A description may be all there is of a post, or only its beginning.
        excerpt=is_long and named in _TEASERS and bool(url),
    )


def _address(base: str, link: str) -> str:
    """Return the web address of a link on a page, "" for what is none."""
    try:
        url = urljoin(base, link)
        return url if urlsplit(url).scheme in ("http", "https") else ""
    except ValueError:
        return ""


def _link(node: Node) -> str:
    """Atom links by their relation, RSS links by their text, or the permanent id."""
    links = node.children("link")
    for relation in ("alternate", "", "related"):
        for link in links:
            if link.get("href") and link.get("rel") == relation:
                return link.get("href").strip()
    if named := next((words for link in links if (words := link.text())), ""):
        return named
    guid = node.child("guid")
    own = guid.text() if guid and guid.get("isPermaLink") != "false" else node.text("id")
    return own if own.startswith("http") else ""


class FeedsOptions(ApiOptions):
    """Options of feeds; each feed has its own address."""

    feeds: tuple[str, ...] = Field((), description="Addresses of the feeds.", max_length=100)

    _are_web_addresses = field_validator("feeds")(web_addresses)

    def addresses(self) -> tuple[str, ...]:
        """Return those of the feeds."""
        return self.feeds


class FeedsSource(ListingSource[FeedsOptions]):
    """A ranking of all feeds' entries; a failed feed is a gap if another answers."""

    name = "feeds"
    purpose = "News and blogs that publish an RSS or Atom feed, as named in the settings."
    headers: ClassVar = {"accept": "application/atom+xml, application/rss+xml, application/xml;q=0.9"}

    @classmethod
    def missing(cls, options: ApiOptions, keys: Mapping[str, str]) -> str:
        """Return what has to be set: there are no feeds by default."""
        is_named = isinstance(options, FeedsOptions) and options.feeds
        return "" if is_named else "name feeds in the option source_options.feeds.feeds"

    async def _list(self) -> tuple[Sequence[Found], Sequence[Gap]]:
        return await self._side_by_side(self.options.feeds, self._feed, "a feed")

    async def _feed(self, address: str) -> list[Found]:
        return await read_answer(parse_feed, await self._client.request("GET", address, headers=self._headers()))


def parse_feed(response: ApiResponse) -> list[Found]:
    """Return the entries of a feed in its order. Raises SourceError when it is none."""
    return entries(response, FeedsSource)
