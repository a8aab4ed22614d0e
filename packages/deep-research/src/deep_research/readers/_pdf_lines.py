"""The lines of a PDF page by PDFium: places, raised digits, links and cells."""

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from ctypes import byref, c_float, c_int, create_string_buffer
from itertools import groupby, product
from typing import Any, NamedTuple

from claimcheck.text.cleaning import clean
from deep_research.text.document_builder import LINK_END, MAX_COLUMNS, DocumentBuilder
from deep_research.text.raised_digits import RAISED_DIGITS, TO_PLAIN, TO_RAISED, is_power

_LIGATURES = re.compile("[\ufb00-\ufb06\uff21-\uff5a\uff10-\uff19]")
_DIGITS = re.compile(r"\d+")
_RAISED_NUMBER = re.compile(f"[{RAISED_DIGITS}]{{1,3}}")
_NOTE = re.compile(rf"(?:\d{{1,3}}(?=\s)|[{RAISED_DIGITS}]{{1,3}})(?=\s*\S)")
_APART = 1.5  # of the size of a letter: how far below the line above the first note begins
_RAISED, _SMALLER = 0.15, 0.92  # of the height of a letter: how much higher a raised digit stands, and is at most
MOST_LINKS, _LONGEST_ADDRESS, _TALLEST, _MOST_IN_ROW = 20_000, 2_000, 100, 50
"""Links of a file that are looked at, bytes of an address, points of height of a link, and links at one height of a page."""
_MOST_ELEMENTS, _LONGEST_NAME = 50_000, 64


class Cell(NamedTuple):
    """A table cell of a page, all from 1; `rows` it spans, `heads` if in a header."""

    table: int = 0
    row: int = 0
    column: int = 0
    rows: int = 1
    heads: bool = False


class Line(NamedTuple):
    """One line, its box in points from the lower left corner, and its font `size`.

    `linked` is its text with the signs of links in it, "" where it has none.
    """

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float
    linked: str = ""
    cell: Cell | None = None


class Area(NamedTuple):
    """Where words stand that lead elsewhere, in points, and the sign of their link."""

    left: float
    bottom: float
    right: float
    top: float
    sign: str


def page_lines(pdf: Any, number: int, builder: DocumentBuilder, left: Iterator[int]) -> list[Line]:
    """Return the lines of page `number` (from 0), in the reading order of the file."""
    with closing(pdf[number]) as page, closing(page.get_textpage()) as text_page:
        areas = _by_height(_linked_areas(pdf, page, builder, left))
        lines = _with_notes(list(_lines(text_page, areas, _table_cells(page))))
    begins: dict[int, int] = {}  # of tables: their cells are drawn in any order
    places = [begins.setdefault(line.cell.table, n) if line.cell else n for n, line in enumerate(lines)]
    return [lines[place] for place in sorted(range(len(lines)), key=places.__getitem__)]


def _linked_areas(pdf: Any, page: Any, builder: DocumentBuilder, left: Iterator[int]) -> Iterator[Area]:
    """Yield the areas of a page's web links, kept by `builder`, at most `left` links."""
    from pypdfium2 import raw  # noqa: PLC0415 - heavy

    place, link, box, address = c_int(), raw.FPDF_LINK(), raw.FS_RECTF(), create_string_buffer(_LONGEST_ADDRESS)
    while raw.FPDFLink_Enumerate(page, byref(place), byref(link)) and next(left, None) is not None:
        action = raw.FPDFLink_GetAction(link)
        size = raw.FPDFAction_GetURIPath(pdf, action, address, len(address)) if action else 0
        written = address.value.decode("utf-8", "replace").strip() if 0 < size <= len(address) else ""
        leads_out = written.lower().startswith(("http://", "https://")) and len(written.split()) == 1
        if leads_out and raw.FPDFLink_GetAnnotRect(link, byref(box)):
            sign = builder.link_start(written)
            yield Area(box.left, min(box.bottom, box.top), box.right, max(box.bottom, box.top), sign)


def _by_height(areas: Iterable[Area]) -> dict[int, list[Area]]:
    """Return areas by each whole point of height they cover, only the first of each."""
    rows: dict[int, list[Area]] = defaultdict(list)
    for area in areas:
        for height in range(int(area.bottom), int(area.top) + 1) if 0 < area.top - area.bottom < _TALLEST else ():
            if len(rows[height]) < _MOST_IN_ROW:
                rows[height].append(area)
    return rows


