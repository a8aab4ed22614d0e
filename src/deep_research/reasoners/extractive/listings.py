"""Lists that are quoted whole: the sentence that leads on to them, and what they list.

"VACUUM has to process each table for several reasons:" answers only together with the reasons below it.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deep_research.reasoners.extractive.quotable import is_lead, is_plain, reading_length
from deep_research.text.sentences import Block, blocks, sentences

_FEWEST, _MOST = 2, 8
_ITEM_CHARS, _LIST_CHARS = 240, 950


class Listing(NamedTuple):
    """A lead with the first sentence of each item below it, white space folded, and where the lead begins."""

    start: int
    lead: str
    items: tuple[str, ...]


def listings(text: str) -> Iterator[Listing]:
    """Yield the lists of a passage that may be quoted, in order: short, of plain words, none of them left out."""
    found = list(blocks(text))
    for place, block in enumerate(found):
        items = _items(found[place + 1 :])
        if block.kind != "prose" or not _FEWEST <= len(items) <= _MOST:
            continue
        *_, last = sentences(text[block.start : block.end])
        lead = _folded(text[block.start + last.start : block.start + last.end])
        listed = tuple(_first_sentence(text[item.start : item.end]) for item in items)
        if is_lead(lead) and all(map(_is_short, listed)) and reading_length(" ".join([lead, *listed])) <= _LIST_CHARS:
            yield Listing(block.start + last.start, lead, listed)


def _items(following: Sequence[Block]) -> list[Block]:
    kinds = [block.kind for block in following]
    end = next((i for i, kind in enumerate(kinds) if kind != "item"), len(kinds))
    return list(following[:end])


def _first_sentence(item: str) -> str:
    found = sentences(item)
    return _folded(item[found[0].start : found[0].end]) if found else ""


def _folded(text: str) -> str:
    return " ".join(text.split())


def _is_short(item: str) -> bool:
    return 0 < reading_length(item) <= _ITEM_CHARS and is_plain(item)
