"""Title, date and authors from the head of an HTML page, before anything is pruned."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from deep_research.readers._html_tree import Element, text_of
from deep_research.text.cleaning import fold

_DATE_NAMES = (
    "article:published_time", "datepublished", "citation_publication_date", "citation_date", "dc.date.issued",
    "dcterms.date", "dcterms.created", "dc.date", "date", "pubdate", "publish-date", "publication_date",
    "parsely-pub-date",
)  # fmt: skip
_AUTHOR_NAMES = ("citation_author", "author", "dc.creator", "dcterms.creator", "parsely-author")
_TITLE_NAMES = ("citation_title", "og:title", "dc.title", "twitter:title")
_ISO_DATE = re.compile(r"(?<!\d)((?:1[5-9]|20)\d\d)(?:[-/.年](\d{1,2})(?:[-/.月](\d{1,2}))?)?(?!\d)")
_MAX_JSON_LD = 500_000


class Metadata(NamedTuple):
    """What the head of a page says about it; `published` is YYYY, YYYY-MM or YYYY-MM-DD."""

    title: str
    published: str | None
    authors: tuple[str, ...]
    description: str


def metadata(root: Element) -> Metadata:
    """Return what `root` says about itself in meta elements, JSON-LD, `<time>` and `<title>`."""
    found: dict[str, list[str]] = {}
    for meta in root.iter("meta"):
        name = (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").lower()
        if name and (content := fold(meta.get("content") or "")):
            found.setdefault(name, []).append(content)
    linked = list(_json_ld(root))
    return Metadata(
        title=_first(found, _TITLE_NAMES) or "",
        published=_published(found, linked, root),
        authors=_authors(found, linked),
        description=_first(found, ("description", "og:description")) or "",
    )


def page_title(root: Element) -> str:
    """Return the text of `<title>` in the head, folded."""
    head = root.find(".//head")
    title = (root if head is None else head).find(".//title")
    return "" if title is None else fold(text_of(title))


def iso_date(text: str) -> str | None:
    """Return the first date in `text` as YYYY, YYYY-MM or YYYY-MM-DD, or None."""
    match = _ISO_DATE.search(text)
    if not match:
        return None
    year, month, day = match.groups()
    if not month or not 1 <= int(month) <= 12:
        return year
    if not day or not 1 <= int(day) <= 31:
        return f"{year}-{int(month):02}"
    return f"{year}-{int(month):02}-{int(day):02}"


def _first(found: dict[str, list[str]], names: tuple[str, ...]) -> str | None:
    return next((found[name][0] for name in names if name in found), None)


def _published(found: dict[str, list[str]], linked: list[dict[str, Any]], root: Element) -> str | None:
    texts = [found[name][0] for name in _DATE_NAMES if name in found]
    texts += [str(thing["datePublished"]) for thing in linked if "datePublished" in thing]
    texts += [
        time.get("datetime") or ""
        for time in root.iter("time")
        if time.get("pubdate") is not None or time.get("itemprop") == "datePublished"
    ]
    return next((date for text in texts if (date := iso_date(text))), None)


def _authors(found: dict[str, list[str]], linked: list[dict[str, Any]]) -> tuple[str, ...]:
    for name in _AUTHOR_NAMES:
        if names := [author for author in found.get(name, []) if not author.startswith("http")]:
            return tuple(names)
    for thing in linked:
        authors = thing.get("author")
        listed = authors if isinstance(authors, list) else [authors]
        names = [str(author.get("name") or "") if isinstance(author, dict) else str(author or "") for author in listed]
        if names := [name for name in names if name and not name.startswith("http")]:
            return tuple(names)
    return ()


def _json_ld(root: Element) -> Iterator[dict[str, Any]]:
    """Yield the objects of the page's JSON-LD (https://schema.org), graphs and lists opened one level."""
    for script in root.iter("script"):
        if (script.get("type") or "").lower() != "application/ld+json":
            continue
        try:
            value = json.loads(text_of(script)[:_MAX_JSON_LD])
        except (ValueError, RecursionError):
            continue
        things = value if isinstance(value, list) else [value]
        for thing in things:
            if isinstance(thing, dict):
                graph = thing.get("@graph")
                yield from (node for node in (graph if isinstance(graph, list) else [thing]) if isinstance(node, dict))
