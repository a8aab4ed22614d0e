"""Find code in Markdown, fenced blocks and inline spans, in one pass."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

_FENCE = re.compile(
    r"^(?P<lead>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE
)
_TICKS = re.compile(r"(?<!\\)`+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def fenced_blocks(text: str) -> list[tuple[int, int, str]]:
    """Return the fenced code blocks as start, end and info string, fences included.

    A block that is never closed goes on to the end. What closes one stands in the same quotations, at most 3 columns in.
    """
    found: list[tuple[int, int, str]] = []
    opening: re.Match[str] | None = None
    most = 0
    for fence in _FENCE.finditer(text):
        mark, info, lead = fence["mark"], fence["info"].strip(), fence["lead"].expandtabs(4)
        if opening is None:
            if "`" not in info or mark[0] == "~":
                opening, most = fence, len(lead) + 3
        elif mark.startswith(opening["mark"]) and not info and len(lead) <= most and not lead.strip(" >"):
            if lead.count(">") != opening["lead"].count(">"):
                continue
            found.append((opening.start(), fence.end(), opening["info"].strip()))
            opening = None
    if opening is not None:
        found.append((opening.start(), len(text), opening["info"].strip()))
    return found


def inline_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield code spans between two offsets, marks included, each in one paragraph."""
    behind = start
    for begin, stop in pairwise([start, *(blank.end() for blank in _BLANK_LINE.finditer(text, start, end)), end]):
        ticks = list(_TICKS.finditer(text, begin, stop))
        places: dict[int, list[int]] = defaultdict(list)  # of the runs of each length
        for tick in ticks:
            places[len(tick[0])].append(tick.start())
        for tick in ticks:
            alike = places[len(tick[0])]
            following = bisect_right(alike, tick.start())
            if tick.start() >= behind and following < len(alike):
                behind = alike[following] + len(tick[0])
                yield tick.start(), behind


def code_spans(text: str) -> list[tuple[int, int]]:
    """Return where code stands in `text`, blocks and spans, in order."""
    if "`" not in text and "~~~" not in text:
        return []
    found: list[tuple[int, int]] = []
    position = 0
    for start, end, _info in [*fenced_blocks(text), (len(text), len(text), "")]:
        found += inline_spans(text, position, start)
        if end > start:
            found.append((start, end))
        position = end
    return found


def is_within(spans: Sequence[tuple[int, int]], offset: int) -> bool:
    """Return whether an offset lies in one of these ordered spans."""
    before = bisect_right(spans, (offset, float("inf"))) - 1
    return before >= 0 and spans[before][0] <= offset < spans[before][1]
