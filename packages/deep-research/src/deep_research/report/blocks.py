"""The blocks of a report's layout; their texts know statements and citations."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from claimcheck.language import CJK
from deep_research.data import DOUBT_SIGN, VerdictKind

_NARROWEST, _WIDEST, COLUMN_EDGES = 12, 80, 4
"""Bounds of the width of a column, and what its edges take; in letters."""
_JOINTS, _MAY_BREAK = re.compile(r"(?<=[_/.:=&?-])"), "\u200b"


@dataclass(frozen=True)
class Text:
    """A stretch of text of one look; `is_own` if in a statement of the author's own."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    is_own: bool = False


@dataclass(frozen=True)
class Cite:
    """A citation: the number of a reference, and the passages of it that are meant."""

    number: int
    passages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Doubt:
    """The mark behind a statement not confirmed: its verdict, and `told` in words."""

    verdict: VerdictKind
    told: str


@dataclass(frozen=True)
class Break:
    """The end of a line inside a paragraph."""


Inline = Text | Cite | Doubt | Break


@dataclass(frozen=True)
class Heading:
    """A heading; `level` 1 is that of the report, `key` names it in the document."""

    level: int
    content: tuple[Inline, ...]
    key: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    content: tuple[Inline, ...]

    @property
    def is_own(self) -> bool:
        """Whether all that it says is the author's own."""
        texts = [part for part in self.content if isinstance(part, Text) and part.text.strip()]
        return bool(texts) and all(part.is_own for part in texts)


@dataclass(frozen=True)
class Items:
    """A list; numbered from `start` on, or not at all where it is None."""

    items: tuple[tuple["Block", ...], ...]
    start: int | None = None


@dataclass(frozen=True)
class Table:
    """A table: the cells of its header and of its rows."""

    head: tuple[tuple[Inline, ...], ...]
    rows: tuple[tuple[tuple[Inline, ...], ...], ...]


@dataclass(frozen=True)
class Code:
    """Lines that stand as they are."""

    text: str


@dataclass(frozen=True)
class Quote:
    """What is set off from the text: here, a notice."""

    blocks: tuple["Block", ...]


@dataclass(frozen=True)
class Bar:
    """A row of a chart: label, shown number with citations, share of the largest."""

    label: str
    value: tuple[Inline, ...]
    share: float
    number: float


@dataclass(frozen=True)
class Chart:
    """Numbers side by side as bars, or one number over time (`is_line`)."""

    title: str
    bars: tuple[Bar, ...]
    is_line: bool = False


Block = Heading | Paragraph | Items | Table | Code | Quote | Chart


@dataclass(frozen=True)
class Count:
    """The number of statements with a verdict, and its name in the report's language."""

    verdict: VerdictKind
    number: int
    text: str


@dataclass
class Document:
    """A report to be laid out; `references` are the source list's blocks by number.

    `made` says when and by which run it was made, `cited` how many sources are cited.
    """

    title: str
    made: str = ""
    counts: tuple[Count, ...] = ()
    cited: str = ""
    blocks: list[Block] = field(default_factory=list)
    references_title: str = ""
    references: dict[int, tuple[Block, ...]] = field(default_factory=dict)


def plain_text(content: Sequence[Inline]) -> str:
    """Return the text of inlines without citations."""
    return cited_text([part for part in content if isinstance(part, Text | Break)])


def cited_text(content: Sequence[Inline]) -> str:
    """Return the text of inlines with its citations as `[n]`."""
    return " ".join("".join(map(_cited, content)).split())


def _cited(part: Inline) -> str:
    if isinstance(part, Text):
        return part.text
    return f" [{part.number}]" if isinstance(part, Cite) else DOUBT_SIGN if isinstance(part, Doubt) else " "


def block_text(block: Block) -> str:
    """Return a block's text with citations as `[n]`; nothing of code."""
    if isinstance(block, Heading | Paragraph):
        return cited_text(block.content)
    if isinstance(block, Items | Quote):
        rows = block.items if isinstance(block, Items) else (block.blocks,)
        return " ".join(filter(None, (block_text(part) for row in rows for part in row)))
    if isinstance(block, Table):
        return " ".join(cited_text(cell) for row in (block.head, *block.rows) for cell in row)
    return " ".join([block.title, *(bar.label for bar in block.bars)]) if isinstance(block, Chart) else ""


def is_right_to_left(text: str) -> bool:
    """Return whether a text is right-to-left, by its first letter with a direction."""
    return next((k != "L" for k in map(unicodedata.bidirectional, text) if k in ("L", "R", "AL")), False)


def text_width(text: str) -> int:
    """Return a text's width in letters; East Asian wide characters count two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def column_widths(table: Table, total: int) -> list[int]:
    """Return how wide the columns of a table are, in letters, together `total`.

    No word is broken as long as all columns have room for theirs.
    """
    rows = (table.head, *table.rows) if table.head else table.rows
    count = max((len(row) for row in rows), default=1)
    texts = [[plain_text(row[n]) for row in rows if n < len(row)] for n in range(count)]
    wanted = [max(_NARROWEST, min(max(map(text_width, cells), default=0), _WIDEST)) for cells in texts]
    words = [max((_word_width(cell) for cell in cells), default=0) + COLUMN_EDGES for cells in texts]
    least = [min(word, total // count) for word in words]
    widths = [max(1, total * share // sum(wanted)) for share in wanted]
    for _ in range(count):
        short = [n for n in range(count) if widths[n] < least[n]]
        rest = [n for n in range(count) if widths[n] > least[n]]
        if not short or not rest:
            break
        missing, spare = sum(least[n] - widths[n] for n in short), sum(widths[n] - least[n] for n in rest)
        for n in short:
            widths[n] = least[n]
        for n in rest:
            widths[n] -= min(widths[n] - least[n], -(-missing * (widths[n] - least[n]) // spare))
    return widths


def _word_width(text: str) -> int:
    """Return the width of the longest word; Chinese and its like break anywhere."""
    words = ((text_width(word), word.isascii()) for word in text.split())
    return max((width if is_ascii else min(width, 2 * COLUMN_EDGES) for width, is_ascii in words), default=0)


def break_words(text: str, room: int) -> str:
    """Return a text whose words wider than `room` letters may break, best at joints."""

    def break_word(word: re.Match[str]) -> str:
        pieces = _JOINTS.split(word[0])
        return _MAY_BREAK.join(piece[at : at + room] for piece in pieces for at in range(0, len(piece), room))

    room = max(1, room)
    return re.sub(rf"[^\s{CJK}]{{{room + 1},}}", break_word, text)


def quote_passage(text: str, most: int) -> str:
    """Return at most `most` characters of a passage on one line, without markup."""
    lines = (line for line in text.splitlines() if not line.startswith(("#", "```")) and line.strip(" |:-"))
    line = " ".join(" ".join(line.strip(" |").replace(" | ", " · ") for line in lines).split())
    if len(line) <= most:
        return line
    space = line.rfind(" ", most // 2, most)
    return f"{line[: space if space > 0 else most].rstrip()} …"
