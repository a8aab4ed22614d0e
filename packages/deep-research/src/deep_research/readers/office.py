"""Office files: Word (DOCX), PowerPoint (PPTX) and Excel (XLSX)."""

import io
import posixpath
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import cache, partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

from claimcheck.lexicon import any_word
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._html_tree import parse_xml, text_of
from deep_research.readers.compressed import open_zip
from deep_research.readers.data_files import write_sheet
from deep_research.text.document_builder import MAX_COLUMNS, TOO_WIDE, DocumentBuilder

_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ID = f"{_W}id"
_APART = ("footnotes", "endnotes", "header", "footer")
_BLOCKS = ("p", "tbl", "tr", "tc")
_BESIDE = ("tbl", "txbxContent", "footnoteReference", "endnoteReference")
_UNSEEN = ("del", "moveFrom", "Fallback", "pPr", "rPr", "sdtPr", "rt")
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "p": "\n", "noBreakHyphen": "-"}
_HEADING = re.compile(rf"{any_word('document.heading_styles')}\s*(\d)", re.IGNORECASE)
_LIST = re.compile(r"list|aufzählung|bullet", re.IGNORECASE)
_PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_STYLES, _TYPES = "xl/styles.xml", "[Content_Types].xml"
_ODD_MAIN = re.compile(
    rb"application/vnd\.(?:ms-(?:word|powerpoint)\.\w+\.macroEnabled\w*"
    rb"|openxmlformats-officedocument\.(?:wordprocessingml|presentationml)\.(?:template|slideshow))\.main\+xml"
)
"""What the main part of a document is called that has macros, or is a template or a show: the libraries refuse it."""
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/\2"
_MAX_COLUMNS = 200
_MAX_SHEETS = 300
_MAX_EMPTY_ROWS = 20_000  # one after another, after which a sheet is taken to be at its end
_MOST_FORMATTED, _MOST_SHOWN, _LONGEST_FORMAT = 1e15, 10**18, 255
"""Numbers from here on have more digits than are stored, and than can be rounded; characters that a format may have."""
_MAX_EMPTY_CELLS = 100_000  # of which it is looked up whether they are formulas
_MAX_MERGED = 20_000
_FORMAT = re.compile(r"([#0?][#0?.,]*)|\"([^\"]*)\"|\\(.)|\[\$([^\[\]-]*+)[^\[\]]*+\]|\[[^\[\]]*+\]|[_*].|([ $€£¥%])")
"""A format of numbers (ECMA-376, 18.8.31): places of digits, words, a currency of a locale; what is not shown; signs."""


@contextmanager
def _opened(data: bytes, what: str, media_type: str) -> Iterator[io.BytesIO]:
    """Open a file for the library of a format; raise Unreadable if that fails."""
    open_zip(data, what=what).close()
    try:
        yield _mended(data, media_type)
    except Exception as error:  # the libraries pass on whatever XML, ZIP or lookup failed
        raise Unreadable(f"the {what} file is broken") from error


def _mended(data: bytes, media_type: str) -> io.BytesIO:
    """Return a container mended for the libraries that read it.

    It is without relations to parts that it lacks (`../NULL`); of a plain `media_type`, without macros, template or
    Strict Open XML; and of the styles of a workbook it has the formats of numbers alone: one odd value stops a library.
    """
    etree: Any = import_module("lxml.etree")
    parser = etree.XMLParser(resolve_entities=False, recover=True)
    stream = io.BytesIO(data)
    with ZipFile(stream, "a") as container:
        names = container.namelist()
        is_strict = "_rels/.rels" in names and _STRICT.search(container.read("_rels/.rels")) is not None
        for name in names:
            if not (name.endswith(".rels") or name in (_STYLES, _TYPES) or (is_strict and name.endswith(".xml"))):
                continue
            before = container.read(name)
            part = _STRICT.sub(_TRANSITIONAL, before) if is_strict else before
            if name == _TYPES:
                part = _ODD_MAIN.sub(f"{media_type}.main+xml".encode(), part)
            elif name.endswith(".rels") or name == _STYLES:
                root = etree.fromstring(part, parser)
                change = _keep_formats if name == _STYLES else partial(_drop_dangling, name, {f"/{n}" for n in names})
                part = etree.tostring(root) if root is not None and change(root) else part
            if part != before:
                container.NameToInfo.pop(name, None)  # of two parts of a name the later counts
                container.writestr(name, part)
    return stream


