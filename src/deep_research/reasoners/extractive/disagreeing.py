"""Contradictions without a model: claims, and sentences of other sources, that say another value or the opposite."""

from collections.abc import Iterator, Sequence

from deep_research.data import Claim, Contradiction, Section, Side
from deep_research.ports import Library
from deep_research.text.contradictions import contradict
from deep_research.text.numbers import quantities
from deep_research.text.tokens import content_terms
from deep_research.text.verification import evidence_sentences

_LOOKED_UP, _HITS, _MOST = 24, 4, 8
_SHARED = 0.6
"""Share of a claim's terms that a sentence must have to be looked at."""


def contradictions(sections: Sequence[Section], claims: Sequence[Claim], library: Library) -> tuple[Contradiction, ...]:
    """Return where sources disagree: each claim against the other claims, and, where it has a number, against what
    the library has of its kind.
    """
    standing = [c for c in claims if c.stands and c.passages]
    about = {s.title: s.subject or s.title for s in sections}
    said = [Side(statement=c.text, passages=c.passages) for c in standing]
    looked_up = [c.id for c in standing if quantities(c.text)][:_LOOKED_UP]
    found: dict[frozenset[str], Contradiction] = {}
    for claim, side in zip(standing, said, strict=True):
        others = [*said, *(_alike(claim, library) if claim.id in looked_up else ())]
        for other in _against(side, others, about.get(claim.section, "")):
            pair = frozenset((side.statement, other.statement))
            found.setdefault(pair, Contradiction(sides=(side, other)))
    return tuple(found.values())[:_MOST]


def _against(side: Side, others: Sequence[Side], about: str) -> Iterator[Side]:
    """Those of other sources that cannot be true together with `side`."""
    terms = set(content_terms(side.statement))
    for other in others:
        shared = len(terms & set(content_terms(other.statement)))
        if _sources(side) & _sources(other) or shared < _SHARED * len(terms):
            continue
        if contradict(side.statement, other.statement, about):
            yield other


def _sources(side: Side) -> set[str]:
    return {key.split("p")[0] for key in side.passages}


def _alike(claim: Claim, library: Library) -> Iterator[Side]:
    """Sentences of other sources that the library has for a claim."""
    own = {key.split("p")[0] for key in claim.passages}
    for hit in library.search(claim.text, limit=_HITS):
        if hit.passage.source not in own:
            for line in evidence_sentences(hit.passage.text):
                yield Side(statement=line, passages=(hit.passage.id,))
