"""Write the blocks of a pruned HTML tree, iteratively, at any depth of nesting."""

import re
from collections.abc import Iterator
from itertools import zip_longest

from claimcheck.text.cleaning import fold
from deep_research.readers._html_tree import Element, lxml_etree, names_of, number_in, text_of
from deep_research.text.document_builder import DocumentBuilder

_BLOCKS_IN_CELL = ("table", "pre", "h1", "h2", "h3", "h4", "ul", "ol", "dl")
_SEPARATE = frozenset("p div li dt dd br ul ol dl tr section blockquote pre".split())
_MAX_SPAN = 40
_MAX_CELL_CHARS = 1500
_BOX_ROWS, _NOTE_CHARS = 2, 80
"""Most rows of a box around a text; characters from which a second cell is a text that the first names ("Note")."""


def _is_data_table(table: Element) -> bool:
    """Return whether a table shows data in rows and columns, rather than layout."""
    if (table.get("role") or "").lower() in ("presentation", "none"):
        return False
    rows = list(_rows(table))
    labelled = sum([cell.tag for cell in _cells(row)] == ["th", "td"] for row in rows)
    if next(table.iterdescendants("table"), None) is not None and labelled < 3:
        return False
    if max((len(list(_cells(row))) for row in rows), default=0) < 2:
        return False
    if len(rows) <= _BOX_ROWS and _is_one_column(table):
        return False
    if next(table.iterdescendants("th", "thead"), None) is not None or "table" in names_of(table):
        return True
    cells = [cell for row in rows for cell in _cells(row)]
    blocks = sum(next(cell.iterdescendants(*_BLOCKS_IN_CELL), None) is not None for cell in cells)
    longest = max((len(text_of(cell)) for cell in cells), default=0)
    return blocks * 4 <= len(cells) and longest <= _MAX_CELL_CHARS


def _is_one_column(table: Element) -> bool:
    """Return whether a table is just a box around a text, with an icon or a name."""
    _caption, grid, header = _table_rows(table)
    told = [column for column in zip_longest(*grid, fillvalue="") if any(cell.strip() for cell in column)]
    is_note = len(grid) == 1 and len(told) == 2 and not header and len(told[1][0]) > _NOTE_CHARS
    return len(told) < 2 or is_note


def _table_rows(table: Element) -> tuple[str, list[list[str]], bool]:
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
    return min(_MAX_SPAN, max(1, number_in((cell.get(name) or "").strip())))


def _rows(table: Element) -> Iterator[Element]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from child.iterchildren("tr")


def _cells(row: Element) -> Iterator[Element]:
    return row.iterchildren("td", "th")


def _cell_text(cell: Element) -> str:
    pieces = [cell.text or ""]
    for event, element in lxml_etree().iterwalk(cell, events=("start", "end")):
        if element is cell:
            continue
        if element.tag in _SEPARATE:
            pieces.append(" ")
        pieces.append((element.text if event == "start" else element.tail) or "")
    return fold("".join(pieces))


_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    "html body p div section article main header footer aside address blockquote figure figcaption ul ol li dl dt dd"
    " table caption thead tbody tfoot tr td th hr fieldset legend details summary center form label-group hgroup"
    " h1 h2 h3 h4 h5 h6 pre title".split()
)
_ADMONITIONS = frozenset("note tip important caution warning admonition danger attention hint".split())
_SENTENCE_END = re.compile(r"[.!?:;。！？：；]\s*$")
_EXPONENT = re.compile(r"[-−–+]?\d+$")
_BASE = re.compile(r"[\d)\]]$")
_LONG_TERM = 160
_LONG_SIGNATURE = 120