def _lines(text_page: Any, areas: Mapping[int, Sequence[Area]], cells: Mapping[int, Cell]) -> Iterator[Line]:
    text, heights = text_page.get_text_range(), sorted(areas)
    # PDFium's character indices run over its own text, in which a line ends with \r\n.
    for whole in re.finditer(r"[^\n]+", text):
        for start, words, cell in _by_cell(text_page, *whole.span(), text, cells):
            content = _with_raised_digits(text_page, start, words)
            level = content.strip(RAISED_DIGITS) or content  # what is raised tells nothing of how high a line stands
            box = _box(text_page, start + content.index(level), len(level))
            above = bisect_left(heights, box[3] - box[4])  # a raised number stands higher than its line
            is_near = above < len(heights) and heights[above] <= box[2] + box[4]
            linked = _with_signs(text_page, start, content, areas) if is_near else ""
            yield Line(readable(content), *box, readable(linked), cell)


def _by_cell(
    text_page: Any, start: int, end: int, text: str, cells: Mapping[int, Cell]
) -> Iterator[tuple[int, str, Cell | None]]:
    """Yield the parts of a line that stand in one cell or none, each with its place."""
    from pypdfium2 import raw  # noqa: PLC0415 - heavy

    def cell_at(place: int) -> Cell | None:
        shown = raw.FPDFText_GetTextObject(text_page, place) if cells else None
        return cells.get(raw.FPDFPageObj_GetMarkedContentID(shown)) if shown else None

    letters = [place for place in range(start, end) if not text[place].isspace()]
    for cell, found in groupby(letters, key=cell_at):
        places = list(found)
        yield places[0], text[places[0] : places[-1] + 1], cell


def _with_raised_digits(text_page: Any, start: int, content: str) -> str:
    """Return a line with smaller, higher digits as raised ones, such as 1998¹."""
    letters = [number for number, char in enumerate(content) if char.isalpha()]
    raised = list(content)
    for run in _DIGITS.finditer(content) if letters else ():
        beside = letters[max(0, bisect_left(letters, run.start()) - 1)]
        try:
            _, bottom, _, top = text_page.get_charbox(start + beside, loose=True)
            for number in range(*run.span()):
                _, low, _, high = text_page.get_charbox(start + number, loose=True)
                if low - bottom > _RAISED * (top - bottom) and high - low < _SMALLER * (top - bottom):
                    raised[number] = content[number].translate(TO_RAISED)
        except Exception:  # noqa: BLE001 - as above
            return content
    return "".join(raised)


def _with_signs(text_page: Any, start: int, content: str, areas: Mapping[int, Sequence[Area]]) -> str:
    """Return a line with link signs around the letters in link areas; "" without any."""

    def sign_at(index: int) -> str:
        try:
            left, bottom, right, top = text_page.get_charbox(index)
            x, y = (left + right) / 2, (bottom + top) / 2
            near = areas.get(int(y), ())
        except Exception:  # noqa: BLE001 - as above
            return ""
        return next((a.sign for a in near if a.left <= x <= a.right and a.bottom <= y <= a.top), "")

    signs: list[str] = []
    for offset, char in enumerate(content):
        signs.append(signs[-1] if char == " " else sign_at(start + offset))
    pieces: list[str] = []
    for sign, numbers in groupby(range(len(content)), key=signs.__getitem__):
        words = "".join(content[number] for number in numbers)
        pieces.append(f"{sign}{words.rstrip()}{LINK_END}{' ' * words.endswith(' ')}" if sign else words)
    return "".join(pieces) if any(signs) else ""


def _box(text_page: Any, start: int, length: int) -> tuple[float, float, float, float, float]:
    from pypdfium2 import raw  # noqa: PLC0415 - heavy

    first, last = start, start + length - 1
    try:
        left, bottom, _, top = text_page.get_charbox(first, loose=True)
        _, bottom_2, right, top_2 = text_page.get_charbox(last, loose=True)
    except Exception:  # noqa: BLE001 - a glyph without a box must not cost the page
        return (0.0, 0.0, 0.0, 0.0, 0.0)
    size = raw.FPDFText_GetFontSize(text_page, first + length // 2)
    height = max(top - bottom, top_2 - bottom_2)
    # Some producers set everything in size 1 and scale it: then the height of the line tells.
    return left, right, max(top, top_2), min(bottom, bottom_2), size if size > 1.5 else height


def readable(text: str) -> str:
    """Ligatures and full-width Latin letters as the letters that they stand for."""
    return clean(_LIGATURES.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)).rstrip()


