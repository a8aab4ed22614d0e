"""Search a collection of passages: BM25, titles in the question, a second hop.

BM25 is that of Robertson & Zaragoza (2009), with the never-negative IDF of Apache Lucene. Rare terms choose the
candidates; terms of too many passages are counted for these only (as in MaxScore, Turtle & Flood, 1995).
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

POSTINGS_BUDGET = 6_000  # occurrences that one query may score; more frequent terms only re-score candidates
SCAN_BUDGET = 300_000  # occurrences that may be looked through for the candidates; more frequent terms are left out
CANDIDATES = 300
LONGEST_QUESTION = 30
"""Words besides function words of a query up to which it is a question. Whole abstracts as queries for what they refer to
find more without a second hop from about this length on, shorter ones find more with it."""
COMMON = 200  # a name in more passages than this links nothing


def query_terms(text: str) -> dict[str, float]:
    """Return a query's terms with weights; none if it has function words alone.

    Two words are also looked for as the one that documents may make of them, and "how large" as a size.
    """
    joined = " ".join(word for made in joined_words(text).values() for word in made)
    found = {term: weight for term in index_terms(f"{text} {joined}") if (weight := _weight(term))}
    measures = " ".join(word for told in measures_asked(text).values() for word in told)
    return {**dict.fromkeys(index_terms(measures), 0.5), **found}


def _weight(term: str) -> float:
    """Return a term's weight: a CJK word of n signs is n-1 bigrams and n signs."""
    if not _CJK.match(term):
        return 1.0
    if len(term) == 1:
        return 0.15 if _HAN.match(term) else 0.0
    return 0.35


def idf(frequency: int, passages: int) -> float:
    """Return the weight of a term that occurs in `frequency` of `passages` passages."""
    return math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5))


class Ranking:
    """The passages that answer weighted `terms`: `scores`, and what each term gave."""

    def __init__(self, index: TermIndex, terms: Mapping[str, float], *, allowed: Set[int] | None = None) -> None:
        self._allowed = allowed
        self.passages = index.count_passages()
        known = {term: frequency for term in terms if (frequency := index.frequency(term))}
        frequencies = dict(sorted(known.items(), key=lambda item: (item[1], item[0])))
        self.idf = {term: terms[term] * idf(frequency, self.passages) for term, frequency in frequencies.items()}
        self._by_term: dict[str, dict[int, float]] = {}
        scores: dict[int, float] = {}
        spent = 0
        # Of a few allowed passages all are candidates: nothing else needs to be scored.
        among: Collection[int] | None = allowed if allowed is not None and len(allowed) <= CANDIDATES else None
        for term, frequency in frequencies.items():
            spent += frequency
            if scores and spent > SCAN_BUDGET:
                break
            if scores and spent > POSTINGS_BUDGET and among is None:
                # Sorting all is faster than a heap, which compares in Python.
                among = sorted(self._allowed_of(scores), key=scores.__getitem__, reverse=True)[:CANDIDATES]
                scores = {number: scores[number] for number in among}
            found = index.term_scores(term, frequency, passages=self.passages, weight=self.idf[term], among=among)
            self._by_term[term] = found
            before = scores.get
            for number, score in found.items():
                scores[number] = before(number, 0.0) + score
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


class Text(NamedTuple):
    """The text of a passage, with the title of its source."""

    text: str
    title: str


Read = Callable[[Iterable[int]], Mapping[int, Text]]  # gives the texts of passages by their numbers in the index


def search(
    index: TermIndex, read: Read, query: str, *, limit: int, hops: int = 1, allowed: Set[int] | None = None
) -> list[tuple[int, float]]:
    """Return the best passages as (number, score), best first, near-duplicates once.

    `hops` 2 follows the names in the first ten hits of a question; a long description names enough itself. `allowed`
    restricts to some passages.
    """
    terms = query_terms(query)
    ranking = Ranking(index, terms, allowed=allowed)
    _add_titles(index, ranking, query)
    if hops > 1 and sum(terms.values()) <= LONGEST_QUESTION:
        _add_second_hop(index, ranking, read(ranking.best(10)), query, limit)
    return _chosen(ranking, read, limit)


def _chosen(ranking: Ranking, read: Read, limit: int) -> list[tuple[int, float]]:
    """Return the best passages that do not repeat a better one."""
    order = ranking.best(3 * limit)
    distinct = Distinct()
    kept: list[tuple[int, float]] = []
    for first in range(0, len(order), limit):
        if len(kept) >= limit:
            break
        texts = read(order[first : first + limit]).items()
        kept += [(number, ranking.scores[number]) for number, text in texts if distinct.add(text.text)]
    return heapq.nsmallest(limit, kept, key=lambda hit: (-hit[1], hit[0]))


def _add_titles(index: TermIndex, ranking: Ranking, query: str) -> None:
    """Add the weight of a title that the question names to the passages under it.

    It is that of its terms, or of the title as one term: "Index Types" is rare where "index" and "type" are not.
    """
    for title, frequency in _titles_in(index, query).items():
        terms = sum(ranking.idf.get(term, 0.0) for term in set(index_terms(title)))
        gain = max(terms, idf(frequency, ranking.passages)) / frequency**0.25
        for number in index.passages_under_title(title):
            if ranking.allows(number) and number in ranking.scores:
                ranking.scores[number] += gain


def _titles_in(index: TermIndex, query: str) -> dict[str, int]:
    """Return the titles in a query, longest at each place, with numbers of passages."""
    places = possible_titles(query[:2_000])
    headings = {
        title: name
        for titles in places
        for title, width in titles.items()
        if width <= 5 and (name := heading_key(title))
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

    Their score is a share of the hit's plus their own BM25, in which terms that the hit covers count a fifth.
    """
    raised: dict[int, float] = {}
    worst = min((ranking.scores[number] for number in ranking.best(limit)), default=0.0)
    for first, linked in _links(index, ranking, texts, f" {key(query)} ").items():
        covered = [bool(score) for score in ranking.parts(first)]
        for number, strength in linked.items():
            share = strength * ranking.scores[first]
            if number == first or share + ranking.scores.get(number, 0.0) <= worst or not ranking.allows(number):
                continue
            rest = sum(s * (0.2 if c else 1.0) for s, c in zip(ranking.parts(number), covered, strict=True))
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
            strength: float = 0.7 / frequency**0.25
            under = dict.fromkeys(index.passages_under_title(title), strength)
            reached[title] = _merged([reached.get(title, {}), under])
    return {number: _merged(reached.get(name, {}) for name in titles) for number, (_, titles) in of_hit.items()}


def _passages_with(index: TermIndex, name: str, passages: int) -> dict[int, float]:
    """Return the passages that a name leads to; none if it is in one, or too many."""
    numbers = index.passages_with_name(name, most=COMMON + 1)
    if not 1 < len(numbers) <= COMMON:
        return {}
    return dict.fromkeys(numbers, 0.5 * min(1.0, idf(len(numbers), passages) / 6))


def _merged(links: Iterable[Mapping[int, float]]) -> dict[int, float]:
    merged: dict[int, float] = {}
    for one in links:
        for number, strength in one.items():
            merged[number] = max(merged.get(number, 0.0), strength)
    return merged


@lru_cache(maxsize=2_000)  # a run asks many questions of the same passages
def _names_of(text: Text) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names in a passage, and these with titles that may hide in them."""
    found = title_keys(text.title) | names(text.text)
    inner = {k for phrase in set(phrases(text.text)) for place in possible_titles(phrase) for k in place}
    return found, found | inner
