"""Search a collection of passages: BM25, titles in the question, a second hop.

Everything here is arithmetic over the index and the texts of some ten candidates; there is no model
and nothing is learnt.

BM25: Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
never-negative IDF of Apache Lucene. Rare terms choose the candidates; terms of too many passages
are counted for the candidates only (as in MaxScore, Turtle & Flood, 1995).
"""

import heapq
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from functools import lru_cache
from typing import NamedTuple

from claimcheck.language import CJK, HAN
from claimcheck.lexicon import compile_on_use
from claimcheck.text.tokens import index_terms
from deep_research.search.term_index import TermIndex
from deep_research.search.title_names import heading_key, key, names, phrases, possible_titles, title_keys
from deep_research.text.near_duplicates import Distinct
from deep_research.text.question_terms import joined_words, measures_asked

_CJK = re.compile(f"[{CJK}]")
_HAN = compile_on_use(f"[{HAN}]")

# A word of a spaced script is one term; a CJK word of n characters is n-1 bigrams and n characters.
# These weights make a CJK word of two or three characters count about as much as a word.
_BIGRAM = 0.35
_CHARACTER = 0.15
_MEASURE = 0.5


def query_terms(text: str) -> dict[str, float]:
    """Return a query's terms with weights; none if it has function words alone.

    Two words are also looked for as the one that documents may make of them, and "how large" as a size.
    """
    joined = " ".join(word for made in joined_words(text).values() for word in made)
    found = {term: weight for term in index_terms(f"{text} {joined}") if (weight := _weight(term))}
    measures = " ".join(word for told in measures_asked(text).values() for word in told)
    return {**dict.fromkeys(index_terms(measures), _MEASURE), **found}


def _weight(term: str) -> float:
    if not _CJK.match(term):
        return 1.0
    if len(term) == 1:
        return _CHARACTER if _HAN.match(term) else 0.0
    return _BIGRAM


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

    def __init__(self, index: TermIndex, terms: Mapping[str, float], *, allowed: Set[int] | None = None) -> None:
        self._index = index
        self._allowed = allowed
        self.passages = index.count_passages()
        known = {term: frequency for term in terms if (frequency := index.frequency(term))}
        self._frequencies = dict(sorted(known.items(), key=lambda item: (item[1], item[0])))
        self.idf = {term: terms[term] * idf(frequency, self.passages) for term, frequency in self._frequencies.items()}
        self._by_term: dict[str, dict[int, float]] = {}
        scores: dict[int, float] = {}
        spent = 0
        # Of a few allowed passages all are candidates: nothing else needs to be scored.
        is_few = self._allowed is not None and len(self._allowed) <= CANDIDATES
        among: Collection[int] | None = self._allowed if is_few else None
        for term, frequency in self._frequencies.items():
            spent += frequency
            if scores and spent > SCAN_BUDGET:
                break
            if scores and spent > POSTINGS_BUDGET and among is None:
                # Sorting all is faster than a heap, which compares in Python.
                among = sorted(self._allowed_of(scores), key=scores.__getitem__, reverse=True)[:CANDIDATES]
                scores = {number: scores[number] for number in among}
            found = self._index.term_scores(term, frequency, passages=self.passages, weight=self.idf[term], among=among)
            self._by_term[term] = found
            known = scores.get
            for number, score in found.items():
                scores[number] = known(number, 0.0) + score
        self.scores = {number: scores[number] for number in sorted(self._allowed_of(scores))}

    def _allowed_of(self, numbers: Iterable[int]) -> Iterable[int]:
        return numbers if self._allowed is None else filter(self.allows, numbers)

    def parts(self, number: int) -> list[float]:
        """Return what each term, rarest first, gives to a passage."""
        return [found.get(number, 0.0) for found in self._by_term.values()]

    def best(self, count: int) -> list[int]:
        """Return the `count` best passages, best first; equal scores in order of arrival."""
        return sorted(self.scores, key=self.scores.__getitem__, reverse=True)[:count]

    def allows(self, number: int) -> bool:
        """Return whether the passage may be in the result."""
        return self._allowed is None or number in self._allowed


FIRST_HITS = 10
"""Candidates whose names are followed."""
LONGEST_QUERY = 2000
"""Characters of a query in which titles are looked for."""
LONGEST_HEADING = 5
"""Words of the longest heading within a document that is looked for in a query."""
LONGEST_QUESTION = 30
"""Words besides function words of a query up to which it is a question. Whole abstracts as queries for what they refer to
find more without a second hop from about this length on, shorter ones find more with it."""
COMMON = 200
"""A name in more passages than this links nothing."""
_POOL = 3
"""How many times the wanted passages are looked at, for near-duplicates."""
_TITLE_LINK = 0.7
_NAME_LINK = 0.5
_PREPARED = 2_000
"""So many passages are kept with their names: a run asks many questions of the same ones."""
_COVERED = 0.2
"""What a term is still worth in the second passage when the first holds it already."""


class Text(NamedTuple):
    """The text of a passage, with the title of its source."""

    text: str
    title: str


Read = Callable[[Iterable[int]], Mapping[int, Text]]
"""Gives the texts of passages by their numbers in the index."""


