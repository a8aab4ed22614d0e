"""The report: the sections' own checked text, an abstract and conclusion around it, and the proof at the end."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deep_research.concurrency import side_by_side
from deep_research.data import (
    Brief,
    Claim,
    Composition,
    Contradiction,
    Decision,
    Gap,
    Ledger,
    QueryAnalysis,
    Question,
    Report,
    ReportPassage,
    ReportSection,
    ReportSource,
    Section,
)
from deep_research.errors import ModelError
from deep_research.i18n.message_codes import gap_from, gap_of
from deep_research.ports import Library
from deep_research.report.ledger import ledger_of
from deep_research.report.render import References, Rendered, render_report
from deep_research.run_context.context import RunContext
from deep_research.steps.confirm_contradictions import Confirmed, confirm
from deep_research.steps.research import check_text
from deep_research.text.near_duplicates import are_several


def begin_composing(
    ctx: RunContext,
    *,
    question: Question,
    analysis: QueryAnalysis,
    brief: Brief,
    sections: Sequence[Section],
    claims: dict[str, list[Claim]],
) -> None:
    """Begin abstract and conclusion of these sections, as `write_report` will ask for them."""
    told = [c for s in sections for c in claims.get(s.title, [])]
    ctx.speculation.begin_composition(ctx, question, analysis, brief, tuple(sections), tuple(told))


class Parts(NamedTuple):
    """The composed parts after their check, citing passage ids."""

    abstract: str
    conclusion: str
    table: str
    claims: tuple[Claim, ...]


async def write_report(
    ctx: RunContext,
    *,
    question: Question,
    original: str,
    analysis: QueryAnalysis,
    decision: Decision,
    brief: Brief,
    sections: Sequence[Section],
    claims: dict[str, list[Claim]],
    contradictions: Sequence[Contradiction] = (),
) -> Report:
    """Return the finished report. Nothing in it was not checked; what is missing is listed."""
    section_claims = [c for s in sections for c in claims.get(s.title, [])]
    for gap in await asyncio.to_thread(_weaknesses, sections, section_claims, ctx.library):
        ctx.report_gap(gap)
    disputed = await confirm(contradictions, section_claims, ctx.library)
    parts = await _compose(ctx, question, analysis, brief, sections, section_claims)
    # In a thread: numbering, quoting and comparing documents is arithmetic, and other runs wait for the event loop.
    return await asyncio.to_thread(
        _written, ctx, question, original, analysis, decision, brief, sections, section_claims, parts, disputed
    )


def _written(
    ctx: RunContext,
    question: Question,
    original: str,
    analysis: QueryAnalysis,
    decision: Decision,
    brief: Brief,
    sections: Sequence[Section],
    section_claims: Sequence[Claim],
    parts: Parts,
    disputed: Confirmed,
) -> Report:
    all_claims = tuple({c.id: c for c in (*section_claims, *disputed.claims, *parts.claims)}.values())
    changes = ctx.steering.now.changes()
    all_gaps = tuple(gap for gap in ctx.gaps if gap.what not in changes.dropped)
    references = References(ctx.library)
    ledger = ledger_of(ctx.journal, sources=len(ctx.library.sources()), seconds=ctx.elapsed())
    rendered = render_report(
        question=question,
        original=original,
        brief=brief,
        decision=decision,
        parts=Composition(abstract=parts.abstract, conclusion=parts.conclusion, table=parts.table),
        sections=sections,
        claims=all_claims,
        gaps=all_gaps,
        references=references,
        ledger=ledger,
        reasoner=ctx.reasoner.info,
        searched=_searched(ctx, brief),
        contradictions=disputed.contradictions,
        changes=changes,
    )
    report = _assemble(
        ctx, question, original, analysis, decision, brief, rendered, sections, all_claims, all_gaps, ledger
    )
    return report.model_copy(update={"contradictions": disputed.contradictions})


async def _compose(
    ctx: RunContext,
    question: Question,
    analysis: QueryAnalysis,
    brief: Brief,
    sections: Sequence[Section],
    claims: Sequence[Claim],
) -> Parts:
    """Compose and check abstract, conclusion and table; a composition that fails is a gap, not a crash."""
    if ctx.settings.workflow == "quick":
        return Parts("", "", "", ())  # the answer is the report
    try:
        made = await ctx.speculation.composition(ctx, question, analysis, brief, tuple(sections), tuple(claims))
    except ModelError as error:
        ctx.report_gap(gap_from("abstract", error))
        return Parts("", "", "", ())
    texts = (made.abstract, made.conclusion, made.table)
    checked = await side_by_side(check_text(ctx, text, section="", settled=claims) for text in texts)
    known = {(c.text, c.passages) for c in claims}
    new = {c.id: c for part in checked for c in part.claims if (c.text, c.passages) not in known}
    return Parts(checked[0].content, checked[1].content, checked[2].content, tuple(new.values()))


def _texts(library: Library, sources: Sequence[str]) -> Iterator[str]:
    return (snapshot.text for key in sources if (snapshot := library.snapshot(key)) is not None)


def _weaknesses(sections: Sequence[Section], claims: Sequence[Claim], library: Library) -> list[Gap]:
    """Sections that found nothing, and sections that rest on one document only, or on copies of one."""
    found: list[Gap] = []
    for section in sections:
        own = [c for c in claims if c.section == section.title and c.stands]
        if not own and section.status != "failed":
            found.append(gap_of(section.title, "section_empty"))
        elif own and section.sources and not are_several(_texts(library, section.sources)):
            found.append(gap_of(section.title, "few_sources", section=section.title))
    return found


def _searched(ctx: RunContext, brief: Brief) -> dict[str, str]:
    queries = dict.fromkeys(q for s in brief.sections for q in s.queries)
    return {"places": ", ".join(p.purpose.rstrip(".") for p in ctx.places), "queries": "; ".join(queries)}


def _assemble(
    ctx: RunContext,
    question: Question,
    original: str,
    analysis: QueryAnalysis,
    decision: Decision,
    brief: Brief,
    rendered: Rendered,
    sections: Sequence[Section],
    claims: tuple[Claim, ...],
    gaps: tuple[Gap, ...],
    ledger: Ledger,
) -> Report:
    used = dict.fromkeys(p for c in claims for p in c.passages)
    passages = {p: _passage(ctx, p) for p in used if ctx.library.passage(p) is not None}
    sources = dict.fromkeys([*(p.source for p in passages.values()), *(s for x in sections for s in x.sources)])
    return Report(
        run_id=ctx.run_id,
        question=original,
        language=question.language,
        query_type=analysis.query_type,
        output_format=analysis.output_format,
        workflow=ctx.settings.workflow,
        title=brief.title,
        report=rendered.markdown,
        sections=tuple(
            ReportSection(
                title=s.title,
                description=s.description,
                status=s.status,
                content=rendered.contents.get(s.title, ""),
                key_findings=rendered.findings.get(s.title, ()),
                sources=s.sources,
            )
            for s in sections
        ),
        claims=claims,
        references=rendered.references,
        sources={s: _source(ctx, s) for s in sources},
        passages=passages,
        gaps=gaps,
        assumptions=decision.assumptions,
        ledger=ledger,
        reasoner=ctx.reasoner.info,
    )


def _passage(ctx: RunContext, key: str) -> ReportPassage:
    found = ctx.library.passage(key)
    if found is None:
        raise KeyError(key)
    return ReportPassage(
        source=found.source, text=found.text, start=found.start, end=found.end, page=found.page, heading=found.heading
    )


def _source(ctx: RunContext, key: str) -> ReportSource:
    source, snapshot = ctx.library.source(key), ctx.library.snapshot(key)
    if source is None or snapshot is None:
        raise KeyError(key)
    return ReportSource(
        title=source.title,
        url=source.url,
        origin=source.origin,
        published=source.published,
        retrieved_at=snapshot.retrieved_at,
        sha256=snapshot.sha256,
        media_type=snapshot.media_type,
    )
