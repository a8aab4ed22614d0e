"""Office files: Word documents (DOCX), presentations (PPTX; slides are pages) and spreadsheets (XLSX; a heading and a
table for each sheet).
"""

import io
import re
import warnings
from collections.abc import Iterator
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from claimcheck.lexicon import any_word
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers.compressed import open_zip
from deep_research.readers.data_files import write_sheet
from deep_research.text.document_builder import MAX_COLUMNS, DocumentBuilder

_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_HEADING = re.compile(rf"{any_word('document.heading_styles')}\s*(\d)", re.IGNORECASE)
_LIST = re.compile(r"list|aufzählung|bullet", re.IGNORECASE)
_PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MAX_COLUMNS = 200
_MAX_SHEETS = 300
_MAX_EMPTY_ROWS = 20_000
"""Rows without a value, one after another, after which a sheet is taken to be at its end."""
_MOST_FORMATTED = 1e15
"""Numbers from here on have more digits than are stored."""
_MAX_EMPTY_CELLS = 100_000
"""Cells without a value, of which it is looked up whether they are formulas."""
_FORMAT = re.compile(r"([#0?][#0?.,]*)|\"([^\"]*)\"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|([ $€£¥%])")
"""A format of numbers (ECMA-376, 18.8.31): places of digits, words, a currency of a locale; what is not shown; signs."""


class DocxReader:
    """Reads DOCX: headings by style, lists and tables in place; headers and footers are left out."""

    name = "docx"
    suffixes = (".docx", ".docm", ".dotx")
    media_types = (_DOCX,)

    def read(self, data: bytes, *, name: str) -> Document:
        """Return the body of the document. Raises Unreadable when it is broken or encrypted."""
        import docx  # noqa: PLC0415 - heavy

        open_zip(data, what="DOCX").close()
        try:
            file = docx.Document(io.BytesIO(data))
            builder = DocumentBuilder()
            for block in file.iter_inner_content():
                _write_table(block, builder) if hasattr(block, "rows") else _write_paragraph(block, builder)
            about = _about(file)
            titles = (block.text for block in file.paragraphs if getattr(block.style, "name", "") == "Title")
            about["title"] = about["title"] or next(titles, "")
        except Exception as error:  # python-docx passes on whatever XML, ZIP or lookup failed
            raise Unreadable("the DOCX file is broken") from error
        return builder.document(name=name, media_type=_DOCX, **about)


def _about(file: Any) -> dict[str, Any]:
    """Return title and authors of a file. When it was made or saved is no date of what it says."""
    about = file.core_properties
    title = "" if about.title == "PowerPoint Presentation" else about.title or ""
    return {"title": title, "authors": (about.author or "").split(";")}


def _write_paragraph(paragraph: Any, builder: DocumentBuilder) -> None:
    text = paragraph.text
    style = getattr(paragraph.style, "name", "") or ""
    level = _list_level(paragraph)
    if style.lower() == "title":
        builder.heading(1, text)
    elif match := _HEADING.match(style):
        builder.heading(int(match.group(1)), text)
    elif level is not None or _LIST.search(style):
        builder.item(text, depth=level or 0)
    else:
        for line in text.split("\n"):
            builder.paragraph(line)


def _list_level(paragraph: Any) -> int | None:
    """The depth of a numbered or bulleted paragraph, None for others."""
    properties = paragraph._p.pPr
    numbering = properties.numPr if properties is not None else None
    if numbering is None:
        return None
    return numbering.ilvl.val if numbering.ilvl is not None else 0


def _write_table(table: Any, builder: DocumentBuilder) -> None:
    rows: list[list[str]] = []
    for row in table.rows:
        rows.append(_row_cells(row, table, rows[-1] if rows else []))
    builder.table(rows)


def _row_cells(row: Any, table: Any, above: list[str]) -> list[str]:
    """Return the texts of a row by column: one that spans columns stands in the first, one that spans rows in each.

    The file may name any number of columns, so that a row is cut at the width that a table may have.
    """
    from docx.table import _Cell  # noqa: PLC0415 - heavy

    cells: list[str] = []
    for element in row._tr.tc_lst[:MAX_COLUMNS]:
        column = len(cells)
        goes_on = element.vMerge == "continue" and column < len(above)
        cells.append(above[column] if goes_on else _Cell(element, table).text)
        cells += [""] * (min(element.grid_span, MAX_COLUMNS) - 1)
        if len(cells) >= MAX_COLUMNS:
            break
    return cells[:MAX_COLUMNS]