def search(
    index: TermIndex, read: Read, query: str, *, limit: int, hops: int = 1, allowed: Set[int] | None = None
) -> list[tuple[int, float]]:
    """Return the best passages as (number, score), best first, near-duplicates once.

    `hops` 2 follows the names in the first hits of a question; a long description of what is sought names enough
    itself, and names that it does not hold lead away from it. `allowed` restricts to some passages.
    """
    terms = query_terms(query)
    ranking = Ranking(index, terms, allowed=allowed)
    _add_titles(index, ranking, query)
    if hops > 1 and sum(terms.values()) <= LONGEST_QUESTION:
        _add_second_hop(index, ranking, read(ranking.best(FIRST_HITS)), query, limit)
    return _chosen(ranking, read, limit)


def _chosen(ranking: Ranking, read: Read, limit: int) -> list[tuple[int, float]]:
    """Return the best passages that do not repeat a better one."""
    order = ranking.best(limit * _POOL)
    distinct = Distinct()
    kept: list[tuple[int, float]] = []
    for first in range(0, len(order), limit):
        if len(kept) >= limit:
            break
        for number, text in read(order[first : first + limit]).items():
            if distinct.add(text.text):
                kept.append((number, ranking.scores[number]))
    return heapq.nsmallest(limit, kept, key=lambda hit: (-hit[1], hit[0]))


def _add_titles(index: TermIndex, ranking: Ranking, query: str) -> None:
    """Add the weight of a title that the question names to the passages under it.

    It is that of its terms, or of the title as one term: "Index Types" is rare where "index" and
    "type" are not. Among many passages under one title each gains less.
    """
    for title, frequency in _titles_in(index, query).items():
        terms = sum(ranking.idf.get(term, 0.0) for term in set(index_terms(title)))
        gain = max(terms, idf(frequency, ranking.passages)) / frequency**0.25
        for number in index.passages_under_title(title):
            if ranking.allows(number) and number in ranking.scores:
                ranking.scores[number] += gain


def _titles_in(index: TermIndex, query: str) -> dict[str, int]:
    """Return the titles in a query, longest at each place, with numbers of passages."""
    places = possible_titles(query[:LONGEST_QUERY])
    headings = {
        title: name
        for titles in places
        for title, width in titles.items()
        if width <= LONGEST_HEADING and (name := heading_key(title))
    }
    known = index.title_frequencies({title for titles in places for title in titles} | set(headings.values()))
    found: dict[str, int] = {}
    free = 0  # a title inside a longer one is a part of that name
    for place, titles in enumerate(places):
        longest = next((title for title in titles if title in known or headings.get(title) in known), None)
        if longest and place >= free:
            named = (longest, headings.get(longest, ""))
            found.update({name: known[name] for name in named if name in known})
            free = place + titles[longest]
    return found


def _add_second_hop(index: TermIndex, ranking: Ranking, texts: Mapping[int, Text], query: str, limit: int) -> None:
    """Raise passages reached by names in a first hit, if they hold what it lacks.

    The score of a passage reached from a hit is a share of the hit's score plus its own BM25, in
    which terms the hit covers count little; the best way to reach a passage counts.
    """
    raised: dict[int, float] = {}
    worst = min((ranking.scores[number] for number in ranking.best(limit)), default=0.0)
    for first, linked in _links(index, ranking, texts, f" {key(query)} ").items():
        covered = [bool(score) for score in ranking.parts(first)]
        for number, strength in linked.items():
            share = strength * ranking.scores[first]
            if number == first or share + ranking.scores.get(number, 0.0) <= worst or not ranking.allows(number):
                continue
            rest = sum(s * (_COVERED if c else 1.0) for s, c in zip(ranking.parts(number), covered, strict=True))
            raised[number] = max(raised.get(number, 0.0), share + rest)
    for number, score in raised.items():
        ranking.scores[number] = max(ranking.scores.get(number, 0.0), score)


def _links(index: TermIndex, ranking: Ranking, texts: Mapping[int, Text], asked: str) -> dict[int, dict[int, float]]:
    """Return for each first hit the passages its names lead to, with link strengths."""
    of_hit = {number: _names_of(text) for number, text in texts.items()}
    new = {name for _, titles in of_hit.values() for name in titles if f" {name} " not in asked}
    in_texts = frozenset[str]().union(*(found for found, _ in of_hit.values()))
    reached = {name: _passages_with(index, name, ranking.passages) for name in new & in_texts}
    for title, frequency in index.title_frequencies(new).items():
        if frequency <= COMMON:
            strength: float = _TITLE_LINK / frequency**0.25
            under = dict.fromkeys(index.passages_under_title(title), strength)
            reached[title] = _merged([reached.get(title, {}), under])
    return {
        number: _merged(reached[name] for name in titles if name in reached) for number, (_, titles) in of_hit.items()
    }


def _passages_with(index: TermIndex, name: str, passages: int) -> dict[int, float]:
    """Return the passages that a name leads to; none if it is in one, or too many."""
    numbers = index.passages_with_name(name, most=COMMON + 1)
    if not 1 < len(numbers) <= COMMON:
        return {}
    return dict.fromkeys(numbers, _NAME_LINK * min(1.0, idf(len(numbers), passages) / 6))


def _merged(links: Iterable[Mapping[int, float]]) -> dict[int, float]:
    merged: dict[int, float] = {}
    for one in links:
        for number, strength in one.items():
            merged[number] = max(merged.get(number, 0.0), strength)
    return merged


@lru_cache(maxsize=_PREPARED)
def _names_of(text: Text) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names in a passage, and these with titles that may hide in them."""
    found = title_keys(text.title) | names(text.text)
    inner = {k for phrase in set(phrases(text.text)) for place in possible_titles(phrase) for k in place}
    return found, found | inner
