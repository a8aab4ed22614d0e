"""Find code in Markdown, fenced blocks and inline spans, in one pass."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

_FENCE = re.compile(
    r"^(?P<lead>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE
)
_TICKS = re.compile(r"(?<!\\)`+|\n[ \t]*\n")


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
    ticks = list(_TICKS.finditer(text, start, end))
    paragraph = 0
    closing: dict[tuple[int, int], list[int]] = {}
    for tick in ticks:  # where runs of each length stand, by paragraph
        if tick[0][0] == "`":
            closing.setdefault((paragraph, len(tick[0])), []).append(tick.start())
        else:
            paragraph += 1
    paragraph = behind = 0
    for tick in ticks:
        if tick[0][0] != "`":
            paragraph += 1
        elif tick.start() >= behind:
            places = closing[paragraph, len(tick[0])]
            following = bisect_right(places, tick.start())
            if following < len(places):
                behind = places[following] + len(tick[0])
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
