"""Tables of Markdown that go on: a later table with the head of an earlier one adds its rows to it, or takes their place."""

import re

_TABLE = re.compile(r"(?:^\|.*(?:\n|\Z)){2,}", re.MULTILINE)
_HEAD = 2
"""Lines of a table before its rows: the head and the rule below it."""


def with_rows_joined(text: str) -> str:
    """Return a text in which a table that has the head of an earlier one is joined to it; a row with the same first cell takes
    the place of the earlier row."""
    tables: dict[str, list[str]] = {}
    pieces: list[str | list[str]] = []
    end = 0
    for found in _TABLE.finditer(text):
        lines = found[0].rstrip("\n").split("\n")
        pieces.append(text[end : found.start()])
        end = found.end()
        head = "|".join(_cells(lines[0]))
        if head not in tables:
            tables[head] = lines
            pieces.append(lines)
            continue
        _add_rows(tables[head], lines[_HEAD:])
    pieces.append(text[end:])
    said = "".join(piece if isinstance(piece, str) else "\n".join(piece) + "\n" for piece in pieces)
    return re.sub(r"\n{3,}", "\n\n", said).strip()


def _add_rows(table: list[str], rows: list[str]) -> None:
    for row in rows:
        name = _cells(row)[0]
        at = next((n for n, line in enumerate(table[_HEAD:], _HEAD) if _cells(line)[0] == name), None)
        if at is None:
            table.append(row)
        else:
            table[at] = row


def _cells(line: str) -> list[str]:
    return [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]
