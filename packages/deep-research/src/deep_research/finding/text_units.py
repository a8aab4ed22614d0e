"""Cut the text around a passage into units: paragraphs, lists, tables, code."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from claimcheck.text.sentences import Block, blocks, sentences
from deep_research.data import Passage, Snapshot
from deep_research.finding.words import terms_of
from deep_research.ports import Library
from deep_research.text.page_noise import gives_orders

_AROUND = 4
"""Passages before and after a passage that are looked at with it, as far as they stand under the same heading."""
_LABEL = 90
"""Characters of the longest line that is the label of what follows it."""
_ENDS = re.compile(r"[.!?。！？…;；,，、][\"'”’」』）)\]]*$")
_LEADS = re.compile(r"[:：]\s*$")
_RULE = re.compile(r"[\s|:\-]+$")
_LINE = re.compile(r"[^\n]+")


class Span(NamedTuple):
    """A stretch of a snapshot's text with its index terms."""

    start: int
    end: int
    terms: frozenset[str]


class Unit(NamedTuple):
    """A unit of text that is read whole, with its `lead` and its `parts`.

    `lead` stands before the parts and belongs to each (a label, "as follows:", the header of a table); `parts` are
    its sentences, items, rows or steps.
    """

    kind: str
    start: int
    end: int
    lead: tuple[Span, ...]
    parts: tuple[Span, ...]


class Section(NamedTuple):
    """The units around a passage under the same heading, with their passages."""

    source: str
    text: str
    where: str
    units: tuple[Unit, ...]
    passages: tuple[Passage, ...]


class Texts:
    """The texts of a library needed for one search, each read and cut once.

    `ordering` are the pages in whose sections something orders a reading program about, which no unit holds; the
    person's own documents are shown whole.
    """

    def __init__(self, library: Library) -> None:
        self.ordering: dict[str, None] = {}
        self._library = library
        self._read: dict[str, Snapshot | None] = {}
        self._sections: dict[tuple[str, str], Section] = {}

    def section(self, passage: Passage) -> Section:
        """Return the units around a passage."""
        passages = self._under_heading(passage)
        key = (passages[0].id, passages[-1].id)
        if key not in self._sections:
            snapshot = self._snapshot(passage.source)
            text = snapshot.text if snapshot is not None else ""
            start, end = passages[0].start, passages[-1].end
            whole = tuple(_units(text, start, end))
            source = self._library.source(passage.source)
            is_own = source is not None and source.url.startswith("file:")
            units = whole if is_own else tuple(one for unit in whole for one in _without_orders(text, unit))
            if units != whole:
                self.ordering[passage.source] = None
            self._sections[key] = Section(passage.source, text, passage.heading, units, passages)
        return self._sections[key]

    def media_type(self, source: str) -> str:
        """Return the media type of a source; "" where nothing of it was read."""
        snapshot = self._snapshot(source)
        return snapshot.media_type if snapshot is not None else ""

    def _snapshot(self, source: str) -> Snapshot | None:
        if source not in self._read:
            self._read[source] = self._library.snapshot(source)
        return self._read[source]

    def _under_heading(self, passage: Passage) -> tuple[Passage, ...]:
        """Return the passages around one that stand under the same heading, in order."""
        source, _, number = passage.id.rpartition("p")
        found = [passage]
        for step in (-1, 1):
            for ordinal in range(int(number) + step, int(number) + (_AROUND + 1) * step, step):
                other = self._library.passage(f"{source}p{ordinal}")
                # Another snapshot of the source may have the ordinals before the first and after the last.
                if other is None or other.sha256 != passage.sha256 or other.heading != passage.heading:
                    break
                if abs(other.start - passage.start) > 40_000:
                    break
                found.insert(0, other) if step < 0 else found.append(other)
        return tuple(found)


def _units(text: str, start: int, end: int) -> Iterator[Unit]:
    """Yield the units of `text[start:end]` in order; headings belong to none."""
    found = [Block(block.kind, block.start + start, block.end + start) for block in blocks(text[start:end])]
    place = 0
    while place < len(found):
        stop = _unit_end(text, found, place)
        if found[place].kind != "heading":
            yield _made(text, found[place:stop])
        place = stop


