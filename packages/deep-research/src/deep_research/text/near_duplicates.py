"""Detect near-duplicate texts, such as reprints, by shared runs of terms."""

import re
from collections.abc import Iterable
from functools import lru_cache

from claimcheck.text.tokens import tokenize
from deep_research.data import Passage

_SHINGLE = 3
SAME = 0.8
"""Jaccard similarity from which two texts count as one."""
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_MARKUP = re.compile(r":[a-z][\w:+.-]{0,80}:(?=`)|[`*~\\]")
"""Roles and marks of a text's source (reStructuredText, Markdown)."""


@lru_cache(maxsize=2_000)  # a run asks many questions of the same passages
def shingles(text: str, length: int) -> frozenset[int]:
    """Return the hashes of all runs of so many terms; a shorter text is one run."""
    terms = tokenize(text)
    terms += [""] * (length - len(terms))
    return frozenset(map(hash, zip(*(terms[first:] for first in range(length)), strict=False)))


def are_near_duplicates(one: str, two: str) -> bool:
    """Return whether two texts say the same in (almost) the same words."""
    a, b = shingles(one, _SHINGLE), shingles(two, _SHINGLE)
    # Texts of very different length cannot resemble: |A∩B| / |A∪B| ≤ the shorter over the longer.
    return min(len(a), len(b)) >= SAME * max(len(a), len(b)) and len(a & b) >= SAME * len(a | b)


class Distinct:
    """Remembers texts and says of each new one whether it repeats one of them."""

    def __init__(self) -> None:
        self._kept: list[str] = []

    def add(self, text: str) -> bool:
        """Remember a new `text` and return True; return False for a near-duplicate."""
        if self.has(text):
            return False
        self._kept.append(text)
        return True

    def has(self, text: str) -> bool:
        """Tell whether a text is a near-duplicate of one that is remembered."""
        return any(are_near_duplicates(text, kept) for kept in self._kept)


@lru_cache(maxsize=2_000)
def _figures_and_words(text: str) -> tuple[frozenset[str], str]:
    return frozenset(_FIGURE.findall(text)), _MARKUP.sub("", text)


class DistinctPassages:
    """Passages that are remembered, so that one in almost the same words is known.

    Manuals print the same matter on several pages, in several versions and formats. Two that differ in a figure are two.
    """

    def __init__(self) -> None:
        self._told: dict[frozenset[str], Distinct] = {}

    def has(self, passage: Passage) -> bool:
        """Tell whether a passage says what one before says."""
        figures, words = _figures_and_words(passage.text)
        return figures in self._told and self._told[figures].has(words)

    def add(self, passage: Passage) -> bool:
        """Return True and remember a passage when it is new; False when it repeats one."""
        figures, words = _figures_and_words(passage.text)
        return self._told.setdefault(figures, Distinct()).add(words)


def distinct_passages(passages: Iterable[Passage]) -> list[Passage]:
    """Return passages without those that say what one before says."""
    told = DistinctPassages()
    return [passage for passage in passages if told.add(passage)]
