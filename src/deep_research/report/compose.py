"""The report: the sections' own checked text, an abstract and conclusion around it, and how it was checked at the end."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from deep_research.concurrency import in_background, side_by_side
from deep_research.data import (
    Claim,
    Composition,
    Gap,
    Part,
    Report,
    ReportPassage,
    ReportSection,
    ReportSource,
)
from deep_research.errors import ModelError
from deep_research.i18n.catalog import gap_from, gap_of
from deep_research.ports import Library
from deep_research.report.confidence import with_confidence
from deep_research.report.deduplicate import without_named_repeats
from deep_research.report.ledger import ledger_of, reasoner_of
from deep_research.report.render import Rendered, render_report
from deep_research.report.report_input import CheckedReport, ReportInput
from deep_research.run_context.context import RunContext
from deep_research.steps.check_advice import CheckedAdvice, check_advice, check_limits
from deep_research.steps.check_claims import Checked, with_premises
from deep_research.steps.check_sentences import Ground
from deep_research.steps.confirm_contradictions import Confirmed, confirm
from deep_research.steps.judging_together import JudgingTogether
from deep_research.steps.research import check_text, ground_of
from deep_research.text.near_duplicates import are_several
from deep_research.text.question_parts import question_parts
from deep_research.verification.drafts import parse_draft


def begin_composing(ctx: RunContext, given: ReportInput) -> None:
    """Begin abstract and conclusion of a report, as `write_report` will ask for them."""
    ctx.prefetch.begin_composition(ctx, *given.composed_from)


async def write_report(ctx: RunContext, given: ReportInput) -> Report:
    """Return the finished report. Nothing in it was not checked; what is missing is listed."""
    for gap in await in_background(_weaknesses, given, ctx.library):
        ctx.report_gap(gap)
    disputed = await confirm(given.contradictions, given.claims, ctx.library)
    parts, own_claims = await _compose(ctx, given)
    unsaid = [s.text for s in parse_draft(parts.abstract).sentences if s.role == "limit"]
    unsaid += [limit.text for limit in parts.limits]
    if parts.repeats or unsaid:
        sections, claims = await in_background(
            without_named_repeats, given.sections, given.claims, parts.repeats, unsaid
        )
        given = replace(given, sections=tuple(sections), claims=tuple(claims))
    for gap in _open_reviews(given):
        ctx.report_gap(gap)
    if ctx.settings.workflow != "quick" and _lacks_table(given, parts):
        ctx.report_gap(gap_of("report", "table_missing"))
    # In a thread: numbering, quoting and comparing documents is arithmetic, and other runs wait for the event loop.
    return await in_background(_finish, ctx, given, disputed, parts, own_claims)


def _finish(
    ctx: RunContext, given: ReportInput, disputed: Confirmed, parts: Composition, own_claims: Sequence[Claim]
) -> Report:
    changes = ctx.steering.now.changes()
    sources = max(0, len(ctx.library.sources()) - ctx.sources_before)
    claims = tuple({c.id: c for c in (*given.claims, *disputed.claims, *own_claims)}.values())
    against = {p for found in disputed.contradictions for side in found.sides for p in side.passages}
    today = ctx.today
    claims = tuple(with_confidence(claims, given.sections, against, ctx.library, today))
    checked = CheckedReport(
        given=given,
        parts=parts,
        claims=tuple(with_premises(claims, claims)),
        question_parts=_parts(given, parts, own_claims, claims),
        contradictions=disputed.contradictions,
        gaps=tuple(gap for gap in ctx.gaps if gap.what not in changes.dropped),
        changes=changes,
        ledger=ledger_of(ctx.journal, sources=sources, seconds=ctx.elapsed()),
        reasoner=reasoner_of(ctx.reasoner.info, ctx.journal),
        searched_places=ctx.places_named(given.language),
        workflow=ctx.settings.workflow,
    )
    return _assemble(ctx, checked, render_report(checked, ctx.library))


def _lacks_table(given: ReportInput, made: Composition) -> bool:
    """Return whether the user wants a table and no text of the report holds one."""
    texts = (made.table, *(section.content for section in given.sections))
    wanted = given.analysis.output_format == "table" and any(claim.stands for claim in given.claims)
    return wanted and not any("|---" in text.replace(" ", "").replace(":", "") for text in texts)


async def _compose(ctx: RunContext, given: ReportInput) -> tuple[Composition, list[Claim]]:
    """Compose and check abstract, conclusion and table; a composition that fails is a gap, not a crash.

    Return them with the claims that no section makes.
    """
    if ctx.settings.workflow == "quick":
        return Composition(), []  # the answer is the report
    try:
        made = await ctx.prefetch.composition(ctx, *given.composed_from)
    except ModelError as error:
        ctx.report_gap(gap_from("abstract", error))
        return Composition(), []
    ground = ground_of(ctx, given.brief, made.computations, given.sections)
    # Around the sections, what may have changed since the sources may be said as general knowledge.
    ground = ground._replace(background=ctx.settings.background != "none")
    checked, advised = await _checked(ctx, given, made, ground)
    limits, limit_claims = check_limits(made.limits, given.searched)
    known = {(c.text, c.passages) for c in given.claims}
    own = [c for part in checked for c in part.claims if (c.text, c.passages) not in known]
    new = {c.id: c for c in (*own, *advised.claims, *limit_claims)}
    abstract, conclusion, table = (part.content for part in checked)
    shown = made.model_copy(
        update={
            "abstract": abstract,
            "conclusion": conclusion,
            "table": table,
            "advice": advised.advice,
            "limits": limits,
        }
    )
    return shown, list(new.values())


async def _checked(
    ctx: RunContext, given: ReportInput, made: Composition, ground: Ground
) -> tuple[list[Checked], CheckedAdvice]:
    """Check abstract, conclusion and table, and the advice, with one call of the judge."""
    texts = (made.abstract, made.conclusion, made.table)
    together = JudgingTogether(ctx.reasoner.judge, len(texts) + 1)

    async def check(number: int, text: str) -> Checked:
        with together.check(number) as judge:
            return await check_text(ctx, text, section="", settled=given.claims, ground=ground, judge=judge)

    async def advise() -> CheckedAdvice:
        with together.check(len(texts)) as judge:
            rewrite = ctx.reasoner.rewrite if made.advice else None
            return await check_advice(
                made.advice, given.claims, ctx.library, ground, judge if made.advice else None, rewrite
            )

    advising = asyncio.create_task(advise())
    try:
        checked = await side_by_side(check(number, text) for number, text in enumerate(texts))
        advised = await advising
    finally:
        advising.cancel()
    for gap in advised.failures:
        ctx.report_gap(gap)
    return checked, advised


def _parts(given: ReportInput, made: Composition, own: Sequence[Claim], claims: Sequence[Claim]) -> tuple[Part, ...]:
    """Return the parts of the question with the claims that answer each; one without any is not answered."""
    said = {p.text.casefold(): p for p in made.parts}
    stated = list(given.analysis.parts or question_parts(given.question.text, given.language).parts)
    lacking = {text.casefold() for s in given.sections for text in s.missing}
    titles = {s.title for s in given.sections}
    parts: list[Part] = []
    for text in stated:
        known = said.get(text.casefold()) or (made.parts[len(parts)] if len(made.parts) == len(stated) else None)
        where = set(known.where) & titles if known is not None else set[str]()
        answering = [c.id for c in claims if c.stands and c.section in where]
        answering = answering or [c.id for c in own if c.stands] or [c.id for c in claims if c.stands]
        unsaid = text.casefold() in lacking
        # Of a question in one part something was found: it is the closest there is.
        judged = (
            known.answered if known is not None else "yes" if not unsaid else "partly" if len(stated) == 1 else "no"
        )
        answered = judged if answering else "no"
        parts.append(Part(text=text, answered=answered, claims=tuple(answering) if answered != "no" else ()))
    return tuple(parts)


def _open_reviews(given: ReportInput) -> list[Gap]:
    """Return a gap for each section that its last review found insufficient, with what it still lacks."""
    return [
        gap_of(review.section, "review_open", missing=review.missing)
        for review in given.reviews
        if review.status != "sufficient" and review.missing
    ]


def _texts(library: Library, sources: Sequence[str]) -> Iterator[str]:
    return (snapshot.text for key in sources if (snapshot := library.snapshot(key)) is not None)


def _weaknesses(given: ReportInput, library: Library) -> list[Gap]:
    """Return a gap for each section that found nothing, or that rests on one document of several, or copies of one."""
    found: list[Gap] = []
    several = len(library.sources()) > 1
    for section in given.sections:
        own = [c for c in given.claims if c.section == section.title and c.stands]
        if not own and section.status != "failed":
            found.append(gap_of(section.title, "section_empty"))
        elif several and own and section.sources and not are_several(_texts(library, section.sources)):
            found.append(gap_of(section.title, "few_sources", section=section.title))
    return found


def _assemble(ctx: RunContext, checked: CheckedReport, rendered: Rendered) -> Report:
    given = checked.given
    used = dict.fromkeys(p for c in checked.claims for p in c.passages)
    passages = {p: _passage(ctx, p) for p in used if ctx.library.passage(p) is not None}
    own = (s for section in given.sections for s in section.sources)
    sources = dict.fromkeys([*(p.source for p in passages.values()), *own])
    return Report(
        run_id=ctx.run_id,
        question=given.original,
        language=given.language,
        query_type=given.analysis.query_type,
        output_format=given.analysis.output_format,
        workflow=ctx.settings.workflow,
        title=given.brief.title,
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
            for s in given.sections
        ),
        claims=checked.claims,
        references=rendered.references,
        sources={s: _source(ctx, s) for s in sources},
        passages=passages,
        contradictions=checked.contradictions,
        gaps=checked.gaps,
        assumptions=given.decision.assumptions,
        ledger=checked.ledger,
        reasoner=checked.reasoner,
        parts=checked.question_parts,
        reviews=given.reviews,
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