class PptxReader:
    """Reads PPTX: titles as headings, text, tables and speaker notes of every slide."""

    name = "pptx"
    suffixes = (".pptx", ".pptm", ".potx")
    media_types = (_PPTX,)

    def read(self, data: bytes, *, name: str) -> Document:
        """Return the text of all slides. Raises Unreadable when the file is broken or encrypted."""
        import pptx  # noqa: PLC0415 - heavy

        open_zip(data, what="PPTX").close()
        try:
            file = pptx.Presentation(io.BytesIO(data))
            builder = DocumentBuilder()
            for number, slide in enumerate(file.slides, start=1):
                builder.page(number)
                _write_slide(slide, number, builder)
            about = _about(file)
        except Exception as error:  # python-pptx passes on whatever XML, ZIP or lookup failed
            raise Unreadable("the PPTX file is broken") from error
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
        elif shape.has_text_frame:
            _write_text(shape.text_frame, builder)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        for line in slide.notes_slide.notes_text_frame.text.split("\n"):
            builder.paragraph(line)


def _shapes(shapes: Any) -> Iterator[Any]:
    """Yield all shapes, those of groups too."""
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
        """Return all sheets. Raises Unreadable when the file is broken or encrypted."""
        import openpyxl  # noqa: PLC0415 - heavy

        open_zip(data, what="XLSX").close()
        builder = DocumentBuilder()
        try:
            with warnings.catch_warnings():  # openpyxl warns of every extension that it does not know
                warnings.simplefilter("ignore")
                book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
                for sheet in book.worksheets[:_MAX_SHEETS]:
                    sheet.reset_dimensions()  # the size that the file states may be wrong, and this mode believes it
                    empty: set[tuple[int, int]] = set()
                    write_sheet(sheet.title, _rows(sheet, builder, empty), builder)
                    _warn_of_formulas(data, sheet.title, empty, builder)
                if len(book.worksheets) > _MAX_SHEETS:
                    builder.warn(f"only the first {_MAX_SHEETS} of {len(book.worksheets)} sheets were read")
                about = book.properties
                book.close()
        except Exception as error:  # openpyxl passes on whatever XML, ZIP or lookup failed
            raise Unreadable("the XLSX file is broken") from error
        return builder.document(
            title=about.title or name.rsplit(".", 1)[0],
            media_type=_XLSX,
            authors=(about.creator or "").replace("openpyxl", "").split(";"),
        )


def _warn_of_formulas(data: bytes, title: str, empty: set[tuple[int, int]], builder: DocumentBuilder) -> None:
    """Tell how many of the `empty` cells (row, column) of a sheet are formulas: programs write them without values."""
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


def _rows(sheet: Any, builder: DocumentBuilder, without: set[tuple[int, int]]) -> Iterator[list[str]]:
    """Yield the rows of a sheet; cells that are there and have no value go into `without`."""
    empty = 0
    for row in sheet.iter_rows(max_col=_MAX_COLUMNS):
        if len(without) < _MAX_EMPTY_CELLS:  # a stored text without a letter is of the type "str"
            there = (cell for cell in row if cell.value is None and cell.data_type == "n" and hasattr(cell, "row"))
            without.update((cell.row, cell.column) for cell in there)
        cells = [_shown(cell.value, cell) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        empty = 0 if cells else empty + 1
        if cells:
            yield cells
        elif empty > _MAX_EMPTY_ROWS:
            builder.warn(f"what follows {_MAX_EMPTY_ROWS} empty rows of sheet {sheet.title!r} was not read")
            return


def _shown(value: Any, cell: Any) -> str:
    """A value as a person would see it: 3 for 3.0, a date without a time of 0:00, what its format shows with a number."""
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
    """Return a number with the words and signs of its format, and as many places; "" where it has none."""
    before = after = digits = ""
    percents = 0
    for found in _FORMAT.finditer(number_format.partition(";")[0]):
        digits = digits or found[1] or ""
        percents += found[5] == "%"
        word = found[2] or found[3] or found[4] or found[5] or ""
        before, after = (before, after + word) if digits else (before + word, after)
    if not digits or not (before + after).strip() or not abs(value) < _MOST_FORMATTED:
        return ""
    whole, _, places = digits.partition(".")
    thousands = len(digits) - len(digits.rstrip(","))
    number = Decimal(repr(value)).scaleb(2 * percents - 3 * thousands)
    number = number.quantize(Decimal(1).scaleb(-min(len(places.rstrip(",")), 9)), ROUND_HALF_UP)
    group = "," if "," in whole.rstrip(",") else ""
    units, point, rest = f"{abs(number):{group}f}".partition(".")
    units = units if group else units.zfill(whole.count("0"))
    return f"{'-' * (number < 0)}{before}{units}{point}{rest}{after}".strip()
