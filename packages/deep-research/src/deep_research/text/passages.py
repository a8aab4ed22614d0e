"""Cut a document into passages: deterministic, at block and sentence borders.

The same text always gives the same passages, so that an id such as `s7p3` means the same stretch
whoever cuts it. Passages do not overlap, and none crosses a page.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from claimcheck.language import CJK
from claimcheck.text.sentences import Block, blocks, sentences, trimmed
from deep_research.data import Document, Heading

TARGET_CHARS = 900
"""A passage is closed when the next block would make it longer than this (a third for CJK text)."""
MAX_CHARS = 1800
"""A single block longer than this is cut at sentence ends, or hard where there is none."""

_OF_A_TITLE, _OF_A_PATH = 100, 300  # characters of a heading, and of all above a passage, which carries them
_AT_ONCE = 1_000_000
"""Characters of a block in which ends of sentences are looked for in one go: one without any would hold up all threads."""
_CARRIED = 0.4  # of a passage goes at most to the next one where it ends in the middle of a sentence
_ENDS, _CLOSING = frozenset(".!?。！？…;；"), "\"'”’」』）)]"

_CJK_CHAR = re.compile(f"[{CJK}]")
_SIGN = re.compile(r"\S")


class Cut(NamedTuple):
    """The range of a passage in the text, with its first page and its headings."""

    start: int
    end: int
    page: int | None
    heading: str


def cut_passages(document: Document) -> list[Cut]:
    """Return the passages of `document` in order."""
    text = document.text
    scale = _scale(text)
    pages = sorted(document.pages, key=lambda page: page.start)
    borders = [page.start for page in pages]
    cuts: list[Cut] = []
    headings = sorted(document.headings, key=lambda heading: heading.start)
    paths, starts = ["", *_paths(text, headings)], [heading.start for heading in headings]
    for start, end in _stretches(text, borders, int(TARGET_CHARS * scale), int(MAX_CHARS * scale)):
        index = bisect_right(borders, start)
        page = pages[index - 1].number if index else None
        cuts.append(Cut(start, end, page, paths[bisect_right(starts, start)]))
    return cuts


def _scale(text: str) -> float:
    """CJK text says in one character what Latin text says in about three."""
    sample = text[:4000]
    return 0.45 if sample and len(_CJK_CHAR.findall(sample)) > 0.25 * len(sample) else 1.0


def _stretches(text: str, borders: list[int], target: int, limit: int) -> Iterator[tuple[int, int]]:
    taken: list[Block] = []
    headed = False  # the open passage holds nothing but headings so far
    for block in _small_blocks(text, borders, limit):
        if taken:
            start = taken[0].start
            page_break = bool(borders) and bisect_right(borders, start) != bisect_right(borders, block.start)
            new_topic = block.kind == "heading" and not headed
            full = block.end - start > target and not headed
            if page_break or new_topic or full:
                whole = not (page_break or new_topic)
                carried = _unfinished(text, taken, int(_CARRIED * target)) if whole else 0
                yield start, taken[len(taken) - carried - 1].end
                taken = taken[len(taken) - carried :]
        headed = block.kind == "heading" and (headed or not taken)
        taken.append(block)
    if taken:
        yield taken[0].start, taken[-1].end


def _unfinished(text: str, taken: Sequence[Block], most: int) -> int:
    """Return the number of last blocks of a full passage that belong to the next one.

    They are the lines of an unfinished sentence, a signature, a term or "It offers:", no longer than `most`.
    """
    for count in range(len(taken)):
        block = taken[len(taken) - count - 1]
        carried = taken[-1].end - block.end if count else 0
        if carried > most:
            break
        if block.kind != "prose" or _has_end(text[block.start : block.end]):
            return count
    last = taken[-1]
    is_short = last.end - last.start <= most
    announces = last.kind == "prose" and is_short and not _has_end(text[last.start : last.end])
    return int(announces and len(taken) > 1)


def _has_end(block: str) -> bool:
    return block.rstrip(_CLOSING)[-1:] in _ENDS


def _small_blocks(text: str, borders: list[int], limit: int) -> Iterator[Block]:
    for block in blocks(text):
        start = block.start
        inside = borders[bisect_right(borders, start) : bisect_right(borders, block.end - 1)] if borders else ()
        for border in (*inside, block.end):
            for piece in trimmed(text, block.kind, start, border):
                yield from (piece,) if piece.end - piece.start <= limit else _parts(text, piece, limit)
            start = border


def _parts(text: str, block: Block, limit: int) -> Iterator[Block]:
    """Cut a long block at sentence or line ends, or hard at `limit`."""
    ends = [
        place + s.end
        for place in range(block.start, block.end, _AT_ONCE)
        for s in sentences(text[place : min(place + _AT_ONCE, block.end)])
    ]
    if block.kind in ("table", "code"):
        ends = [block.start + m.start() for m in re.finditer("\n", text[block.start : block.end])]
    start = last = block.start
    for end in [*ends, block.end]:
        if end - start > limit and last > start:
            yield from trimmed(text, block.kind, start, last)
            start = last
        while end - start > limit:
            stop = text.rfind(" ", start + limit // 2, start + limit)
            stop = stop if stop > 0 else start + limit
            yield from trimmed(text, block.kind, start, stop)
            start = stop
        last = end
    yield from trimmed(text, block.kind, start, block.end)


def _paths(text: str, headings: Sequence[Heading]) -> list[str]:
    """Return the path of each heading, outermost first, down to those right below it."""
    paths: list[str] = []
    open_ones: list[Heading] = []
    for heading in headings:
        while open_ones and open_ones[-1].level >= heading.level:
            open_ones.pop()
        open_ones.append(heading)
        paths.append(" > ".join(one.title[:_OF_A_TITLE] for one in open_ones)[:_OF_A_PATH])
    for place in range(len(headings) - 2, -1, -1):
        line_end = text.find("\n", headings[place].start, headings[place + 1].start)
        if line_end >= 0 and not _SIGN.search(text, line_end, headings[place + 1].start):
            paths[place] = paths[place + 1]
    return paths
