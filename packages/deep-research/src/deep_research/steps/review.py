"""Reviewing notes: which sections suffice, which are researched once more.

Each section is judged by itself as soon as its notes are there, beside the research of the others; then all of them
are judged together.
"""

import asyncio
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from claimcheck.text.cleaning import fold
from claimcheck.text.tokens import normalise
from deep_research.data import COVERAGE, Brief, Gap, Review, Section, SectionReview
from deep_research.data.noun import copy_fields
from deep_research.events import Reviewed, SectionReviewed
from deep_research.ports import Library
from deep_research.protocol.registered_domain import registered_domain
from deep_research.run_context.context import RunContext
from deep_research.text.near_duplicates import shingles
from deep_research.verification.citations import cited_ids

_MOST_GAPS, _MOST_SITES = 4, 8
_NUMBER = re.compile(r"^\d{1,2}[.)]\s+")
_STRETCH, _SHARED = 8, 8
"""Terms of a stretch, and how many stretches two sites share when one has copied a paragraph, some fifteen words in a row,
from the other."""


async def review_section(ctx: RunContext, section: Section, brief: Brief) -> SectionReview:
    """Return the coverage of a section; a failed review is a gap and changes nothing."""
    try:
        count, sites = await asyncio.to_thread(voices_of, cited_ids(section.content), ctx.library)
        voices = f"{count} independent ({', '.join(sites[:_MOST_SITES])})" if count else "none"
        judged = await ctx.reasoner.review_section(section, ctx.steering.now.brief_with_remarks(brief), voices)
    except Exception as error:  # noqa: BLE001 - a review that fails must cost neither the section nor its siblings
        ctx.report_failure(f"review: {section.title}", error)
        judged = SectionReview(title=section.title, status="sufficient")
    retry = judged.retry and judged.status != "sufficient" and not _is_searched(section, judged)
    judged = judged.model_copy(update={"title": section.title, "retry": retry})
    ctx.emit(copy_fields(SectionReviewed, judged, section=section.title, attempt=section.attempts))
    return judged


def voices_of(ids: Iterable[str], library: Library) -> tuple[int, list[str]]:
    """Return the number of independent voices of passages, and registered domains.

    One site is one voice, and so are sites that share a paragraph.
    """
    texts: dict[str, set[int]] = {}
    for key in dict.fromkeys(ids):
        passage, source = library.passage(key), library.source(key.partition("p")[0])
        if passage is not None and source is not None:
            host = urlsplit(source.url).hostname if source.url.startswith("http") else None
            site = registered_domain(host) if host else source.id
            texts.setdefault(site, set()).update(shingles(passage.text, _STRETCH))
    groups: list[set[int]] = []
    for found in texts.values():
        alike = [group for group in groups if len(group & found) >= min(_SHARED, len(group), len(found))]
        groups = [group for group in groups if group not in alike] + [set().union(found, *alike)]
    return len(groups), list(texts)


def _is_searched(section: Section, judged: SectionReview) -> bool:
    """Return whether all searches that a review names were made before."""
    made = {normalise(query) for query in section.searched}
    return bool(judged.queries) and all(normalise(query) in made for query in judged.queries)


def again(section: Section, judged: SectionReview) -> Section:
    """Return the section for its next attempt, with missing points and searches."""
    taken_up = {"status": "researching", "attempts": section.attempts + 1}
    return _with_missing(section, judged).model_copy(update=taken_up)


def _with_missing(section: Section, judged: SectionReview) -> Section:
    told = {"notes": judged.notes, "missing": judged.missing, "queries": judged.queries or section.queries}
    return section.model_copy(update=told)


def remark_of(section: Section) -> str:
    """Return what a researcher is told when its section is researched again."""
    missing = "; ".join(section.missing) or section.notes
    searches = f" Suggested searches: {' · '.join(section.queries)}." if section.queries else ""
    return (
        f"A reviewer of your notes misses: {missing or 'more depth'}.{searches} Look for it, then write what is to be "
        "added to your notes, and what of them no longer holds; what stands is kept."
    )


