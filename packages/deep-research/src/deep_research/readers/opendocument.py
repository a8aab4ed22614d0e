"""OpenDocument files: text (ODT), sheets (ODS) and slides (ODP)."""

import zipfile
import zlib
from collections.abc import Iterator

from claimcheck.text.cleaning import fold
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._html_tree import Element, number_in, parse_xml, text_of
from deep_research.readers.compressed import open_zip
from deep_research.readers.data_files import write_sheet
from deep_research.text.document_builder import MAX_COLUMNS, TOO_WIDE, DocumentBuilder

_KINDS = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
_MEDIA = "application/vnd.oasis.opendocument."
_UNSEEN = frozenset(
    "annotation tracked-changes sequence-decls forms table-of-content note-citation page-number".split()
)
_BREAKS = {"s": " ", "tab": "\t", "line-break": "\n"}
_MOST_ROWS = 1_000  # that one row with text is repeated


class OpenDocumentReader:
    """A reader of ODT, ODS and ODP: headings, lists, tables, notes; sheets as shown."""

    name = "opendocument"
    suffixes = (".odt", ".ott", ".ods", ".ots", ".odp", ".otp")
    media_types = tuple(f"{_MEDIA}{kind}" for kind in _KINDS)

    def read(self, data: bytes, *, name: str) -> Document:
        with open_zip(data, what="OpenDocument") as container:
            if b"encryption-data" in _part(container, "META-INF/manifest.xml"):
                raise Unreadable("encrypted; a password is needed")
            try:
                body = next(parse_xml(_part(container, "content.xml")).iter("body"), None)
                about = parse_xml(_part(container, "meta.xml") or b"<meta/>")
            except ValueError as error:
                raise Unreadable("the OpenDocument file is broken") from error
        if body is None or not len(body):
            raise Unreadable("the OpenDocument file has no content")
        builder = DocumentBuilder()
        _write(body[0], builder)
        said = {element.tag: fold(text_of(element)) for element in about.iter()}
        return builder.document(
            name=name,
            title=said.get("title", ""),
            media_type=f"{_MEDIA}{body[0].tag}",
            authors=[said.get("creator") or said.get("initial-creator") or ""],
        )


def _part(container: zipfile.ZipFile, path: str) -> bytes:
    try:
        return container.read(path)
    except KeyError:
        return b""
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError) as error:
        raise Unreadable("the OpenDocument file is broken") from error


def _write(element: Element, builder: DocumentBuilder, depth: int = -1) -> None:
    """Write the blocks below an element; `depth` is its list's, -1 outside of lists."""
    pages = 0
    for child in element:
        tag = child.tag
        if tag in _UNSEEN or not isinstance(tag, str):
            continue
        if tag == "h":
            builder.heading(number_in(_attribute(child, "outline-level")), _line(child))
        elif tag == "p":
            builder.item(_line(child), depth=depth) if depth >= 0 else builder.paragraph(_line(child))
            for inside in _beside(child):
                _write(inside, builder)
        elif tag == "table":
            name, is_sheet = _attribute(child, "name"), element.tag == "spreadsheet"
            write_sheet(name, _rows(child, builder), builder) if is_sheet else builder.table(_rows(child, builder))
        elif tag == "page":
            pages += 1
            builder.page(pages)
            _write_slide(child, pages, builder)
        else:
            _write(child, builder, depth + (tag == "list"))


def _write_slide(page: Element, number: int, builder: DocumentBuilder) -> None:
    titles = [frame for frame in page.iter("frame") if _attribute(frame, "class") == "title"]
    builder.heading(2, " ".join(fold(text_of(frame)) for frame in titles) or f"Slide {number}")
    for frame in titles:
        frame.getparent().remove(frame)
    _write(page, builder)


def _beside(element: Element) -> Iterator[Element]:
    """Yield the notes and text boxes of a paragraph, none that stands inside another."""
    for child in element:
        if child.tag in ("note-body", "text-box"):
            yield child
        else:
            yield from _beside(child)


def _rows(table: Element, builder: DocumentBuilder) -> Iterator[list[str]]:
    """Yield the rows of a table; one within a cell is part of the cell's text."""
    for row in table.iter("table-row"):
        if next(row.iterancestors("table")) is not table:
            continue
        cells: list[str] = []
        for cell in row.iterchildren("table-cell", "covered-table-cell"):
            text = "\n".join(map(_line, cell.iter("p", "h"))) or _attribute(cell, "value")
            count, room = number_in(_attribute(cell, "number-columns-repeated")), MAX_COLUMNS - len(cells)
            cells += [text] * min(count, room)
            if text and count > room:
                builder.warn(TOO_WIDE)
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            for _ in range(min(number_in(_attribute(row, "number-rows-repeated")), _MOST_ROWS)):
                yield cells


def _attribute(element: Element, name: str) -> str:
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")


def _line(element: Element) -> str:
    """Return a paragraph's text with its blanks and breaks, without notes beside it."""
    pieces = [element.text or ""]
    for child in element:
        if child.tag in _BREAKS:
            pieces.append(_BREAKS[child.tag])
        elif child.tag not in (*_UNSEEN, "note-body", "frame") and isinstance(child.tag, str):
            pieces.append(_line(child))
        pieces.append(child.tail or "")
    return "".join(pieces)
