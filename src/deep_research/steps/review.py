"""Reviewing: which sections are good enough, which go out once more.

Each section is judged by itself as soon as it is written, beside its own check and the research of the others;
then all of them are judged together.
"""

import asyncio
import re
from collections.abc import Sequence

from deep_research.data import Brief, Claim, Gap, Review, Section, SectionDraft, SectionReview
from deep_research.events import Reviewed, SectionReviewed
from deep_research.run_context.context import RunContext
from deep_research.text.cleaning import fold
from deep_research.text.quoted_words import plain_words, still_said
from deep_research.text.tokens import content_terms, normalise
from deep_research.verification.citations import cite_ids
from deep_research.verification.drafts import parse_draft

_MOST_GAPS = 4
_BETWEEN_FACTS = re.compile(r"[;；]|。(?=.)")
_FAULTED = 2
"""Statements that one fault is about."""
_TOLD = 3
"""Statements that were cut, told to whoever searches again."""


async def review_draft(ctx: RunContext, section: Section, brief: Brief, draft: SectionDraft) -> SectionReview | None:
    """Return what a model thinks of a section that is still being checked; None where nobody needs time to think."""
    if not ctx.reasoner.works_ahead or not draft.content.strip():
        return None
    cited = dict.fromkeys(p.split("p")[0] for s in parse_draft(draft.content).sentences for p in s.passages)
    written = section.model_copy(update={"content": draft.content, "sources": tuple(cited), "missing": draft.missing})
    return await _judged(ctx, written, brief, ())


async def review_section(
    ctx: RunContext, section: Section, brief: Brief, claims: Sequence[Claim], draft: SectionReview | None = None
) -> SectionReview:
    """Return how well a section is covered that has just been written and checked.

    `draft` is what was thought of it before its check: where the check has left little, the section is weak
    whatever was thought. A review that fails is a gap, and leaves the section as it is.
    """
    judged = without_mended(draft, section) if draft is not None else await _judged(ctx, section, brief, claims)
    if draft is not None and not draft.retry and (cut := _mostly_cut(claims)):
        notes = f"no source supported: {' '.join(cut)}"
        judged = draft.model_copy(update={"status": "partial", "notes": notes, "retry": True})
    if judged.retry and not (section.gained and _is_new(section, judged)):
        judged = judged.model_copy(update={"retry": False})
    ctx.emit(
        SectionReviewed(
            section=section.title,
            attempt=section.attempts,
            status=judged.status,
            score=judged.score,
            retry=judged.retry,
            notes=judged.notes,
        )
    )
    return judged


async def _judged(ctx: RunContext, section: Section, brief: Brief, claims: Sequence[Claim]) -> SectionReview:
    try:
        judged = await ctx.reasoner.review_section(
            section, ctx.steering.now.brief_with_remarks(brief), claims, ctx.library
        )
    except Exception as error:  # noqa: BLE001 - a review that fails must cost neither the section nor its siblings
        ctx.report_failure(f"review: {section.title}", error)
        return SectionReview(title=section.title, status="sufficient")
    return judged.model_copy(
        update={
            "title": section.title,
            "retry": judged.retry and (judged.status != "sufficient" or bool(judged.faults)),
        }
    )


def without_mended(draft: SectionReview, section: Section) -> SectionReview:
    """Return the review of an earlier text without the faults whose words the check, or a further attempt, has taken out."""
    left = tuple(fault for fault in draft.faults if still_said(fault, section.content))
    retry = draft.retry and bool(left or draft.queries or not draft.faults)
    return draft.model_copy(update={"faults": left, "retry": retry})


def _mostly_cut(claims: Sequence[Claim]) -> list[str]:
    """Return the first claims that do not stand, where fewer than half of all do."""
    failed = [claim.text for claim in claims if not claim.stands]
    return failed[:_TOLD] if 2 * len(failed) > len(claims) else []


def again(section: Section, judged: SectionReview) -> Section:
    """Return the section as its researcher takes it up again: with its text so far, what the review misses, and new
    searches. `notes` collects all that was asked for, so that nothing is asked for twice in vain."""
    return section.model_copy(
        update={
            "status": "researching",
            "notes": "; ".join(dict.fromkeys(note for note in (section.notes, judged.notes) if note)),
            "missing": judged.missing,
            "faults": judged.faults,
            "queries": judged.queries or (() if judged.faults else section.queries),
            "attempts": section.attempts + 1,
        }
    )


_ASKED_BEFORE = 0.7
"""From this share of its words on, a missing fact was asked for before."""


def _is_new(section: Section, judged: SectionReview) -> bool:
    """Return whether a review asks for something new: a query not made yet, and a fact not asked for in vain; or, once,
    for the repair of faults in the text.

    A review that names none of them (of a reasoner that goes by scores) is taken as it is.
    """
    if judged.faults and not section.faults:
        return True
    if judged.faults and not judged.queries:
        return False
    made = {normalise(query) for query in section.searched}
    if judged.queries and all(normalise(query) in made for query in judged.queries):
        return False
    asked = set(content_terms(section.notes))
    wanted = [terms for fact in judged.missing if (terms := set(content_terms(fact)))]
    return not wanted or any(len(terms & asked) < _ASKED_BEFORE * len(terms) for terms in wanted)


