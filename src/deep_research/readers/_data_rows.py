"""Rows of a data file as text: a small table as one, a large one as a line per row that names its columns."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from deep_research.text.cleaning import fold
from deep_research.text.document_builder import DocumentBuilder

MAX_ROWS = 50_000
_ONE_PASSAGE = 900  # characters; a larger table is cut, and the rows after the cut would lose their header
_LOOK_AHEAD = 40


def write_rows(rows: Iterable[Sequence[str]], builder: DocumentBuilder, *, what: str = "the table") -> int:
    """Write rows, the first being the header if it looks like one; return how many rows were written.

    A row of a large table becomes `- Country: France; Capital: Paris`, which says what it means wherever
    the text is cut. Rows beyond `MAX_ROWS` are left out, with a warning.
    """
    source = (row for row in rows if any(cell.strip() for cell in row))
    first = list(islice(source, _LOOK_AHEAD))
    if not first:
        return 0
    header = _header(first)
    if len(first) < _LOOK_AHEAD and sum(len(cell) + 3 for row in first for cell in row) <= _ONE_PASSAGE:
        builder.table(first, header=bool(header))
        return len(first)
    written = 0
    for row in _capped(chain(first[1 if header else 0 :], source), builder, what):
        builder.item(_line(row, header))
        written += 1
    return written


def _capped(rows: Iterable[Sequence[str]], builder: DocumentBuilder, what: str) -> Iterator[Sequence[str]]:
    for number, row in enumerate(rows):
        if number >= MAX_ROWS:
            builder.warn(f"only the first {MAX_ROWS} rows of {what} were read")
            return
        yield row


def _header(rows: Sequence[Sequence[str]]) -> list[str]:
    """The column names, or nothing where the first row is data: it has numbers, holes or names twice."""
    names = [fold(cell) for cell in rows[0]]
    while names and not names[-1]:
        names.pop()
    usable = len(rows) > 1 and names and all(names) and len(set(names)) == len(names)
    return names if usable and not any(_is_number(name) for name in names) else []


def _is_number(text: str) -> bool:
    # A year may well be the name of a column, "3.14" or "-2" not.
    text = text.replace(",", "").rstrip("%")
    if text.isdecimal() and len(text) == 4 and text.startswith(("19", "20")):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def _line(row: Sequence[str], header: Sequence[str]) -> str:
    cells = [fold(cell) for cell in row]
    if not header:
        return "; ".join(cell for cell in cells if cell)
    named = [f"{name}: {cell}" for name, cell in zip(header, cells, strict=False) if cell]
    return "; ".join([*named, *(cell for cell in cells[len(header) :] if cell)])