def _drop_dangling(name: str, parts: set[str], relations: Any) -> bool:
    """Remove relations to missing parts from part `name`; return whether any were."""
    folder = posixpath.dirname(posixpath.dirname(f"/{name}"))
    dangling = [
        each
        for each in relations.iterchildren("{*}Relationship")
        if each.get("TargetMode") != "External"
        and posixpath.normpath(posixpath.join(folder, each.get("Target", ""))) not in parts
    ]
    for each in dangling:
        relations.remove(each)
    return bool(dangling)


def _keep_formats(styles: Any) -> bool:
    for part in list(styles):
        if _name(part) not in ("numFmts", "cellXfs"):
            styles.remove(part)
    for style in styles.iterfind("{*}cellXfs/{*}xf"):
        number = style.get("numFmtId", "0")
        style.clear()
        style.set("numFmtId", number)
    return True


class DocxReader:
    """A reader of DOCX with changes accepted; notes and boxes follow their block."""

    name = "docx"
    suffixes = (".docx", ".docm", ".dotx")
    media_types = (_DOCX,)

    def read(self, data: bytes, *, name: str) -> Document:
        import docx  # noqa: PLC0415 - heavy
        from docx.enum.style import WD_STYLE_TYPE  # noqa: PLC0415 - heavy
        from docx.oxml import parse_xml as parse_part  # noqa: PLC0415 - heavy

        with _opened(data, "DOCX", _DOCX) as stream:
            file = docx.Document(stream)
            builder, notes = DocumentBuilder(), {}
            for relation in file.part.rels.values():
                kind = relation.reltype.rpartition("/")[2]
                if kind in _APART:
                    part = parse_part(relation.target_part.blob)
                    notes.update(
                        {(f"{kind.removesuffix('s')}Reference", note.get(_ID)): note for note in part.iterchildren("*")}
                    )
                    if kind in ("header", "footer") and any(map(str.isalpha, _words(part, []))):
                        builder.warn("the headers and footers of its pages were not read")

            @cache  # a document has few styles, and the library looks through all of them
            def style_named(key: str | None) -> str:
                return file.part.get_style(key, WD_STYLE_TYPE.PARAGRAPH).name or ""

            _write_blocks(_children(file.element.body), style_named, notes, builder)
            about = _about(file)
            titles = (_words(p, []) for p in file.element.body.p_lst if style_named(p.style) == "Title")
            about["title"] = about["title"] or next(titles, "")
        return builder.document(name=name, media_type=_DOCX, **about)


def _about(file: Any) -> dict[str, Any]:
    """Return title and authors of a file; its own dates do not date its content."""
    about = file.core_properties
    title = "" if about.title == "PowerPoint Presentation" else about.title or ""
    return {"title": title, "authors": (about.author or "").split(";")}


def _children(parent: Any) -> Iterator[Any]:
    """Yield child paragraphs, tables, rows or cells, also in controls and insertions."""
    for child in parent.iterchildren("*"):
        if _name(child) in _BLOCKS:
            yield child
        elif not _is_unseen(child):
            yield from _children(child)


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2]


def _is_unseen(element: Any) -> bool:
    """Return whether an element is deleted, repeated, contents or a placeholder."""
    if _name(element) != "sdt":
        return _name(element) in _UNSEEN
    about = element.iterfind("{*}sdtPr//*")
    return any(_name(each) == "showingPlcHdr" or each.get(f"{_W}val") == "Table of Contents" for each in about)


