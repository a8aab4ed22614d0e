"""Data files: CSV, TSV, JSON Lines and JSON, written as tables, rows or records."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from claimcheck.text.cleaning import clean, fold
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._decode import decode
from deep_research.text.document_builder import DocumentBuilder

MAX_ROWS = 50_000
_ONE_PASSAGE = 900  # characters; a larger table is cut, and the rows after the cut would lose their header
_LOOK_AHEAD = 40
_DELIMITERS = ",;\t|"
_MAX_FIELD = 10_000_000
MAX_RECORDS = 100_000
_TITLES = ("title", "name", "headline", "heading", "question", "subject", "label", "id", "docid", "_id")
_LONG = 150  # characters from which a text is a paragraph of its own
_MAX_TITLE = 200
_MAX_DEPTH = 6
_MAX_FIELDS = 400


def write_rows(rows: Iterable[Sequence[str]], builder: DocumentBuilder, *, what: str = "the table") -> None:
    """Write rows, the first being the header if it looks like one.

    A row of a large table becomes `- Country: France; Capital: Paris`, which says what it means wherever
    the text is cut.
    """
    source = (row for row in rows if any(cell.strip() for cell in row))
    first = list(islice(source, _LOOK_AHEAD))
    header = _header(first)
    if len(first) < _LOOK_AHEAD and sum(len(cell) + 3 for row in first for cell in row) <= _ONE_PASSAGE:
        builder.table(first, header=bool(header))
        return
    for number, row in enumerate(chain(first[1 if header else 0 :], source)):
        if number >= MAX_ROWS:
            builder.warn(f"only the first {MAX_ROWS} rows of {what} were read")
            break
        builder.item(_named_line(row, header))


def write_sheet(name: str, rows: Iterator[Sequence[str]], builder: DocumentBuilder) -> None:
    """Write a sheet under its name; nothing of one without rows."""
    if (first := next(rows, None)) is not None:
        builder.heading(2, name)
        write_rows(chain([first], rows), builder, what=f"sheet {name!r}")


def _header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the column names; none where the first row has numbers, holes or twins."""
    names = [fold(cell) for row in rows[:1] for cell in row]
    while names and not names[-1]:
        names.pop()
    usable = len(rows) > 1 and names and all(names) and len(set(names)) == len(names)
    return names if usable and not any(_is_number(name) for name in names) else []


def _is_number(text: str) -> bool:
    # A year may well be the name of a column, "3.14" or "-2" not.
    text = text.replace(",", "").strip("$€£¥% ")
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
    """A reader of delimited text; the delimiter gives lines equal numbers of cells."""

    name = "table"
    suffixes = (".csv", ".tsv", ".tab")
    media_types = ("text/csv", "text/tab-separated-values")

    def read(self, data: bytes, *, name: str) -> Document:
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
    end = text.find("\n", 20_000)  # a header may be longer than this
    lines = [line for line in (text[:end] if end >= 0 else text).split("\n") if line.strip()][:20]

    def evenness(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        common = max(set(widths), key=widths.count) if widths else 1
        return (widths.count(common) if common > 1 else 0, common)

    return max(_DELIMITERS, key=evenness)


class JsonReader:
    """A reader of JSON records: title as heading, long texts, other fields as items."""

    name = "jsonl"
    suffixes = (".jsonl", ".ndjson", ".json")
    media_types = ("application/x-ndjson", "application/jsonl", "application/json")

    def read(self, data: bytes, *, name: str) -> Document:
        builder = DocumentBuilder()
        for number, record in enumerate(_records(decode(data), builder), start=1):
            if number > MAX_RECORDS:
                builder.warn(f"only the first {MAX_RECORDS} records were read")
                break
            _write_record(record, number, builder)
        return builder.document(title=name.rsplit(".", 1)[0], media_type="application/json")


def _records(text: str, builder: DocumentBuilder) -> Iterator[Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield from _lines(text, builder)
        return
    records = _list_in(value)
    yield from records if records is not None else [value]


def _list_in(value: Any) -> list[Any] | None:
    """Return the records of a file: a list, or the only list in an object."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    lists = [inner for inner in value.values() if isinstance(inner, list) and inner and isinstance(inner[0], dict)]
    return lists[0] if len(lists) == 1 and len(value) <= 3 else None


def _lines(text: str, builder: DocumentBuilder) -> Iterator[Any]:
    broken = good = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            broken += 1
            if broken > 20 and not good:
                break
        else:
            good += 1
            yield value
    if not good:
        raise Unreadable("no JSON, neither as a whole nor line by line")
    if broken:
        builder.warn(f"{broken} of {broken + good} lines are no JSON")


def _write_record(record: Any, number: int, builder: DocumentBuilder) -> None:
    if not isinstance(record, dict):
        builder.paragraph(_scalar(record) if not isinstance(record, list) else "; ".join(map(_scalar, record)))
        return
    titled = _title_field(record)
    title = fold(_scalar(record[titled])) if titled else ""
    builder.heading(2, title or f"Record {number}")
    long: list[str] = []
    for index, (name, value) in enumerate(_fields(record, "", 0)):
        if index >= _MAX_FIELDS:
            builder.warn(f"only {_MAX_FIELDS} fields of a record were read")
            break
        if name == titled:
            continue
        if len(value) > _LONG or "\n" in value.strip():
            long.append(value)
        elif value.strip():
            builder.item(f"{name}: {value}")
    for text in long:
        for paragraph in clean(text).split("\n\n"):
            builder.paragraph(paragraph)


def _title_field(record: dict[str, Any]) -> str | None:
    by_name = {field.lower(): field for field in reversed(record)}
    for name in _TITLES:
        field = by_name.get(name)
        if field and isinstance(record[field], str | int) and 0 < len(str(record[field]).strip()) <= _MAX_TITLE:
            return field
    return None


def _fields(value: Any, name: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield a record's leaves with dotted names; join the texts of a list into one."""
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        for key, inner in value.items():
            yield from _fields(inner, f"{name}.{key}" if name else str(key), depth + 1)
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value) and depth < _MAX_DEPTH:
        for inner in value:
            yield from _fields(inner, name, depth + 1)
    elif isinstance(value, list):
        texts = [_scalar(inner).strip() for inner in value]
        sentences = any(len(text) > 60 for text in texts)
        yield name, (" " if sentences else ", ").join(texts)
    else:
        yield name, _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
