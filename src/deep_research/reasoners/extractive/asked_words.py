"""The words of a question, weighed by how rare they are in what was read: what an answer must speak of."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

from deep_research.data import Passage
from deep_research.i18n.language import CJK
from deep_research.i18n.lexicon import words
from deep_research.ports import Library
from deep_research.text.question_terms import Unit, units_for
from deep_research.text.tokens import content_terms

_PRIOR_PASSAGES = 50.0
"""Passages without the word that are assumed besides those read: in a small library no word is common."""
_SAMPLE = 600
_LIGHT = 0.4
_UNSPACED = re.compile(f"[{CJK}]{{3,}}")
_MEASURES = frozenset(term for word in words("asking.measures") for term in content_terms(word))
"""Words of quantity, which a text need not say ("the maximum number of")."""


class Word(NamedTuple):
    """One word of a question: its weight, and the sets of index terms any of which says it (also in translation)."""

    weight: float
    ways: tuple[frozenset[str], ...]

    def share(self, terms: Collection[str]) -> float:
        """Return how much of the word `terms` hold (0–1); less than half of a word is nothing."""
        best = max((sum(t in terms for t in way) / len(way) for way in self.ways), default=0.0)
        return best if best >= 0.5 else 0.0


@lru_cache(maxsize=20_000)
def terms_of(text: str) -> frozenset[str]:
    """Return the content terms of a text."""
    return frozenset(content_terms(text))


class Vocabulary:
    """In how many passages of a library each term stands."""

    def __init__(self, library: Library, first: Sequence[Passage]) -> None:
        """Count in the passages of the sources of `first`, evenly spread over them where there are many."""
        sources = dict.fromkeys(p.source for p in first)
        most = max(20, _SAMPLE // max(1, len(sources)))
        counted: dict[str, Passage] = {p.id: p for p in first}
        for source in sources:
            passages = library.passages(source)
            step = max(1, len(passages) // most)
            counted.update({p.id: p for p in passages[::step]})
        self.passages = len(counted)
        self.frequency: Counter[str] = Counter()
        for passage in counted.values():
            self.frequency.update(terms_of(f"{passage.heading}\n{passage.text}"))

    def weight(self, ways: Iterable[frozenset[str]]) -> float:
        """Return the inverse passage frequency of a word said in any of `ways`."""
        found = max((min(self.frequency[t] for t in way) for way in ways if way), default=0)
        return log((self.passages + _PRIOR_PASSAGES) / (found + 1))


def asked_words(question: str, language: str, passages: Sequence[Passage], vocabulary: Vocabulary) -> list[Word]:
    """Return the words of `question` that say what it is about, weighed; none where it has only words of every question."""
    found: list[Word] = []
    for unit in units_for(question, language, passages):
        for ways in _words_of(unit, vocabulary):
            light = unit.worth < 1 or ways[0] <= _MEASURES
            rarity = vocabulary.weight(ways) * (_LIGHT if light else 1.0)
            found.append(Word(rarity, ways))
    return found


def _words_of(unit: Unit, vocabulary: Vocabulary) -> Iterator[tuple[frozenset[str], ...]]:
    """The ways to say each word of a unit; a run of a script without spaces is cut into its words."""
    own, translated = frozenset(content_terms(unit.text)), unit.ways[1:]
    pieces = _cut(unit.text, vocabulary) if _UNSPACED.fullmatch(unit.text) and own == unit.ways[0] else []
    if len(pieces) < 2:
        yield unit.ways
        return
    for piece in pieces:
        ways = (frozenset(content_terms(piece)), *translated)
        if len(piece) > 1 and ways[0]:
            yield ways


def _cut(run: str, vocabulary: Vocabulary) -> list[str]:
    """Cut a run of a script without spaces into words.

    Two characters that stand side by side in no passage are of different words, unless neither of them stands
    beside its other neighbour either: then they are a word that no passage has.
    """
    known = [vocabulary.frequency[run[i : i + 2]] > 0 for i in range(len(run) - 1)]
    words: list[str] = []
    start = 0
    for place, together in enumerate(known):
        alone = place == start and (place + 1 >= len(known) or not known[place + 1])
        if not together and not alone:
            words.append(run[start : place + 1])
            start = place + 1
    return [*words, run[start:]]
