"""Postings by looking through the texts: for collections that are searched a few times and never again.

Indexing a page costs about fifteen times as much as looking through it for the words of one query. The
same ranking runs over both; here a term is found where a word begins with it, which for English stems is
nearly the same.
"""

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from deep_research.search.passage_terms import HEADING_WEIGHT, NAME, TITLE, TITLE_WEIGHT
from deep_research.search.postings import BLOCK_BITS, Block, length_code, pack
from deep_research.search.title_names import title_keys
from deep_research.text.tokens import fold_diacritics, normalise

_BREAK = re.compile(r"[\W_]")
_ASCII_BREAK = {code: " " for code in range(128) if not chr(code).isalnum()}
_STEP = 16
_CHARS_PER_TERM = 7
"""An English word and its space, function words set aside."""


class Scanned(NamedTuple):
    """A passage made ready to be looked through: folded, each word after a space."""

    body: str
    about: str
    titles: frozenset[str]
    length: int
    code: int


def ready(text: str, *, title: str = "", heading: str = "") -> Scanned:
    """Return a passage made ready."""
    length = len(text) // _CHARS_PER_TERM + 1
    return Scanned(_folded(text), _about(title, heading), title_keys(title), length, length_code(length))


@lru_cache(maxsize=500)
def _about(title: str, heading: str) -> str:
    return _folded(f"{title} {heading}")


def _folded(text: str) -> str:
    """The words of a text; compounds once in parts and once as one word, as they are indexed."""
    ascii_ = text.isascii()
    plain = text.lower() if ascii_ else fold_diacritics(normalise(text))
    compounds = [word for word in plain.split() if "-" in word] if "-" in plain else []
    whole = " ".join(_BREAK.sub("", compound) for compound in compounds)
    return f" {plain.translate(_ASCII_BREAK) if ascii_ else _BREAK.sub(' ', plain)} {whole}"


class ScanPostings:
    """Implements `Postings` over passages by their numbers."""

    def __init__(self, passages: Mapping[int, Scanned]) -> None:
        self._passages = dict(sorted(passages.items()))
        self._found: dict[str, dict[int, int]] = {}

    def statistics(self) -> tuple[int, int]:
        """Return the number of passages and about the sum of their lengths in terms."""
        count = len(self._passages)
        average = sum(p.length for p in self._passages.values()) / max(1, count)
        # In steps, so that the table of weights for an average serves many pages.
        return count, count * max(1, round(average / _STEP)) * _STEP

    def frequencies(self, terms: Iterable[str]) -> Mapping[str, int]:
        """Return in how many passages each of `terms` occurs; absent terms are left out."""
        return {term: count for term in terms if (count := len(self._look_for(term)))}

    def blocks(self, term: str) -> Sequence[Block]:
        """Return the posting list of `term`."""
        blocks: dict[int, array[int]] = {}
        for number, frequency in self._look_for(term).items():
            posting = pack(number, frequency, self._passages[number].code)
            blocks.setdefault(number >> BLOCK_BITS, array("I")).append(posting)
        return list(blocks.items())

    def _look_for(self, term: str) -> dict[int, int]:
        if term not in self._found:
            self._found[term] = self._counts(term)
        return self._found[term]

    def _counts(self, term: str) -> dict[int, int]:
        passages = self._passages.items()
        if term.startswith(TITLE):
            return {n: 1 for n, p in passages if term.removeprefix(TITLE) in p.titles}
        word = term.removeprefix(NAME)
        # The stemmer writes "energi" for "energy"; scripts without spaces have no beginnings of words.
        stem = _BREAK.sub(" ", word.removesuffix("i") if len(word) > 3 else word)
        beginning = f" {stem}" if word.isascii() else word
        if word is not term and term.startswith(NAME):
            return {n: 1 for n, p in passages if beginning in p.body or word in p.titles}
        weight = (TITLE_WEIGHT + HEADING_WEIGHT) // 2
        counts = {n: p.body.count(beginning) + weight * (beginning in p.about) for n, p in passages}
        return {n: count for n, count in counts.items() if count}