def _words(element: Any, beside: list[Any]) -> str:
    """Return the words of a paragraph or cell; put boxes, tables, notes in `beside`."""
    pieces: list[str] = []
    for child in element.iterchildren("*"):
        name = _name(child)
        if name in _BESIDE:
            beside.append(child)
        elif name == "t":
            pieces.append(child.text or "")
        elif not _is_unseen(child):
            pieces += [_words(child, beside), _SIGNS.get(name, "")]
    return "".join(pieces)


def _write_blocks(
    blocks: Iterable[Any], style_named: Callable[[str | None], str], notes: dict[Any, Any], builder: DocumentBuilder
) -> None:
    """Write paragraphs and tables, and each of `notes` once, where it is referred to."""
    for block in blocks:
        beside: list[Any] = []
        if _name(block) == "tbl":
            rows: list[list[str]] = []
            for row in _children(block):
                rows.append(_row_cells(row, rows[-1] if rows else [], beside, builder))
            builder.table(rows)
        else:
            _write_paragraph(block, style_named(block.style), _words(block, beside), builder)
        for found in beside:
            inside = notes.pop((_name(found), found.get(_ID)), found)
            _write_blocks([found] if _name(found) == "tbl" else _children(inside), style_named, notes, builder)


def _write_paragraph(paragraph: Any, style: str, text: str, builder: DocumentBuilder) -> None:
    lists = paragraph.iterfind("{*}pPr/{*}numPr")
    level = next((each.ilvl.val if each.ilvl is not None else 0 for each in lists), None)
    if style.lower() == "title":
        builder.heading(1, text)
    elif match := _HEADING.match(style):
        builder.heading(int(match.group(1)), text)
    elif level is not None or _LIST.search(style):
        builder.item(text, depth=level or 0)
    else:
        for line in text.split("\n"):
            builder.paragraph(line)


def _row_cells(row: Any, above: list[str], beside: list[Any], builder: DocumentBuilder) -> list[str]:
    """Return a row's texts by column, cut at a width; repeat what spans rows."""
    cells = [""] * (row.grid_before if row.grid_before < MAX_COLUMNS else 0)
    elements = _children(row)
    for element in elements:
        column = len(cells)
        goes_on = element.vMerge == "continue" and column < len(above)
        cells.append(above[column] if goes_on else _words(element, beside))
        cells += [""] * (min(element.grid_span, MAX_COLUMNS) - 1)
        if len(cells) >= MAX_COLUMNS:
            break
    if any(_words(element, []).strip() for element in elements):
        builder.warn(TOO_WIDE)
    return cells[:MAX_COLUMNS]


class PptxReader:
    """Reads PPTX: titles as headings, text, tables and speaker notes of every slide."""

    name = "pptx"
    suffixes = (".pptx", ".pptm", ".potx")
    media_types = (_PPTX,)

    def read(self, data: bytes, *, name: str) -> Document:
        import pptx  # noqa: PLC0415 - heavy

        with _opened(data, "PPTX", _PPTX) as stream:
            file = pptx.Presentation(stream)
            builder = DocumentBuilder()
            for number, slide in enumerate(file.slides, start=1):
                builder.page(number)
                _write_slide(slide, number, builder)
            about = _about(file)
        return builder.document(name=name, media_type=_PPTX, **about)


