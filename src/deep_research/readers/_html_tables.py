"""HTML tables: which hold data, and their cells as a grid."""

from collections.abc import Iterator

from deep_research.readers._html_tree import Element, lxml_etree, names_of, text_of
from deep_research.readers._words import words
from deep_research.text.cleaning import fold

_BLOCKS_IN_CELL = ("table", "pre", "h1", "h2", "h3", "h4", "ul", "ol", "dl")
_SEPARATE = words("p div li dt dd br ul ol dl tr section blockquote pre")
_MAX_SPAN = 40
_MAX_CELL_CHARS = 1500


def is_data_table(table: Element) -> bool:
    """Whether a table shows data in rows and columns, and is not there for the layout of a page."""
    if (table.get("role") or "").lower() in ("presentation", "none"):
        return False
    rows = list(_rows(table))
    labelled = sum([cell.tag for cell in _cells(row)] == ["th", "td"] for row in rows)
    if next(table.iterdescendants("table"), None) is not None and labelled < 3:
        return False
    if max((len(list(_cells(row))) for row in rows), default=0) < 2:
        return False
    if next(table.iterdescendants("th", "thead"), None) is not None or "table" in names_of(table):
        return True
    cells = [cell for row in rows for cell in _cells(row)]
    blocks = sum(next(cell.iterdescendants(*_BLOCKS_IN_CELL), None) is not None for cell in cells)
    longest = max((len(text_of(cell)) for cell in cells), default=0)
    return blocks * 4 <= len(cells) and longest <= _MAX_CELL_CHARS


def table_rows(table: Element) -> tuple[str, list[list[str]], bool]:
    """Return caption, grid of cell texts, and whether the first row is a header.

    A cell that spans rows stands in each of them, one that spans columns in the first.
    """
    caption = next(table.iterchildren("caption"), None)
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}  # column -> rows still covered from above, and their text
    header = False
    for row in _rows(table):
        cells = list(_cells(row))
        if not grid:
            header = bool(cells) and (row.getparent().tag == "thead" or all(cell.tag == "th" for cell in cells))
        grid.append(_fill(cells, hanging))
    return fold(text_of(caption)) if caption is not None else "", grid, header


def _fill(cells: list[Element], hanging: dict[int, tuple[int, str]]) -> list[str]:
    """One row of the grid; `hanging` is brought up to date."""
    line: list[str] = []

    def from_above() -> None:
        while (column := len(line)) in hanging:
            left, text = hanging.pop(column)
            line.append(text)
            if left > 1:
                hanging[-1 - column] = (left - 1, text)  # negative: not again in this row

    for cell in cells:
        from_above()
        text = _cell_text(cell)
        down = _span(cell, "rowspan")
        for offset in range(_span(cell, "colspan")):
            if down > 1:
                hanging[-1 - len(line)] = (down - 1, text if not offset else "")
            line.append("" if offset else text)
    from_above()
    for column in [column for column in hanging if column < 0]:
        hanging[-1 - column] = hanging.pop(column)
    return line


def _span(cell: Element, name: str) -> int:
    value = (cell.get(name) or "1").strip()
    return min(_MAX_SPAN, max(1, int(value))) if value.isdecimal() else 1


def _rows(table: Element) -> Iterator[Element]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from child.iterchildren("tr")


def _cells(row: Element) -> Iterator[Element]:
    return row.iterchildren("td", "th")


def _cell_text(cell: Element) -> str:
    """The text of a cell on one line, its blocks kept apart."""
    pieces = [cell.text or ""]
    for event, element in lxml_etree().iterwalk(cell, events=("start", "end")):
        if element is cell:
            continue
        if element.tag in _SEPARATE:
            pieces.append(" ")
        pieces.append((element.text if event == "start" else element.tail) or "")
    return fold("".join(pieces))
