"""HTML and XHTML pages and EPUB books to their main text and metadata."""

import json
import posixpath
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from claimcheck.text.cleaning import fold
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers import _html_tree as tree
from deep_research.readers._html_tree import Element, text_of
from deep_research.readers._html_walk import write_blocks
from deep_research.readers.compressed import open_zip
from deep_research.text.dates import find_date
from deep_research.text.document_builder import LONGEST_TITLE, DocumentBuilder

_DATE_NAMES = (
    "article:published_time", "datepublished", "citation_publication_date", "citation_date", "dc.date.issued",
    "dcterms.date", "dcterms.created", "dc.date", "date", "pubdate", "publish-date", "publication_date",
    "parsely-pub-date",
)  # fmt: skip
_AUTHOR_NAMES = ("citation_author", "author", "dc.creator", "dcterms.creator", "parsely-author")
_TITLE_NAMES = ("citation_title", "og:title", "dc.title", "twitter:title")
_MAX_JSON_LD = 500_000
_TOO_LITTLE = 120


def metadata(root: Element) -> tuple[str, str | None, tuple[str, ...], str]:
    """Return title, date (ISO 8601), authors and description from the head of a page."""
    found: dict[str, list[str]] = {}
    for meta in root.iter("meta"):
        name = (meta.get("property") or meta.get("name") or meta.get("itemprop") or "").lower()
        if name and (content := fold(meta.get("content") or "")):
            found.setdefault(name, []).append(content)
    linked = list(_json_ld(root))
    title, about = _first(found, _TITLE_NAMES) or "", _first(found, ("description", "og:description")) or ""
    return title, _published(found, linked, root), _authors(found, linked), about


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
    return next((date for text in texts if (date := find_date(text))), None)


def _authors(found: dict[str, list[str]], linked: list[dict[str, Any]]) -> tuple[str, ...]:
    stated = [found.get(name, []) for name in _AUTHOR_NAMES]
    for thing in linked:
        authors = thing.get("author")
        listed = [author.get("name") if isinstance(author, dict) else author for author in _as_list(authors)]
        stated.append([str(name or "") for name in listed])
    people = ([name for name in names if name and not name.startswith("http")] for names in stated)
    return tuple(next(filter(None, people), ()))


def _json_ld(root: Element) -> Iterator[dict[str, Any]]:
    """Yield the objects of a page's JSON-LD; graphs and lists are opened one level."""
    for script in root.iter("script"):
        if (script.get("type") or "").lower() != "application/ld+json":
            continue
        try:
            value = json.loads(text_of(script)[:_MAX_JSON_LD])
        except (ValueError, RecursionError):
            continue
        for thing in _as_list(value):
            if isinstance(thing, dict):
                yield from (node for node in _as_list(thing.get("@graph", thing)) if isinstance(node, dict))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


class HtmlReader:
    """A reader of HTML: main text, headings, lists, tables and code, nothing hidden."""

    name = "html"
    suffixes = (".html", ".htm", ".xhtml", ".shtml")
    media_types = ("text/html", "application/xhtml+xml")

    def read(self, data: bytes, *, name: str) -> Document:
        root = tree.parse(data)
        stated, published, authors, about = metadata(root)
        head = next(root.iter("head"), root)
        title = fold(next(map(text_of, head.iter("title")), ""))
        named = next((text for h1 in root.iter("h1") if (text := fold(text_of(h1))) and text in title), "")
        builder = _blocks(root, title)
        if len(builder) < _TOO_LITTLE:
            everything = _blocks(tree.parse(data), "", furniture=False)
            builder = everything if len(everything) > 2 * len(builder) else builder
        if not len(builder):
            builder.paragraph(about)
        document = builder.document(media_type="text/html", published=published, authors=authors)
        return document.model_copy(update={"title": (_title(document, named, title, stated) or name)[:LONGEST_TITLE]})


def _blocks(root: Element, title: str, *, furniture: bool = True) -> DocumentBuilder:
    tree.prune(root, furniture=furniture)
    builder = DocumentBuilder()
    main = tree.main_element(root) if furniture else next(root.iter("body"), root)
    _promote_title(main, title)
    write_blocks(main, builder)
    return builder


def _promote_title(main: Element, title: str) -> None:
    """Make a page's first heading an `h1` if it is its title and no `h1` exists."""
    headings = list(main.iter("h1", "h2", "h3", "h4"))
    first = fold(text_of(headings[0])) if headings else ""
    if first and first in title and all(heading.tag != "h1" for heading in headings):
        headings[0].tag = "h1"


def _title(document: Document, named: str, title: str, stated: str) -> str:
    """Return the top heading if the page's title repeats it, else the head's title.

    `named` is the page's title without the site's name. Of several top headings none names the page.
    """
    top = {heading.title: None for heading in document.headings if heading.level == 1}
    if len(top) < 2 and (named or top) and (named or not title or next(iter(top)).lower() in title.lower()):
        return named or next(iter(top))
    return stated or title or document.title


class EpubReader:
    """Reads EPUB 2 and 3 (https://www.w3.org/TR/epub-33/) without copy protection."""

    name = "epub"
    suffixes = (".epub",)
    media_types = ("application/epub+zip",)

    def read(self, data: bytes, *, name: str) -> Document:
        with open_zip(data, what="EPUB") as book:
            if "META-INF/rights.xml" in book.namelist():
                raise Unreadable("the book is copy-protected")
            folder, package = _package(book)
            builder = DocumentBuilder()
            for path in _spine(folder, package):
                _write_chapter(book, path, builder)
        return builder.document(
            title=_said(package, "title") or name.rsplit(".", 1)[0],
            media_type="application/epub+zip",
            published=find_date(_said(package, "date")),
            authors=[fold(text_of(element)) for element in package.iter("creator")],
        )


def _package(book: zipfile.ZipFile) -> tuple[str, Element]:
    root = _xml(book, "META-INF/container.xml")
    path = next((element.get("full-path") for element in root.iter("rootfile")), None)
    if not path:
        raise Unreadable("the EPUB file names no package document")
    return posixpath.dirname(path), _xml(book, path)


def _xml(book: zipfile.ZipFile, path: str) -> Element:
    try:
        return tree.parse_xml(book.read(path))
    except (KeyError, zipfile.BadZipFile, ValueError, OSError) as error:
        raise Unreadable(f"the EPUB file has no usable {path}") from error


def _spine(folder: str, package: Element) -> Iterator[str]:
    seen: set[str] = set()
    hrefs = {item.get("id"): item.get("href") or "" for item in package.iter("item")}
    for reference in package.iter("itemref"):
        href = hrefs.get(reference.get("idref"))
        if href and href not in seen and reference.get("linear") != "no":
            seen.add(href)
            yield posixpath.normpath(posixpath.join(folder, unquote(href)))


def _write_chapter(book: zipfile.ZipFile, path: str, builder: DocumentBuilder) -> None:
    try:
        root = tree.parse(book.read(path))
    except (KeyError, zipfile.BadZipFile, OSError, Unreadable):
        builder.warn(f"chapter {posixpath.basename(path)} is missing or broken")
        return
    tree.prune(root)
    write_blocks(next(root.iter("body"), root), builder)


def _said(package: Element, name: str) -> str:
    return next((text for element in package.iter(name) if (text := fold(text_of(element)))), "")