def _with_notes(lines: list[Line]) -> list[Line]:
    """Raise the numbers of footnotes: "1 Maier, p. 3" below a text with "in Graz¹".

    The last note is that of the last mark; those above it are counted down, and the first stands apart or is smaller.
    """
    marks: dict[int, int] = {}
    for place, line in enumerate(lines):
        for run in _RAISED_NUMBER.finditer(line.text, 1):
            number = run[0].translate(TO_PLAIN)
            if not is_power(line.text[max(0, run.start() - 12) : run.start()].rstrip(), [number]):
                marks[int(number)] = place
    wanted, noted, first = max(marks, default=0), list(lines), 0
    for place in range(len(lines) - 1, 0, -1):
        line, begun = lines[place], _NOTE.match(lines[place].text)
        if begun and int(begun[0].translate(TO_PLAIN)) == wanted and marks.get(wanted, place) < place:
            number, first, wanted = begun[0], place, wanted - 1
            text, linked = (each.replace(number, number.translate(TO_RAISED), 1) for each in (line.text, line.linked))
            noted[place] = line._replace(text=text, linked=linked)
    above, below = lines[first - 1 : first + 1] if first else (None, None)
    is_close = above and below and 0 < above.top - below.top < _APART * below.size
    return lines if is_close and below and above and below.size > _SMALLER * above.size else noted


def _table_cells(page: Any) -> dict[int, Cell]:
    """Return a page's table cells by marked-content id (ISO 32000-1, 14.8.4).

    What has one column, or a heading or a table in a cell, is a layout and no table.
    """
    from pypdfium2 import raw  # noqa: PLC0415 - heavy

    found, layouts, taken = dict[int, Cell](), set[int](), set[tuple[int, int]]()
    table = row = column = 0
    tree, kind = raw.FPDF_StructTree_GetForPage(page), create_string_buffer(_LONGEST_NAME)
    count = raw.FPDF_StructTree_CountChildren(tree) if tree else 0
    left = [(raw.FPDF_StructTree_GetChildAtIndex(tree, place), Cell()) for place in reversed(range(count))]
    for _ in range(_MOST_ELEMENTS):
        if not left:
            break
        element, cell = left.pop()
        size = raw.FPDF_StructElement_GetType(element, kind, len(kind))
        name = kind.raw[: size - 2].decode("utf-16-le", "replace") if 2 < size <= len(kind) else ""
        if name == "Table":
            layouts.add(cell.table)
            table, cell = table + 1, Cell()
        elif name == "TR":
            row, column = row + 1, 1
        elif name in ("TH", "TD"):
            rows, columns = _span(element, b"RowSpan"), _span(element, b"ColSpan")
            column = next(place for place in range(column, column + len(taken) + 1) if (row, place) not in taken)
            taken.update(product(range(row, row + rows), range(column, column + columns)))
            cell = Cell(table, row, column, rows, name == "TH")
        elif name.startswith("H"):
            layouts.add(cell.table)
        for place in reversed(range(raw.FPDF_StructElement_CountChildren(element))):
            if (marked := raw.FPDF_StructElement_GetChildMarkedContentID(element, place)) >= 0:
                found[marked] = cell
            elif child := raw.FPDF_StructElement_GetChildAtIndex(element, place):
                left.append((child, cell))
    if tree:
        raw.FPDF_StructTree_Close(tree)
    tables = {cell.table for cell in found.values() if cell.column > 1} - layouts
    return {marked: cell for marked, cell in found.items() if cell.table in tables}


def _span(element: Any, name: bytes) -> int:
    from pypdfium2 import raw  # noqa: PLC0415 - heavy

    number = c_float(1)
    for place in range(raw.FPDF_StructElement_GetAttributeCount(element)):
        about = raw.FPDF_StructElement_GetAttributeAtIndex(element, place)
        raw.FPDF_StructElement_Attr_GetNumberValue(raw.FPDF_StructElement_Attr_GetValue(about, name), byref(number))
    return int(min(max(1, number.value), MAX_COLUMNS))
