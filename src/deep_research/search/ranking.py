"""Ranking passages by BM25 over posting lists.

Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
never-negative IDF of Apache Lucene. Rare terms choose the candidates; terms whose posting lists
would cost too much are counted for the candidates only (as in MaxScore, Turtle & Flood, 1995).
"""

import heapq
import math
from array import array
from bisect import bisect_left
from collections.abc import Container, Iterable, Mapping
from functools import lru_cache

from deep_research.search.postings import BLOCK_BITS, BLOCK_SIZE, WEIGHT_BITS, WEIGHT_MASK, Block, Postings, weights

K1 = 1.2
B = 0.75
POSTINGS_BUDGET = 60_000
"""Postings that one query may score; the terms beyond it, which are the most frequent, only re-score candidates."""
CANDIDATES = 1000


@lru_cache(maxsize=8)
def _table(average_length: int) -> list[float]:
    return weights(average_length, k1=K1, b=B)


def idf(frequency: int, passages: int) -> float:
    """Return the weight of a term that occurs in `frequency` of `passages` passages."""
    return math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5))


class TermScores:
    """The score that one term of the query gives to each passage."""

    def __init__(self, blocks: Iterable[Block], weight: float, table: list[float]) -> None:
        self._blocks: dict[int, array[int]] = dict(blocks)
        self._weight = weight
        self._table = table
        self._all: dict[int, float] | None = None

    def all(self) -> dict[int, float]:
        """Return every passage that holds the term."""
        if self._all is None:
            weight, table = self._weight, self._table
            self._all = {
                (block << BLOCK_BITS) | entry >> WEIGHT_BITS: weight * table[entry & WEIGHT_MASK]
                for block, entries in self._blocks.items()
                for entry in entries
            }
        return self._all

    def of(self, number: int) -> float:
        """Return the score of one passage; 0 when it does not hold the term."""
        if self._all is not None:
            return self._all.get(number, 0.0)
        entries = self._blocks.get(number >> BLOCK_BITS)
        if entries is None:
            return 0.0
        first = (number % BLOCK_SIZE) << WEIGHT_BITS
        index = bisect_left(entries, first)
        if index == len(entries) or entries[index] >> WEIGHT_BITS != number % BLOCK_SIZE:
            return 0.0
        return self._weight * self._table[entries[index] & WEIGHT_MASK]


class Ranking:
    """The passages that answer a query: `scores`, and what each term gave.

    `allowed` restricts to some passages. `terms` maps a term to its weight in the query.
    """

    def __init__(
        self, postings: Postings, terms: Mapping[str, float], *, allowed: Container[int] | None = None
    ) -> None:
        self._postings = postings
        self._allowed = allowed
        self.passages, total = postings.statistics()
        frequencies = postings.frequencies(terms)
        table = _table(round(total / max(self.passages, 1)))
        self.order = sorted(frequencies, key=lambda t: (frequencies[t], t))
        self.idf = {term: terms[term] * idf(frequencies[term], self.passages) for term in self.order}
        self.terms = [TermScores(postings.blocks(term), self.idf[term], table) for term in self.order]
        self.scores: dict[int, float] = {}
        self._score([frequencies[term] for term in self.order])

    def _score(self, frequencies: list[int]) -> None:
        scores: dict[int, float] = {}
        spent = 0
        for place, (term, frequency) in enumerate(zip(self.terms, frequencies, strict=True)):
            spent += frequency
            if scores and spent > POSTINGS_BUDGET:
                scores = self._only_candidates(scores, self.terms[place:])
                break
            for number, score in term.all().items():
                scores[number] = scores.get(number, 0.0) + score
        allowed = self._allowed
        self.scores = scores if allowed is None else {n: s for n, s in scores.items() if n in allowed}

    def _only_candidates(self, scores: dict[int, float], frequent: list[TermScores]) -> dict[int, float]:
        allowed = self._allowed
        open_to = scores if allowed is None else [n for n in scores if n in allowed]
        best = heapq.nlargest(CANDIDATES, open_to, key=scores.__getitem__)
        return {n: scores[n] + sum(term.of(n) for term in frequent) for n in best}

    def parts(self, number: int) -> list[float]:
        """Return what each term (in the order of `terms`) gives to a passage."""
        return [term.of(number) for term in self.terms]

    def best(self, count: int) -> list[int]:
        """Return the `count` best passages, best first; equal scores in order of arrival."""
        return heapq.nsmallest(count, self.scores, key=lambda n: (-self.scores[n], n))

    def allows(self, number: int) -> bool:
        """Whether the passage may be in the result."""
        return self._allowed is None or number in self._allowed
