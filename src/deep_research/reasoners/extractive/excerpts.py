"""Excerpts: one to three consecutive sentences of a passage that read well alone, found, ranked and chosen."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log
from typing import NamedTuple

from deep_research.data import Passage
from deep_research.reasoners.extractive.sentence_quality import (
    ends_sentence,
    first_of_chain,
    is_lead,
    is_plain,
    is_quotable,
    reading_length,
)
from deep_research.reasoners.extractive.sentence_scoring import About, Wish, rate
from deep_research.text.page_noise import ordering_lines
from deep_research.text.sentences import Block, blocks, sentences
from deep_research.text.tokens import content_terms

_FEWEST, _MOST = 2, 8
_ITEM_CHARS, _LIST_CHARS = 240, 950


class Listing(NamedTuple):
    """A lead with the first sentence of each item below it, white space folded, and where the lead begins."""

    start: int
    lead: str
    items: tuple[str, ...]


def listings(text: str) -> Iterator[Listing]:
    """Yield the lists of a passage that may be quoted, in order: short, of plain words, none of them left out."""
    found = list(blocks(text))
    for place, block in enumerate(found):
        items = _items(found[place + 1 :])
        if block.kind != "prose" or not _FEWEST <= len(items) <= _MOST:
            continue
        *_, last = sentences(text[block.start : block.end])
        lead = _folded(text[block.start + last.start : block.start + last.end])
        listed = tuple(_first_sentence(text[item.start : item.end]) for item in items)
        if is_lead(lead) and all(map(_is_short, listed)) and reading_length(" ".join([lead, *listed])) <= _LIST_CHARS:
            yield Listing(block.start + last.start, lead, listed)


def _items(following: Sequence[Block]) -> list[Block]:
    kinds = [block.kind for block in following]
    end = next((i for i, kind in enumerate(kinds) if kind != "item"), len(kinds))
    return list(following[:end])


def _first_sentence(item: str) -> str:
    found = sentences(item)
    return _folded(item[found[0].start : found[0].end]) if found else ""


def _folded(text: str) -> str:
    return " ".join(text.split())


def _is_short(item: str) -> bool:
    return 0 < reading_length(item) <= _ITEM_CHARS and is_plain(item)


_OWN_PAGE = 1.7
_WHOLE = 1.25
"""What a list that is quoted whole is worth beside a sentence that says as much."""


class Excerpt(NamedTuple):
    """One to three consecutive sentences of one passage, white space folded, that read well alone; or, where it
    is a `listing`, a sentence with the items of the list it leads on to."""

    sentences: tuple[str, ...]
    passage: Passage
    start: int
    terms: frozenset[str]
    score: float
    listing: bool = False

    @property
    def text(self) -> str:
        """The whole excerpt."""
        return " ".join(self.sentences)

    @property
    def length(self) -> int:
        """Length in Latin characters; a CJK character counts as two and a half."""
        return reading_length(self.text)


def excerpts(passages: Sequence[Passage], wish: Wish, *, titles: dict[str, str] | None = None) -> list[Excerpt]:
    """Return the quotable excerpts of `passages` (best passage first), ranked by `wish`, best first.

    `titles` gives the title of each source id: a passage of a document about the subject need not
    name the subject in every sentence.
    """
    weights = _damped(wish, passages)
    found: list[Excerpt] = []
    for rank, passage in enumerate(passages):
        about = About.of(passage, (titles or {}).get(passage.source, ""))
        found.extend(_of_passage(passage, wish, weights, about, rank))
        found.extend(_lists_of(passage, wish, weights, about, rank))
    return sorted(found, key=lambda e: (-e.score, e.passage.id, e.start))


def _damped(wish: Wish, passages: Sequence[Passage]) -> dict[str, float]:
    """Terms that stand in nearly every passage tell less."""
    frequency: Counter[str] = Counter()
    for passage in passages:
        frequency.update(set(content_terms(passage.text)))
    total = len(passages) + 1
    return {t: w * (0.3 + log(total / (1 + frequency[t]) + 1)) for t, w in wish.weights.items()}


def _lists_of(passage: Passage, wish: Wish, weights: dict[str, float], about: About, rank: int) -> Iterable[Excerpt]:
    """The lists of a passage with the sentences that lead on to them, rated by these."""
    for start, lead, items in listings(passage.text):
        led, every = (frozenset(content_terms(text)) for text in (lead, " ".join([lead, *items])))
        score = max(rate((lead,), led, wish, weights, about), rate((lead,), every, wish, weights, about))
        if score > 0:
            yield Excerpt((lead, *items), passage, start, every, score * _WHOLE / (1.0 + 0.05 * rank), listing=True)


def _of_passage(passage: Passage, wish: Wish, weights: dict[str, float], about: About, rank: int) -> Iterable[Excerpt]:
    spans = sentences(passage.text)
    texts = [" ".join(passage.text[s.start : s.end].split()) for s in spans]
    orders = list(ordering_lines(passage.text))
    for index in range(len(spans)):
        first = first_of_chain(texts, spans, index)
        if first is None:
            continue
        chosen = tuple(texts[first : index + 1])
        if not all(is_quotable(text) for text in chosen) or _within(orders, spans[first].start, spans[index].end):
            continue
        terms = frozenset(t for text in chosen for t in content_terms(text))
        score = rate(chosen, terms, wish, weights, about)
        if score > 0:
            score *= 1.0 / (1.0 + 0.05 * rank)
            yield Excerpt(chosen, passage, spans[first].start, terms, score)


def _within(stretches: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    return any(start < last and first < end for first, last in stretches)


def pick(
    ranked: Sequence[Excerpt], *, limit: int, budget: int, taken: Sequence[Excerpt] = (), per_source: int = 4
) -> list[Excerpt]:
    """Choose up to `limit` excerpts within `budget` characters: relevant, and unlike each other (MMR).

    Follows Carbonell and Goldstein, "The use of MMR", SIGIR 1998, with Jaccard similarity of terms;
    `per_source` bounds what one source may contribute.
    """
    chosen: list[Excerpt] = []
    pool = list(ranked[:200])
    used = 0
    sources: Counter[str] = Counter()
    while pool and len(chosen) < limit:
        best, best_value = None, 0.0
        for candidate in pool:
            likeness = max((_jaccard(candidate.terms, c.terms) for c in [*chosen, *taken]), default=0.0)
            if likeness > 0.6 or sources[candidate.passage.source] >= per_source:
                continue
            value = candidate.score * (1 - 0.8 * likeness) * (1 / (1 + 0.15 * sources[candidate.passage.source]))
            if value > best_value:
                best, best_value = candidate, value
        if best is None or (chosen and best_value < 0.33 * chosen[0].score):
            break
        pool = [c for c in pool if c is not best and not _overlaps(c, best)]
        if used + best.length > budget and chosen:
            continue
        chosen.append(best)
        used += best.length
        sources[best.passage.source] += 1
    return chosen


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    if not one or not other:
        return 0.0
    return len(one & other) / min(len(one), len(other)) * 0.5 + len(one & other) / len(one | other) * 0.5


def _overlaps(one: Excerpt, other: Excerpt) -> bool:
    return one.passage.id == other.passage.id and bool(set(one.sentences) & set(other.sentences))


def in_reading_order(chosen: Sequence[Excerpt]) -> list[list[Excerpt]]:
    """Group excerpts into paragraphs: one per source, the best source first, its excerpts as the text has them."""
    groups: dict[str, list[Excerpt]] = {}
    for excerpt in chosen:
        groups.setdefault(excerpt.passage.source, []).append(excerpt)
    return [sorted(group, key=lambda e: (e.passage.start, e.start)) for group in groups.values()]


def own_page_first(ranked: Sequence[Excerpt], called: frozenset[str]) -> list[Excerpt]:
    """Rank excerpts again: those of the sources that the question calls by their name are worth more."""
    raised = [e._replace(score=e.score * _OWN_PAGE) if e.passage.source in called else e for e in ranked]
    return sorted(raised, key=lambda e: -e.score)


def paragraph(group: Sequence[Excerpt]) -> str:
    """Return excerpts as draft Markdown in one paragraph; lists, and lines without a full stop, stand apart."""
    parts = [""]
    for excerpt in group:
        if excerpt.listing or not ends_sentence(excerpt.text):
            parts += [cited(excerpt), ""]
        else:
            parts[-1] = f"{parts[-1]} {cited(excerpt)}".strip()
    return "\n\n".join(part for part in parts if part)


def cited(excerpt: Excerpt) -> str:
    """Return the excerpt as draft Markdown: each sentence with the id of its passage, a list as a list."""
    said = [f"{sentence} [{excerpt.passage.id}]" for sentence in excerpt.sentences]
    return "\n\n".join([said[0], "\n".join(f"- {item}" for item in said[1:])]) if excerpt.listing else " ".join(said)