def _write_slide(slide: Any, number: int, builder: DocumentBuilder) -> None:
    title = slide.shapes.title
    heading = title.text_frame.text.strip() if title is not None else ""
    builder.heading(2, heading or f"Slide {number}")
    for shape in _shapes(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if getattr(shape, "has_table", False) and shape.has_table:
            builder.table([[cell.text for cell in row.cells] for row in shape.table.rows])
        elif shape.has_chart:
            _write_chart(parse_xml(shape.chart.part.blob), number, builder)
        elif shape.has_text_frame:
            _write_text(shape.text_frame, builder)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        for line in slide.notes_slide.notes_text_frame.text.split("\n"):
            builder.paragraph(line)


def _write_chart(chart: Any, number: int, builder: DocumentBuilder) -> None:
    """Write a chart's stored values as tables, one for all series of the same labels."""
    builder.paragraph(" ".join(each.text or "" for each in chart.iterfind("chart/title//*") if each.tag in ("t", "v")))
    tables: dict[tuple[tuple[str, str], ...], list[tuple[str, dict[str, str]]]] = {}
    for series in chart.iter("ser"):
        labels = _points(series.find("cat") if series.find("xval") is None else series.find("xval"))
        name = " ".join(each.text or "" for each in series.iterfind("tx//v"))
        for values in series.iterchildren("val", "yval", "bubblesize"):
            tables.setdefault(tuple(labels.items()), []).append((name, _points(values)))
    for labels, columns in tables.items():
        places = dict(labels) or dict.fromkeys((place for _, points in columns for place in points), "")
        rows = [[label, *(points.get(place, "") for _, points in columns)] for place, label in places.items()]
        builder.table([["", *(name for name, _ in columns)], *rows])
    if not any(points for columns in tables.values() for _, points in columns):
        builder.warn(f"a chart of slide {number} has no stored values")


def _points(data: Any) -> dict[str, str]:
    """Return a series' labels or values by place, as their format shows them."""
    from openpyxl.styles.numbers import is_date_format  # noqa: PLC0415 - heavy
    from openpyxl.utils.datetime import from_excel  # noqa: PLC0415 - heavy

    points: dict[str, str] = {}
    for point in data.iter("pt") if data is not None else ():
        text, style = text_of(point), point.get("formatcode") or point.getparent().findtext("formatcode") or ""
        with suppress(ValueError, OverflowError):  # labels are words, and a value may be "#N/A"
            if point.getparent().tag == "numcache":
                value = from_excel(float(text)) if is_date_format(style) else float(text)
                text = _shown(value, SimpleNamespace(number_format=style))
        points[point.get("idx", "")] = f"{text} {points.get(point.get('idx', ''), '')}".strip()
    return points


def _shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _write_text(frame: Any, builder: DocumentBuilder) -> None:
    paragraphs = [paragraph for paragraph in frame.paragraphs if paragraph.text.strip()]
    if len(paragraphs) == 1:
        builder.paragraph(paragraphs.pop().text)
    for paragraph in paragraphs:
        builder.item(paragraph.text, depth=paragraph.level)


class XlsxReader:
    """Reads XLSX: the values that were last calculated, not the formulas."""

    name = "xlsx"
    suffixes = (".xlsx", ".xlsm", ".xltx")
    media_types = (_XLSX,)

    def read(self, data: bytes, *, name: str) -> Document:
        import openpyxl  # noqa: PLC0415 - heavy

        builder = DocumentBuilder()
        with _opened(data, "XLSX", _XLSX) as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of every extension that it does not know
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            for sheet in book.worksheets[:_MAX_SHEETS]:
                sheet.reset_dimensions()  # the size that the file states may be wrong, and this mode believes it
                empty: set[tuple[int, int]] = set()
                name_shown = sheet.title if sheet.sheet_state == "visible" else f"{sheet.title} (hidden sheet)"
                write_sheet(name_shown, _rows(sheet, builder, empty), builder)
                _warn_of_formulas(data, sheet.title, empty, builder)
            if len(book.worksheets) > _MAX_SHEETS:
                builder.warn(f"only the first {_MAX_SHEETS} of {len(book.worksheets)} sheets were read")
            about = book.properties
            book.close()
        return builder.document(
            title=about.title or name.rsplit(".", 1)[0],
            media_type=_XLSX,
            authors=(about.creator or "").replace("openpyxl", "").split(";"),
        )


def _warn_of_formulas(data: bytes, title: str, empty: set[tuple[int, int]], builder: DocumentBuilder) -> None:
    """Warn how many of the `empty` cells (row, column) of a sheet hold formulas."""
    import openpyxl  # noqa: PLC0415 - heavy

    if not empty:
        return
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True)
    sheet = book[title]
    sheet.reset_dimensions()
    rows = sheet.iter_rows(max_row=max(row for row, _ in empty), max_col=_MAX_COLUMNS)
    count = sum(cell.data_type == "f" and (cell.row, cell.column) in empty for row in rows for cell in row)
    book.close()
    if count:
        builder.warn(f"{count} formulas of sheet {title!r} have no stored value: save it once in a spreadsheet program")


