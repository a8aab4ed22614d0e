"""Near-duplicate texts: the same page under two addresses, a reprint, a copied paragraph.

Bottom-k MinHash over word shingles (Broder, "On the resemblance and containment of documents",
1997): a sketch of a text is its `SKETCH` smallest shingle hashes, and the share of equal hashes
estimates how much of the texts is the same. Short texts are compared exactly.
"""

import re
import zlib
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from claimcheck.text.tokens import tokenize
from deep_research.data import Passage

SHINGLE = 3
_KNOWN_TERMS = 100_000
SKETCH = 64
SAME = 0.8
"""Resemblance from which two texts count as one."""
STRETCH, _SHARED = 8, 8
"""Terms of a stretch, and how many stretches two texts share when one was copied from the other, whatever else they say."""
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_MARKUP = re.compile(r":[a-z][\w:+.-]{0,80}:(?=`)|[`*~\\]")
"""Roles and marks of a text's source (reStructuredText, Markdown)."""


class Sketch(NamedTuple):
    """The smallest shingle hashes of a text, and how many shingles it has."""

    hashes: frozenset[int]
    shingles: int


@lru_cache(maxsize=2_000)
def sketch(text: str) -> Sketch:
    """Return the sketch of a text: the same text gives the same sketch in every process."""
    hashes = shingles(text, SHINGLE)
    return Sketch(frozenset(sorted(hashes)[:SKETCH]), len(hashes))


def shingles(text: str, length: int) -> set[int]:
    """Return the hashes of all runs of so many terms; a shorter text is one run."""
    terms = [_HASHES[term] for term in tokenize(text)]
    terms += [0] * (length - len(terms))
    # Python's hash of a tuple of numbers is the same in every process.
    return set(map(hash, zip(*(terms[first:] for first in range(length)), strict=False)))


class _Hashes(dict[str, int]):
    """The hashes of terms that were met before."""

    def __missing__(self, term: str) -> int:
        if len(self) >= _KNOWN_TERMS:
            self.clear()
        self[term] = made = zlib.crc32(term.encode("utf-8", "surrogatepass"))
        return made


_HASHES = _Hashes()


def resemblance(one: Sketch, two: Sketch) -> float:
    """Return the estimated Jaccard similarity of two texts: 1 the same, 0 nothing in common."""
    smallest = sorted(one.hashes | two.hashes)[:SKETCH]
    if not smallest:
        return 1.0
    return len(one.hashes & two.hashes & set(smallest)) / len(smallest)


def are_near_duplicates(one: Sketch, two: Sketch) -> bool:
    """Return whether two texts say the same in (almost) the same words."""
    # Texts of very different length cannot resemble: |A∩B| / |A∪B| ≤ the shorter over the longer.
    if min(one.shingles, two.shingles) < SAME * max(one.shingles, two.shingles):
        return False
    return resemblance(one, two) >= SAME


class Distinct:
    """Remembers texts and says of each new one whether it repeats one of them."""

    def __init__(self) -> None:
        self._kept: list[Sketch] = []

    def add(self, text: str) -> bool:
        """Return True and remember `text` when it is new; False when it is a near-duplicate."""
        made = sketch(text)
        if any(are_near_duplicates(made, kept) for kept in self._kept):
            return False
        self._kept.append(made)
        return True


def stretches(text: str) -> frozenset[int]:
    """Return the hashes of all stretches of eight terms of a text."""
    terms = [_HASHES[term] for term in tokenize(text)]
    return frozenset(map(hash, zip(*(terms[first:] for first in range(STRETCH)), strict=False)))


def share_a_paragraph(one: frozenset[int], two: frozenset[int]) -> bool:
    """Return whether two texts, by their `stretches`, have some fifteen words in a row in common, or one all of a few."""
    return len(one & two) >= max(1, min(_SHARED, len(one), len(two)))


def distinct_passages(passages: Iterable[Passage]) -> list[Passage]:
    """Return passages without those that say what one before says: manuals print the same matter on several pages, and in
    several formats. Two that differ in a figure are two."""
    told: dict[frozenset[str], Distinct] = {}
    return [
        passage
        for passage in passages
        if told.setdefault(frozenset(_FIGURE.findall(passage.text)), Distinct()).add(_MARKUP.sub("", passage.text))
    ]
