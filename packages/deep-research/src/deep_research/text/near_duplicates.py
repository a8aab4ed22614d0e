"""Detect near-duplicate texts, such as reprints, by shared runs of terms."""

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from claimcheck.text.tokens import tokenize
from deep_research.data import Passage

_SHINGLE = 3
_SAME = 0.8  # Jaccard similarity from which two texts count as one
_MOST_COMPARED = 20  # texts that one is compared with, where very many share a run with it
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_MARKUP = re.compile(r":[a-z][\w:+.-]{0,80}:(?=`)|[`*~\\]")


@lru_cache(maxsize=2_000)  # a run asks many questions of the same passages
def shingles(text: str, length: int) -> frozenset[int]:
    """Return the hashes of all runs of so many terms; a shorter text is one run."""
    terms = tokenize(text)
    terms += [""] * (length - len(terms))
    return frozenset(map(hash, zip(*(terms[first:] for first in range(length)), strict=False)))


def _resemble(a: frozenset[int], b: frozenset[int]) -> bool:
    # Texts of very different length cannot resemble: |A∩B| / |A∪B| ≤ the shorter over the longer.
    return min(len(a), len(b)) >= _SAME * max(len(a), len(b)) and len(a & b) >= _SAME * len(a | b)


class Distinct:
    """Texts that are remembered, so that one that repeats them is known.

    Two that resemble share one of the first runs of each, in the order of their hashes (prefix filtering: Bayardo, Ma
    and Srikant, "Scaling Up All Pairs Similarity Search", WWW 2007): only such texts are compared.
    """

    def __init__(self) -> None:
        self._kept: list[frozenset[int]] = []
        self._holding: dict[int, list[int]] = {}

    def has(self, text: str) -> bool:
        """Return whether a text is a near-duplicate of one that is remembered."""
        runs = shingles(text, _SHINGLE)
        sharing = (number for run in _first(runs) for number in self._holding.get(run, ()))
        return any(_resemble(runs, self._kept[number]) for number in islice(sharing, _MOST_COMPARED))

    def add(self, text: str) -> bool:
        """Remember `text` and return True; return False for a near-duplicate."""
        if self.has(text):
            return False
        runs = shingles(text, _SHINGLE)
        for run in _first(runs):
            self._holding.setdefault(run, []).append(len(self._kept))
        self._kept.append(runs)
        return True


def _first(runs: frozenset[int]) -> list[int]:
    return sorted(runs)[: len(runs) - math.ceil(_SAME * len(runs)) + 1]


@lru_cache(maxsize=2_000)
def _figures_and_words(text: str) -> tuple[frozenset[str], str]:
    return frozenset(_FIGURE.findall(text)), _MARKUP.sub("", text)


class DistinctPassages:
    """Passages that are remembered, so that one in almost the same words is known.

    Two that differ in a figure are two.
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
