"""The tables of a tagged PDF (ISO 32000-1, 14.8.4): which cell each stretch of marked content stands in."""

from ctypes import byref, c_float, create_string_buffer
from itertools import product
from typing import Any, NamedTuple

from deep_research.text.document_builder import MAX_COLUMNS

_MOST_ELEMENTS, _LONGEST_NAME = 50_000, 64


class Cell(NamedTuple):
    """A cell of a table of a page, all counted from 1; `rows` are those it spans, `heads` where it is one of a header."""

    table: int = 0
    row: int = 0
    column: int = 0
    rows: int = 1
    heads: bool = False


def table_cells(page: Any) -> dict[int, Cell]:
    """Return the cells of a page (of PDFium) by the ids of their marked content; {} where no tags tell them.

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
