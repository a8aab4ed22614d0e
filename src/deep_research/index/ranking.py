"""Ranking passages by BM25 over posting lists.

Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
never-negative IDF of Apache Lucene.
"""

import math
from collections.abc import Container, Mapping
from functools import lru_cache

from deep_research.index.postings import BLOCK_BITS, WEIGHT_BITS, WEIGHT_MASK, Postings, weights

K1 = 1.2
B = 0.75
POSTINGS_BUDGET = 60_000
"""Posting entries that one query may open; terms beyond it (the most frequent) are left out."""


@lru_cache(maxsize=8)
def _table(average_length: int) -> list[float]:
    return weights(average_length, k1=K1, b=B)


def idf(frequency: int, passages: int) -> float:
    """Return the weight of a term that occurs in `frequency` of `passages` passages."""
    return math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5))


def bm25(postings: Postings, terms: Mapping[str, float], *, allowed: Container[int] | None = None) -> dict[int, float]:
    """Return the score of every passage that holds one of `terms` (term → its weight in the query)."""
    passages, total = postings.statistics()
    frequencies = postings.frequencies(terms)
    table = _table(round(total / max(passages, 1)))
    scores: dict[int, float] = {}
    opened = 0
    for term in sorted(frequencies, key=lambda t: (frequencies[t], t)):
        opened += frequencies[term]
        if scores and opened > POSTINGS_BUDGET:
            break
        weight = terms[term] * idf(frequencies[term], passages)
        for block, entries in postings.blocks(term):
            base = block << BLOCK_BITS
            for entry in entries:
                number = base | entry >> WEIGHT_BITS
                scores[number] = scores.get(number, 0.0) + weight * table[entry & WEIGHT_MASK]
    if allowed is None:
        return scores
    return {number: score for number, score in scores.items() if number in allowed}
