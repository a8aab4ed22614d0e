"""RSS, RDF, Atom and JSON feeds as results: one parser for all sources that read feeds."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from deep_research.data import Document, Found
from deep_research.errors import Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources import _record_documents as _writing
from deep_research.sources._api import snippet
from deep_research.sources._api_answers import (
    Declaration,
    Element,
    child,
    children,
    failure,
    inner_markup,
    judge,
    local_name,
    text_of,
    xml_of,
)
from deep_research.sources._fields import at, first, iso_date, objects, raw, text
from deep_research.sources._markup import line, paragraphs

_ENOUGH_CHARS = 600  # a teaser is shorter; the page is read then
_ROOTS = ("rss", "feed", "rdf", "channel")
_DATES = ("published", "pubDate", "date", "issued", "updated", "created")
_TEASERS = ("description", "summary", "subtitle")
_BODIES = ("encoded", "content", "description", "summary", "subtitle")


def entries(response: ApiResponse, source: type[Declaration]) -> list[Found]:
    """Return the entries of a feed in its order, with their text as document when the feed carries it.

    Raises SourceError when the answer is no feed.
    """
    if response.body.lstrip()[:1] == b"{":
        return _json_feed(response, source)
    root = xml_of(response, source, lenient=True)
    if local_name(root) not in _ROOTS:
        raise failure(Unreadable, response, source, "the answer is no feed")
    channel = child(root, "channel")
    channel = root if channel is None else channel
    nodes = children(root, "entry") or children(channel, "item") or children(root, "item")
    site = text_of(child(channel, "title"))
    return [found for node in nodes if (found := _entry(node, site, response.url, source))]


def _entry(node: Element, site: str, base: str, source: type[Declaration]) -> Found | None:
    title = line(inner_markup(child(node, "title")))
    url = urljoin(base, _link(node))
    own = text_of(child(node, "guid")) or text_of(child(node, "id"))
    named, body = next(((name, markup) for name in _BODIES if (markup := _markup(child(node, name))).strip()), ("", ""))
    published = next((day for name in _DATES if (day := iso_date(text_of(child(node, name))))), None)
    found = _made(title, url, own, body, published, _authors(node), site, source)
    # A description may be all there is of a post, or only its beginning.
    teaser = found is not None and found.document is not None and bool(found.url) and named in _TEASERS
    return found.model_copy(update={"excerpt": True}) if found is not None and teaser else found


def _made(
    title: str,
    url: str,
    own: str,
    body: str,
    published: str | None,
    authors: tuple[str, ...],
    site: str,
    source: type[Declaration],
) -> Found | None:
    if urlsplit(url).scheme not in ("http", "https"):
        url = ""
    plain = paragraphs(body)
    title = title or snippet(plain, 80) or url
    if not title or not (url or own):
        return None
    return Found(
        key=url or own,
        title=title,
        url=url,
        origin=source.name,
        location="" if url else site,
        published=published,
        authors=authors,
        snippet=snippet(plain),
        document=_document(title, plain, published, authors, site) if len(plain) >= _ENOUGH_CHARS else None,
    )


def _document(title: str, body: str, published: str | None, authors: tuple[str, ...], site: str) -> Document:
    facts = (("Published by", site),)
    return _writing.document(title, facts=facts, sections=[("Text", body)], published=published, authors=authors)


def _link(node: Element) -> str:
    """Atom links by their relation, RSS links by their text, or the permanent id."""
    links = children(node, "link")
    for relation in ("alternate", None, "related"):
        for link in links:
            if link.get("href") and link.get("rel", None) == relation:
                return str(link.get("href")).strip()
    if named := next((words for link in links if (words := text_of(link))), ""):
        return named
    guid = child(node, "guid")
    permanent = guid is not None and guid.get("isPermaLink", "true") != "false"
    own = text_of(guid) if permanent else text_of(child(node, "id"))
    return own if own.startswith("http") else ""


def _markup(element: Element | None) -> str:
    """The body of an entry: escaped HTML in the text, or XHTML as elements."""
    if element is None:
        return ""
    if any(isinstance(part.tag, str) for part in element):
        return inner_markup(element)
    return "".join(str(part) for part in element.itertext())


def _authors(node: Element) -> tuple[str, ...]:
    names: list[str] = []
    for author in [*children(node, "author"), *children(node, "creator")]:
        named = child(author, "name")
        names.append(text_of(author if named is None else named))
    return tuple(dict.fromkeys(line(name) for name in names if name))


def _json_feed(response: ApiResponse, source: type[Declaration]) -> list[Found]:
    judge(response, source)
    try:
        answer: Any = json.loads(response.body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise failure(Unreadable, response, source, "the answer is broken or cut off JSON") from None
    if not isinstance(answer, Mapping) or not isinstance(answer.get("items"), list):
        raise failure(Unreadable, response, source, "the answer is no feed")
    found = []
    for item in objects(answer["items"]):
        authors = tuple(
            name for one in objects(item.get("authors") or item.get("author")) if (name := text(one.get("name")))
        )
        body = raw(item.get("content_html")) or raw(item.get("content_text")) or raw(item.get("summary"))
        url = urljoin(response.url, first(item, "url", "external_url"))
        published = iso_date(first(item, "date_published", "date_modified"))
        title = line(raw(item.get("title")))
        found.append(
            _made(title, url, text(item.get("id")), body, published, authors, text(at(answer, "title")), source)
        )
    return [one for one in found if one]