async def review(
    ctx: RunContext,
    brief: Brief,
    sections: Sequence[Section],
    iterations: int,
    known: Sequence[SectionReview] = (),
    *,
    limit: int,
) -> Review:
    """Return the joint review of all sections; `known` are those of single sections.

    It names no section to retry after `limit` rounds, nor one that was sent back that often, by its own review or
    this one. One that fails sends nothing back.
    """
    judged = Review(is_sufficient=False, overall_score=1)
    if any(s.content for s in sections):  # else nothing was found: there is nothing to judge
        try:
            judged = await ctx.reasoner.review(ctx.steering.now.brief_with_remarks(brief), sections)
            judged = _as_titled(judged, sections)
        except Exception as error:  # noqa: BLE001 - the sections are there, and must reach the report
            ctx.report_failure("review", error)
            judged = Review(is_sufficient=True, overall_score=0)
    retry = _retry(sections, judged, limit) if iterations < limit else ()
    coverage = {row.title: row for row in _unnamed(sections, judged, retry)}
    coverage |= {row.title: row for row in known if not row.retry and row.title not in retry}
    coverage |= {row.title: row.model_copy(update={"retry": row.title in retry}) for row in judged.section_coverage}
    judged = judged.model_copy(update={"sections_to_retry": retry, "section_coverage": tuple(coverage.values())})
    told = judged.model_dump(include={"gaps", "reasoning"})
    ctx.emit(Reviewed(score=judged.overall_score, sufficient=judged.is_sufficient, retry=retry, **told))
    return judged


def _as_titled(judged: Review, sections: Sequence[Section]) -> Review:
    """Return the review with exact section titles, matched without case or number."""
    titles = {s.title: s.title for s in sections} | {_NUMBER.sub("", s.title).casefold(): s.title for s in sections}

    def known(title: str) -> str:
        return titles.get(title) or titles.get(_NUMBER.sub("", title.strip()).casefold(), title)

    rows = tuple(row.model_copy(update={"title": known(row.title)}) for row in judged.section_coverage)
    named = tuple(map(known, judged.sections_to_retry))
    return judged.model_copy(update={"section_coverage": rows, "sections_to_retry": named})


def _unnamed(sections: Sequence[Section], judged: Review, retry: Collection[str]) -> Iterator[SectionReview]:
    """Yield a row for each section, or none where nobody judged.

    A review has rows of its own for sections that do not suffice.
    """
    for section in sections if judged.overall_score else ():
        again = section.title in retry
        status = "partial" if again else "sufficient" if section.content else "missing"
        score = judged.overall_score if judged.is_sufficient else 0
        yield SectionReview(title=section.title, status=status, score=score, retry=again)


def _retry(sections: Sequence[Section], judged: Review, limit: int) -> tuple[str, ...]:
    """Return the titles to research again, unless their searches were made before."""
    if judged.is_sufficient:
        return ()
    by_title = {s.title: s for s in sections if s.attempts <= limit}
    rows = {row.title: row for row in judged.section_coverage}
    named = [t for t in judged.sections_to_retry if t in by_title]
    return tuple(t for t in named if t not in rows or not _is_searched(by_title[t], rows[t]))


def report_gaps(ctx: RunContext, gaps: Sequence[str]) -> None:
    """Log what a review says that the report as a whole still lacks."""
    for text in gaps[:_MOST_GAPS]:
        if text.strip():
            ctx.report_gap(Gap(what=COVERAGE, why=fold(text)))


def send_back(sections: Sequence[Section], judged: Review) -> list[Section]:
    """Return the named sections as pending, with the review's notes and searches."""
    rows = {row.title: row for row in judged.section_coverage}
    named = [s.model_copy(update={"status": "pending"}) for s in sections if s.title in judged.sections_to_retry]
    return [_with_missing(s, rows[s.title]) if s.title in rows else s for s in named]
