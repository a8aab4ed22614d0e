"""Review sections without a model, and find contradictions between their claims and other sources."""

from collections.abc import Iterator, Sequence

from deep_research.data import Brief, Claim, Contradiction, Review, Section, SectionReview, Side
from deep_research.i18n.catalog import phrase
from deep_research.ports import Library
from deep_research.reasoners.extractive.question_analysis import wants_latest
from deep_research.text.tokens import content_terms
from deep_research.verification.contradictions import contradict
from deep_research.verification.numbers import quantities
from deep_research.verification.verify import evidence_sentences

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


_UNSAID = 0.6
"""A section that says less of its subject's name is about something else."""
_ATTEMPTS = 2
"""Without a model the same searches find the same again: a second attempt is the last that can bring something."""
_RECENT_YEARS = 2
_SCORES = {"sufficient": 10, "partial": 5, "missing": 1}


def review_section(section: Section, claims: Sequence[Claim], library: Library) -> SectionReview:
    """Return how a section's claims cover what it is about, and whether it is worth another attempt."""
    row = _row(section, [c for c in claims if c.stands])
    retry = row.status != "sufficient" and section.attempts < _ATTEMPTS
    return row.model_copy(update={"score": _SCORES[row.status], "retry": retry})


def review(brief: Brief, sections: Sequence[Section], claims: Sequence[Claim], library: Library) -> Review:
    """Return per-section coverage; a section without evidence, or with very little, is sent out again once."""
    rows = [review_section(s, [c for c in claims if c.section == s.title], library) for s in sections]
    retry = tuple(row.title for row in rows if row.retry)
    score = round(sum(row.score for row in rows) / len(rows)) if rows else 1
    return Review(
        is_sufficient=not retry,
        overall_score=max(1, min(10, score)),
        section_coverage=tuple(rows),
        sections_to_retry=retry,
        contradictions=contradictions(sections, claims, library),
        gaps=_outdated(brief, sections, library),
        reasoning="; ".join(f"{row.title}: {row.status}" for row in rows),
    )


def _outdated(brief: Brief, sections: Sequence[Section], library: Library) -> tuple[str, ...]:
    """Say that the newest source is old where the question asks for the latest state; nothing without dates."""
    used = {key for section in sections for key in section.sources}
    dates = [source.published for source in library.sources() if source.id in used and source.published]
    read = [kept.retrieved_at for key in used if (kept := library.snapshot(key)) is not None]
    if not (dates and read and wants_latest(brief.question or brief.title)):
        return ()
    newest, today = max(dates), max(read)
    old = int(today[:4]) - int(newest[:4]) > _RECENT_YEARS
    return (phrase("review_outdated", brief.language, date=newest),) if old else ()


def _row(section: Section, own: Sequence[Claim]) -> SectionReview:
    """Return the review of one section: what it says of the parts it was to answer, never more."""
    if not own:
        return SectionReview(title=section.title, status="missing", notes=section.subject or section.title)
    if section.missing:
        return SectionReview(
            title=section.title, status="partial", notes="; ".join(section.missing), missing=section.missing
        )
    terms = set(content_terms(section.subject))
    uncovered = terms - {term for claim in own for term in content_terms(claim.text)}
    if terms and len(uncovered) > _UNSAID * len(terms):
        return SectionReview(title=section.title, status="partial", notes=_words_of(uncovered, section.subject))
    return SectionReview(title=section.title, status="sufficient")


def _words_of(terms: set[str], text: str) -> str:
    """Return the words of a text that stand for these index terms: what a search can be made with."""
    return " ".join(word for word in text.split() if terms & set(content_terms(word)))