class _Walker:
    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._inline: list[str] = []
        self._lists: list[int | None] = []  # next number of each open list; None where it has bullets
        self._items: list[tuple[str, int]] = []  # marker, which its first block spends, and depth of each open item
        self._terms: list[str] = []
        self._level = 1
        self._definitions = 0

    def start(self, element: Element) -> bool:
        """Open an element; True when its subtree has been dealt with."""
        tag = element.tag
        if tag in _BLOCKS:
            self._flush()
        if tag in _HEADINGS:
            self._heading(element)
        elif tag == "pre":
            self._write_terms()
            self._spent_marker()
            self._builder.code(_text_with_breaks(element))
        elif tag == "table" and _is_data_table(element):
            self._write_terms()
            self._spent_marker()
            caption, rows, header = _table_rows(element)
            self._builder.paragraph(caption)
            self._builder.table(rows, header=header)
        elif tag == "dt":
            self._term(element)
        elif tag == "p" and "admonition-title" in names_of(element):
            self._builder.paragraph(_announced(fold(text_of(element))))
        elif tag == "math":
            self._inline.append(f" {element.get('alttext') or text_of(element)} ")
        elif tag == "sup" and _EXPONENT.match(fold(text_of(element))) and _BASE.search("".join(self._inline[-3:])):
            self._inline.append("^" + text_of(element).strip())
        else:
            self._open(element)
            self._inline.append(element.text or "")
            return False
        return True

    def _open(self, element: Element) -> None:
        tag = element.tag
        if tag in ("ul", "ol"):
            self._lists.append(number_in(element.get("start") or "") if tag == "ol" else None)
        elif tag == "li":
            self._items.append((self._marker(), max(0, len(self._lists) - 1)))
        elif tag == "tr":  # of a table that is layout, or a list of blocks
            self._items.append(("", 0))
        elif tag == "dl":
            self._definitions += 1
        elif tag == "br":
            self._line_break(element)

    def end(self, element: Element) -> None:
        """Close an element that `start` left open."""
        tag = element.tag
        if tag in _BLOCKS:
            self._flush()
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag in ("li", "tr") and self._items:
            self._items.pop()
        elif tag == "dd":
            self._write_terms()
        elif tag == "dl":
            self._write_terms()
            self._definitions -= 1

    def tail(self, element: Element) -> None:
        self._inline.append(element.tail or "")

    def finish(self) -> None:
        self._flush()
        self._write_terms()

    def _marker(self) -> str:
        number = self._lists[-1] if self._lists else None
        if number is None:
            return "-"
        self._lists[-1] = number + 1
        return f"{number}."

    def _line_break(self, element: Element) -> None:
        """End the paragraph at a break after a sentence or before another; else a space."""
        after = element.getnext()
        doubled = after is not None and after.tag == "br" and not (element.tail or "").strip()
        if doubled or _SENTENCE_END.search("".join(self._inline[-4:])):
            self._flush()
        else:
            self._inline.append("\n")

    def _heading(self, element: Element) -> None:
        title = fold(_text_with_breaks(element))
        parent = element.getparent()
        if parent is not None and _ADMONITIONS.intersection(names_of(parent)):
            self._builder.paragraph(_announced(title))
            return
        self._write_terms()
        self._level = _HEADINGS[element.tag]
        self._builder.heading(self._level, title)

    def _term(self, element: Element) -> None:
        text = fold(_text_with_breaks(element)).rstrip("¶").rstrip()
        names = names_of(element)
        if "sig" in names or "sig-object" in names:
            self._write_terms()
            self._signature(text)
        elif text:
            self._terms.append(text)

    def _signature(self, text: str) -> None:
        """Write the definition of a function or class (Sphinx) as a section of its own."""
        level = min(6, self._level + max(1, self._definitions))
        if len(text) <= _LONG_SIGNATURE:
            self._builder.heading(level, text)
        else:
            self._builder.heading(level, text.partition("(")[0] + "(…)")
            self._builder.paragraph(text)

    def _flush(self) -> None:
        if not self._inline:
            return
        text = fold("".join(self._inline))
        self._inline.clear()
        if not text:
            return
        if self._terms:
            self._write_terms(text)
            return
        marker, depth = self._spent_marker()
        if marker:
            self._builder.item(text, depth=depth, marker=marker)
        else:
            self._builder.paragraph(text)

    def _write_terms(self, text: str = "") -> None:
        term, depth = ", ".join(self._terms), len(self._lists) + max(0, self._definitions - 1)
        if self._terms and text and len(term) <= _LONG_TERM:
            self._builder.item(f"{term.rstrip(':')}: {text}", depth=depth)
        else:
            self._builder.item(term, depth=depth)
            self._builder.paragraph(text)
        self._terms.clear()

    def _spent_marker(self) -> tuple[str, int]:
        """Return the open item's marker, "" once a block of it is written, and its depth."""
        marker, depth = self._items[-1] if self._items else ("", 0)
        self._items[-1:] = [("", depth)] if self._items else []
        return marker, depth


def _announced(title: str) -> str:
    return f"{title}:" if title and title[-1] not in ":：?.!" else title


def _text_with_breaks(element: Element) -> str:
    """Return the text of code as it stands; a `br` in it is a line end."""
    for br in element.iter("br"):
        br.text = "\n"
    return text_of(element)


def write_blocks(root: Element, builder: DocumentBuilder) -> None:
    """Write all blocks below `root`, in order of the text."""
    walker = _Walker(builder)
    done: set[Element] = set()
    walk = lxml_etree().iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if not isinstance(element.tag, str):
            continue
        if event == "start":
            if walker.start(element):
                done.add(element)
                walk.skip_subtree()
            continue
        if element in done:
            done.discard(element)
        else:
            walker.end(element)
        if element is not root:
            walker.tail(element)
    walker.finish()
