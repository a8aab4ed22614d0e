"""Electronic books (EPUB): the chapters in reading order, through the HTML reader."""

import posixpath
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote

from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers import _html_tree as tree
from deep_research.readers._html_walk import write_blocks
from deep_research.readers.compressed import open_zip
from deep_research.readers.html import iso_date
from deep_research.text.cleaning import fold
from deep_research.text.document_builder import DocumentBuilder

_CONTAINER = "META-INF/container.xml"


class EpubReader:
    """Reads EPUB 2 and 3 (https://www.w3.org/TR/epub-33/) without copy protection."""

    name = "epub"
    suffixes = (".epub",)
    media_types = ("application/epub+zip",)

    def read(self, data: bytes, *, name: str) -> Document:
        """Return all chapters. Raises Unreadable when the book is broken or protected."""
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
            published=iso_date(_said(package, "date")),
            authors=[fold(tree.text_of(element)) for element in package.iter("creator")],
        )


def _package(book: zipfile.ZipFile) -> tuple[str, tree.Element]:
    """The folder of the package document, and its root."""
    root = _xml(book, _CONTAINER)
    path = next((element.get("full-path") for element in root.iter("rootfile")), None)
    if not path:
        raise Unreadable("the EPUB file names no package document")
    return posixpath.dirname(path), _xml(book, path)


def _xml(book: zipfile.ZipFile, path: str) -> tree.Element:
    try:
        return tree.parse_xml(book.read(path))
    except (KeyError, zipfile.BadZipFile, ValueError, OSError) as error:
        raise Unreadable(f"the EPUB file has no usable {path}") from error


def _spine(folder: str, package: tree.Element) -> Iterator[str]:
    """Yield the paths of the chapters in reading order, each once."""
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
    body = root.find(".//body")
    write_blocks(root if body is None else body, builder)


def _said(package: tree.Element, name: str) -> str:
    return next((text for element in package.iter(name) if (text := fold(tree.text_of(element)))), "")
