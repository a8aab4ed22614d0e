"""Ranking passages by BM25.

Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
never-negative IDF of Apache Lucene. Rare terms choose the candidates; terms of too many passages
are counted for the candidates only (as in MaxScore, Turtle & Flood, 1995).
"""

import math
from collections.abc import Collection, Container, Iterable, Mapping, Set
from copy import copy

from deep_research.search.term_index import TermIndex

POSTINGS_BUDGET = 6_000
"""Occurrences that one query may score; the terms beyond it, which are the most frequent, only re-score candidates."""
SCAN_BUDGET = 300_000
"""Occurrences that may be looked through for the candidates; terms beyond it, which say next to nothing, are left out."""
CANDIDATES = 300


def idf(frequency: int, passages: int) -> float:
    """Return the weight of a term that occurs in `frequency` of `passages` passages."""
    return math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5))


class Ranking:
    """The passages that answer a query: `scores`, and what each term gave.

    `allowed` restricts to some passages. `terms` maps a term to its weight in the query.
    """

    def __init__(self, index: TermIndex, terms: Mapping[str, float], *, allowed: Container[int] | None = None) -> None:
        self._index = index
        self._allowed = allowed
        self.passages = index.count_passages()
        known = {term: frequency for term in terms if (frequency := index.frequency(term))}
        self._frequencies = dict(sorted(known.items(), key=lambda item: (item[1], item[0])))
        self.idf = {term: terms[term] * idf(frequency, self.passages) for term, frequency in self._frequencies.items()}
        self._by_term: dict[str, dict[int, float]] = {}
        self.scores: dict[int, float] = {}
        self._score()

    def _score(self) -> None:
        scores: dict[int, float] = {}
        spent = 0
        # Of a few allowed passages all are candidates: nothing else needs to be scored.
        among: Collection[int] | None = None
        if isinstance(self._allowed, Set) and len(self._allowed) <= CANDIDATES:
            among = self._allowed
        for term, frequency in self._frequencies.items():
            spent += frequency
            if scores and spent > SCAN_BUDGET:
                break
            if scores and spent > POSTINGS_BUDGET and among is None:
                among = self._highest(scores, CANDIDATES)
                scores = {number: scores[number] for number in among}
            found = self._index.term_scores(term, frequency, passages=self.passages, weight=self.idf[term], among=among)
            self._by_term[term] = found
            known = scores.get
            for number, score in found.items():
                scores[number] = known(number, 0.0) + score
        self.scores = {number: scores[number] for number in sorted(self._allowed_of(scores))}

    def _highest(self, scores: Mapping[int, float], count: int) -> list[int]:
        """Return the allowed passages with the highest scores."""
        # Sorting all is faster than a heap, which compares in Python.
        return sorted(self._allowed_of(scores), key=scores.__getitem__, reverse=True)[:count]

    def _allowed_of(self, numbers: Iterable[int]) -> Iterable[int]:
        return numbers if self._allowed is None else filter(self.allows, numbers)

    def restricted_to(self, numbers: Set[int]) -> "Ranking":
        """Return the ranking of some of the passages, whose scores change apart from these."""
        part = copy(self)
        part._allowed = numbers
        part.scores = {number: score for number, score in self.scores.items() if number in numbers}
        return part

    def parts(self, number: int) -> list[float]:
        """Return what each term, rarest first, gives to a passage."""
        return [found.get(number, 0.0) for found in self._by_term.values()]

    def best(self, count: int) -> list[int]:
        """Return the `count` best passages, best first; equal scores in order of arrival."""
        return sorted(self.scores, key=self.scores.__getitem__, reverse=True)[:count]

    def allows(self, number: int) -> bool:
        """Return whether the passage may be in the result."""
        return self._allowed is None or number in self._allowed