def _merged(sheet: Any) -> dict[int, list[tuple[int, int]]]:
    """Return cells that span rows: (column, last row) by their first row."""
    from openpyxl.utils import range_boundaries  # noqa: PLC0415 - heavy

    with sheet._get_source() as source:
        end = b"".join(deque(iter(lambda: source.read(1 << 20), b""), maxlen=2)).replace(b"'", b'"')
    found: dict[int, list[tuple[int, int]]] = {}
    for piece in end.rpartition(b"sheetData>")[2].split(b"mergeCell ")[1:_MAX_MERGED]:
        left, top, _, bottom = range_boundaries(piece.partition(b'ref="')[2].partition(b'"')[0].decode())
        if left and top and bottom and left <= _MAX_COLUMNS and bottom > top:
            found.setdefault(top, []).append((left - 1, bottom))
    return found


def _rows(sheet: Any, builder: DocumentBuilder, without: set[tuple[int, int]]) -> Iterator[list[str]]:
    """Yield the rows of a sheet; add stored cells without a value to `without`."""
    empty = 0
    merged, held = _merged(sheet), {}
    for number, wide in enumerate(sheet.iter_rows(max_col=_MAX_COLUMNS + 1), start=1):
        row = wide[:_MAX_COLUMNS]
        if any(cell.value is not None for cell in wide[_MAX_COLUMNS:]):
            builder.warn(f"only the first {_MAX_COLUMNS} columns of sheet {sheet.title!r} were read")
        if len(without) < _MAX_EMPTY_CELLS:  # a stored text without a letter is of the type "str"
            there = (cell for cell in row if cell.value is None and cell.data_type == "n" and hasattr(cell, "row"))
            without.update((cell.row, cell.column) for cell in there)
        cells = [_shown(cell.value, cell) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        held.update({column: (last, "".join(cells[column : column + 1])) for column, last in merged.get(number, ())})
        for column, (last, text) in held.items():
            if cells and text and number <= last:
                cells += [""] * (column + 1 - len(cells))
                cells[column] = cells[column] or text
        empty = 0 if cells else empty + 1
        if cells:
            yield cells
        elif empty > _MAX_EMPTY_ROWS:
            builder.warn(f"what follows {_MAX_EMPTY_ROWS} empty rows of sheet {sheet.title!r} was not read")
            return


def _shown(value: Any, cell: Any) -> str:
    """Return a value as people see it: 3 for 3.0, no time of 0:00, number formats."""
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if shown := _formatted(value, cell.number_format):
            return shown
        group = "," if "#,##" in cell.number_format else ""
        is_whole = isinstance(value, int) or (value.is_integer() and abs(value) < 1e15)
        return f"{int(value):{group}d}" if is_whole else f"{value:{group}.12g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    return str(value)


def _formatted(value: float, number_format: str) -> str:
    """Return a number as its format shows it; "" for a format without words or signs."""
    before = after = digits = ""
    percents = 0
    for found in _FORMAT.finditer(number_format.partition(";")[0][:_LONGEST_FORMAT]):
        digits = digits or found[1] or ""
        percents += found[5] == "%"
        word = found[2] or found[3] or found[4] or found[5] or ""
        before, after = (before, after + word) if digits else (before + word, after)
    if not digits or not (before + after).strip() or not abs(value) < _MOST_FORMATTED:
        return ""
    whole, _, places = digits.partition(".")
    thousands = len(digits) - len(digits.rstrip(","))
    number = Decimal(repr(value)).scaleb(2 * percents - 3 * thousands)
    if not abs(number) < _MOST_SHOWN:
        return ""
    number = number.quantize(Decimal(1).scaleb(-min(len(places.rstrip(",")), 9)), ROUND_HALF_UP)
    group = "," if "," in whole.rstrip(",") else ""
    units, point, rest = f"{abs(number):{group}f}".partition(".")
    units = units if group else units.zfill(whole.count("0"))
    return f"{'-' * (number < 0)}{before}{units}{point}{rest}{after}".strip()
