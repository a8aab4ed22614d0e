"""CSV and TSV, and rows of data files as text: a small table as one, a large one as a line per row that names its columns."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._decode import decode
from deep_research.text.cleaning import clean, fold
from deep_research.text.document_builder import DocumentBuilder

MAX_ROWS = 50_000
_ONE_PASSAGE = 900  # characters; a larger table is cut, and the rows after the cut would lose their header
_LOOK_AHEAD = 40
_DELIMITERS = ",;\t|"
_MAX_FIELD = 10_000_000


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
        builder.item(_named_line(row, header))
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


def _named_line(row: Sequence[str], header: Sequence[str]) -> str:
    cells = [fold(cell) for cell in row]
    if not header:
        return "; ".join(cell for cell in cells if cell)
    named = [f"{name}: {cell}" for name, cell in zip(header, cells, strict=False) if cell]
    return "; ".join([*named, *(cell for cell in cells[len(header) :] if cell)])


class TableReader:
    """Reads delimited text; the delimiter is the one that cuts the lines into equally many cells."""

    name = "table"
    suffixes = (".csv", ".tsv", ".tab")
    media_types = ("text/csv", "text/tab-separated-values")

    def read(self, data: bytes, *, name: str) -> Document:
        """Return the rows, each of a large table with its column names. Raises Unreadable when it is no text."""
        text = clean(decode(data))
        csv.field_size_limit(_MAX_FIELD)
        builder = DocumentBuilder()
        try:
            write_rows(csv.reader(io.StringIO(text), delimiter=_delimiter(text, name)), builder)
        except csv.Error as error:
            raise Unreadable(f"the table is broken: {error}") from error
        return builder.document(title=name.rsplit(".", 1)[0], media_type="text/csv")


def _delimiter(text: str, name: str) -> str:
    if name.lower().endswith((".tsv", ".tab")):
        return "\t"
    lines = [line for line in text[:20_000].split("\n")[:-1] or [text] if line.strip()][:20]

    def evenness(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        common = max(set(widths), key=widths.count) if widths else 1
        return (widths.count(common) if common > 1 else 0, common)

    return max(_DELIMITERS, key=evenness)
