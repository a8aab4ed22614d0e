"""Judging sections without a model: are the section's terms covered, by how many independent sources."""

from collections.abc import Sequence

from deep_research.data import Brief, Claim, Review, Section, SectionReview
from deep_research.ports import Library
from deep_research.reasoners.extractive.disagreeing import contradictions
from deep_research.text.near_duplicates import are_several
from deep_research.text.tokens import content_terms

_MIN_CLAIMS = 3
_ATTEMPTS = 2
"""Without a model the same searches find the same again: a second attempt is the last that can bring something."""
_SCORES = {"sufficient": 10, "partial": 5, "missing": 1}


def review_section(section: Section, claims: Sequence[Claim], library: Library) -> SectionReview:
    """Return how a section's claims cover what it is about, and whether it is worth another attempt."""
    row = _row(section, [c for c in claims if c.stands], len(library.sources()), library)
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
        reasoning="; ".join(f"{row.title}: {row.status}" for row in rows),
    )


def _row(section: Section, own: Sequence[Claim], available: int, library: Library) -> SectionReview:
    if not own:
        return SectionReview(title=section.title, status="missing", notes=section.subject or section.title)
    said = {term for claim in own for term in content_terms(claim.text)}
    terms = set(content_terms(section.subject))
    uncovered = terms - said
    sources = dict.fromkeys(p.split("p")[0] for claim in own for p in claim.passages)
    texts = (snapshot.text for key in sources if (snapshot := library.snapshot(key)) is not None)
    thin = len(own) < _MIN_CLAIMS
    lonely = available >= 2 and len(own) < _MIN_CLAIMS + 1 and not are_several(texts)
    if thin or lonely or (terms and len(uncovered) > 0.6 * len(terms)):
        return SectionReview(title=section.title, status="partial", notes=_words_of(uncovered, section.subject))
    return SectionReview(title=section.title, status="sufficient")


def _words_of(terms: set[str], text: str) -> str:
    """The words of a text that stand for these index terms: what a search can be made with."""
    return " ".join(word for word in text.split() if terms & set(content_terms(word)))
