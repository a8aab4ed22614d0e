"""Reviewing: which sections are good enough, which go out once more."""

from deep_research.data import Brief, Claim, Review, Section
from deep_research.events import Reviewed
from deep_research.steps.context import RunContext


async def review(
    ctx: RunContext, brief: Brief, sections: list[Section], claims: list[Claim], iterations: int
) -> Review:
    """Return the review; names no section to retry once `max_review_iterations` are used up."""
    judged = await ctx.reasoner.review(brief, sections, claims, ctx.library)
    titles = {section.title for section in sections}
    retry = tuple(t for t in judged.sections_to_retry if t in titles)
    if judged.is_sufficient or iterations >= ctx.settings.max_review_iterations:
        retry = ()
    judged = judged.model_copy(update={"sections_to_retry": retry})
    ctx.emit(Reviewed(score=judged.overall_score, sufficient=judged.is_sufficient, retry=retry))
    return judged


def send_back(sections: list[Section], judged: Review) -> list[Section]:
    """Return the named sections as pending again, with the review's notes; the outline stays."""
    notes = {row.title: row.notes for row in judged.section_coverage}
    return [
        s.model_copy(update={"status": "pending", "notes": notes.get(s.title, "")})
        for s in sections
        if s.title in judged.sections_to_retry
    ]


def better(old: Section, new: Section, old_claims: list[Claim], new_claims: list[Claim]) -> bool:
    """Whether a section researched again replaces the earlier attempt.

    The earlier one was found lacking, so its length says little: it stays only where the newer one has less
    than half of its supported claims, or of the sources they rest on.
    """
    if not old.content or not any(c.stands for c in old_claims):
        return True
    before, now = _supported(old_claims), _supported(new_claims)
    return bool(new.content) and all(2 * n >= b for b, n in zip(before, now, strict=True))


def _supported(claims: list[Claim]) -> tuple[int, int]:
    """How many claims stand, each text once, and on how many sources."""
    standing = [c for c in claims if c.stands]
    return len({c.text for c in standing}), len({p.split("p")[0] for c in standing for p in c.passages})