async def review(
    ctx: RunContext,
    brief: Brief,
    sections: list[Section],
    claims: list[Claim],
    iterations: int,
    known: Sequence[SectionReview] = (),
) -> Review:
    """Return the review of all sections together.

    It names no section to retry once `max_review_iterations` are used up; where sections were reviewed by
    themselves before (`known`), it may send back once. A review that fails is a gap, and sends nothing back.
    """
    if not any(s.content for s in sections) and not await asyncio.to_thread(ctx.library.sources):
        judged = Review(is_sufficient=True, overall_score=1)  # no source was reached: there is nothing to judge
    else:
        judged = await _judged_together(ctx, brief, sections, claims)
    retry = _retry(ctx, sections, judged, iterations)
    named = {row.title for row in judged.section_coverage}
    own = (row.model_copy(update={"retry": row.title in retry}) for row in judged.section_coverage)
    coverage = (*own, *(row for row in known if row.title not in named and not row.retry))
    judged = judged.model_copy(update={"sections_to_retry": retry, "section_coverage": coverage})
    ctx.emit(Reviewed(score=judged.overall_score, sufficient=judged.is_sufficient, retry=retry))
    return judged


async def _judged_together(ctx: RunContext, brief: Brief, sections: list[Section], claims: list[Claim]) -> Review:
    try:
        return await ctx.reasoner.review(ctx.steering.now.brief_with_remarks(brief), sections, claims, ctx.library)
    except Exception as error:  # noqa: BLE001 - the sections are there, and must reach the report
        ctx.report_failure("review", error)
        return Review(is_sufficient=True, overall_score=5)


def _retry(ctx: RunContext, sections: Sequence[Section], judged: Review, iterations: int) -> tuple[str, ...]:
    """Return the titles that may go out again, of those that the review names; not for searches that were made before."""
    may = set[str]() if judged.is_sufficient else _may_go_back(ctx, sections, iterations)
    made = {s.title: {normalise(query) for query in s.searched} for s in sections}
    vain = {
        row.title
        for row in judged.section_coverage
        if row.queries and all(normalise(query) in made.get(row.title, ()) for query in row.queries)
    }
    return tuple(t for t in judged.sections_to_retry if t in may - vain)


def _may_go_back(ctx: RunContext, sections: Sequence[Section], iterations: int) -> set[str]:
    """Return the titles that the review of all sections may send back after so many rounds."""
    most = ctx.settings.max_review_iterations
    if iterations >= (min(1, most) if streams(ctx) else most):
        return set()
    return {s.title for s in sections if not streams(ctx) or (s.gained and s.attempts <= most)}


def is_composed_ahead(ctx: RunContext, known: Sequence[SectionReview]) -> bool:
    """Return whether the report is begun beside the review of all sections: where each was found good enough by itself.

    Else it waits: the review may send sections back, and what it finds is for the writer.
    """
    return streams(ctx) and all(row.status == "sufficient" for row in known)


def with_contradictions(sections: Sequence[Section], judged: Review) -> list[Section]:
    """Return the sections whose statements a review holds against others, with that among their faults."""
    faults: dict[str, tuple[str, ...]] = {}
    for found in judged.contradictions:
        said = " – ".join(f"“{fold(side.statement)}” {cite_ids(side.passages)}" for side in found.sides)
        told = f"{found.topic}: {said}" + (f" → {found.prevails}" if found.prevails else "")
        statements = [plain_words(side.statement) for side in found.sides]
        home = next((s for s in sections if any(words in plain_words(s.content) for words in statements)), None)
        if home is not None:
            faults[home.title] = (*faults.get(home.title, ()), told)
    return [s.model_copy(update={"faults": (*s.faults, *faults[s.title])}) for s in sections if s.title in faults]


def own_reviews(ctx: RunContext) -> int:
    """Return how often a section may be sent out again by its own review, before all are reviewed together.

    Notes of a report of usual length once: what a further round would find is worth its calls where the review of all says
    so, which knows what the other sections hold.
    """
    if not streams(ctx):
        return 0
    most = ctx.settings.max_review_iterations
    return min(most, 1) if ctx.reasoner.writes_whole_report and ctx.settings.depth != "deep" else most


def streams(ctx: RunContext) -> bool:
    """Return whether each section is reviewed by itself; in the other workflows their own rounds do that work."""
    return ctx.settings.streaming_review and ctx.settings.workflow == "sections"


def report_gaps(ctx: RunContext, judged: Review) -> None:
    """Log what a review says that the report as a whole still lacks."""
    for text in judged.gaps[:_MOST_GAPS]:
        if text.strip():
            ctx.report_gap(Gap(what="review", why=fold(text)))


def send_back(sections: list[Section], judged: Review) -> list[Section]:
    """Return the named sections as pending again, with the review's notes and the searches it names; the outline stays."""
    rows = {row.title: row for row in judged.section_coverage}
    return [_sent_back(s, rows.get(s.title)) for s in sections if s.title in judged.sections_to_retry]


def _sent_back(section: Section, judged: SectionReview | None) -> Section:
    update: dict[str, object] = {"status": "pending", "notes": judged.notes if judged is not None else ""}
    if judged is not None and judged.queries:
        wanted = tuple(filter(None, (fact.strip() for fact in _BETWEEN_FACTS.split(judged.notes))))
        update |= {"queries": judged.queries, "missing": wanted}
    return section.model_copy(update=update)


def better(old: Section, new: Section, old_claims: list[Claim], new_claims: list[Claim]) -> bool:
    """Return whether a section researched again replaces the earlier attempt.

    The earlier one was found lacking, so its length says little: it stays only where the newer one has less
    than half of its supported claims, or of the sources they rest on.
    """
    if not old.content or not any(c.stands for c in old_claims):
        return True
    before, now = _supported(old_claims), _supported(new_claims)
    return bool(new.content) and all(2 * n >= b for b, n in zip(before, now, strict=True))


def _supported(claims: list[Claim]) -> tuple[int, int]:
    """Return how many claims stand, each text once, and on how many sources."""
    standing = [c for c in claims if c.stands]
    return len({c.text for c in standing}), len({p.split("p")[0] for c in standing for p in c.passages})