def _without_orders(text: str, unit: Unit) -> Iterator[Unit]:
    """Yield a unit up to the first part that gives a reading program orders."""
    if not gives_orders(text[unit.start : unit.end]):
        yield unit
        return
    parts = tuple(takewhile(lambda part: not gives_orders(text[part.start : part.end]), unit.parts))
    if parts and not gives_orders(text[unit.start : parts[-1].end]):
        yield unit._replace(end=parts[-1].end, parts=parts)


def _unit_end(text: str, found: Sequence[Block], place: int) -> int:
    """Return the number of the first block behind the unit that begins at a block."""
    if found[place].kind == "heading":
        return place + 1
    stop = place
    while stop < len(found) and _is_lead(text, found, stop):
        stop += 1
    if stop >= len(found) or found[stop].kind == "heading":
        return max(stop, place + 1)
    kind = found[stop].kind
    stop += 1
    if kind == "item":
        # Items that are indented less than the first are of another list.
        least = {"item": _indent(text, found[stop - 1]), "prose": 2, "code": 2}
        while stop < len(found) and _indent(text, found[stop]) >= least.get(found[stop].kind, len(text)):
            stop += 1
    elif kind == "table":
        while stop < len(found) and found[stop].kind == "table":
            stop += 1
    elif kind == "prose" and stop < len(found) and found[stop].kind == "code":
        stop += 1  # code belongs to the paragraph that announces it
    return stop


def _is_lead(text: str, found: Sequence[Block], place: int) -> bool:
    """Return whether a block introduces the next: a label, or prose ending in ":"."""
    block = found[place]
    if place + 1 >= len(found) or found[place + 1].kind == "heading" or block.kind in ("table", "code", "heading"):
        return False
    line = text[block.start : block.end].strip()
    if "\n" not in line and len(line) <= _LABEL and not _ENDS.search(line):
        is_listed = block.kind == "item" and (found[place + 1].kind == "item" or line[:1] in "-*+•")
        return not is_listed
    return block.kind == "prose" and _LEADS.search(line) is not None


def _indent(text: str, block: Block) -> int:
    return len(text[block.start : block.end]) - len(text[block.start : block.end].lstrip(" \t"))


def _made(text: str, taken: Sequence[Block]) -> Unit:
    leads = 0
    while leads < len(taken) - 1 and taken[leads].kind in ("prose", "item") and _is_lead(text, taken, leads):
        leads += 1
    body = taken[leads:]
    kind = body[0].kind
    lead = [Span(block.start, block.end, terms_of(text[block.start : block.end])) for block in taken[:leads]]
    spans = list(_parts(text, kind, body))
    if kind == "table" and len(spans) > 1:
        header = 2 if len(spans) > 2 and _RULE.match(text[spans[1][0] : spans[1][1]]) else 1
        lead.append(Span(spans[0][0], spans[header - 1][1], terms_of(text[spans[0][0] : spans[header - 1][1]])))
        spans = spans[header:]
    parts = tuple(Span(first, last, terms_of(text[first:last])) for first, last in spans)
    return Unit(kind, taken[0].start, taken[-1].end, tuple(lead), parts)


def _parts(text: str, kind: str, body: Sequence[Block]) -> Iterator[tuple[int, int]]:
    if kind == "item":
        starts = [block.start for block in body if block.kind == "item"]
        yield from zip(starts, [*starts[1:], body[-1].end], strict=True)
    elif kind == "table":
        yield from (
            (line.start(), line.end()) for block in body for line in _LINE.finditer(text, block.start, block.end)
        )
    elif kind == "prose":
        first = body[0]
        found = sentences(text[first.start : first.end])
        yield from ((first.start + one.start, first.start + one.end) for one in found)
        yield from ((block.start, block.end) for block in body[1:])
    else:
        yield from ((block.start, block.end) for block in body)
