"""The report: written in one go from the checked sections, checked again as a whole, and how it was checked at the end."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

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
    Section,
    SectionText,
)
from deep_research.errors import ModelError
from deep_research.i18n.catalog import gap_from, gap_of
from deep_research.ports import Library
from deep_research.report.confidence import with_confidence
from deep_research.report.ledger import ledger_of, reasoner_of
from deep_research.report.render import ADVICE, Rendered, render_report
from deep_research.report.report_input import CheckedReport, ReportInput
from deep_research.run_context.context import RunContext
from deep_research.search.source_standing import uniform_standing
from deep_research.steps.check_advice import CheckedAdvice, CheckedLimits, check_advice, check_limits
from deep_research.steps.check_claims import Checked
from deep_research.steps.check_sentences import PENDING, Ground, with_premises
from deep_research.steps.confirm_contradictions import Confirmed, confirm, pending_sides
from deep_research.steps.judging_together import JudgingTogether
from deep_research.steps.research import check_text, ground_of, judge_for, rewrite_for, sources_of, standing_findings
from deep_research.text.near_duplicates import are_several
from deep_research.text.question_parts import question_parts
from deep_research.text.tokens import content_terms
from deep_research.verification.citations import cite_ids, ids_in
from deep_research.verification.conclusions import with_open_values
from deep_research.verification.drafts import parse_draft
from deep_research.verification.own_figures import renumbered
from deep_research.verification.titles import founded_title


def begin_composing(ctx: RunContext, given: ReportInput) -> None:
    """Begin abstract and conclusion of a report, as `write_report` will ask for them."""
    ctx.prefetch.begin_composition(ctx, *given.composed_from)


async def write_report(ctx: RunContext, given: ReportInput) -> Report:
    """Return the finished report. Nothing in it was not checked; what is missing is listed."""
    for gap in _empty_sections(given):
        ctx.report_gap(gap)
    given, parts, own_claims, sides = await _compose(ctx, given)
    for gap in await in_background(_narrow_sections, given, ctx.library):
        ctx.report_gap(gap)
    disputed = await confirm(given.contradictions, given.claims, ctx.library, judged=sides)
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


async def _compose(
    ctx: RunContext, given: ReportInput
) -> tuple[ReportInput, Composition, list[Claim], tuple[Claim, ...]]:
    """Write the report in one go from the sections, and check all of it; a composition that fails is a gap, not a crash.

    Return the input with the sections as they were worded anew or judged as they are, the parts that no section holds, their
    claims, and the statements of the sections that a review has held against each other.
    """
    if ctx.settings.workflow == "quick":
        return given, Composition(), [], ()  # the answer is the report
    try:
        made = await ctx.prefetch.composition(ctx, *given.composed_from)
    except ModelError as error:
        ctx.report_gap(gap_from("abstract", error))
        made = Composition()
    ground = ground_of(ctx, given.brief, made.computations, given.sections)
    # Around and above the sections, what may have changed since the sources may be said as general knowledge.
    cited = dict.fromkeys(key.split("p")[0] for c in given.claims if c.stands for key in c.passages)
    uniform = await in_background(uniform_standing, ctx.library, tuple(cited)) if cited else ""
    read = await in_background(_read_for, made, ctx.library)
    code = await in_background(_own_code, made, f"{ground.known}\n{read}")
    ground = ground._replace(
        background=ctx.settings.background != "none",
        told_date=uniform or ground.told_date,
        named=f"{code}\n{read}",
        own=code,
        chosen=_own_words(made) if ctx.reasoner.info.is_language_model else "",
        is_judged=ctx.reasoner.info.is_language_model,
    )
    made = made.model_copy(update={"sections": _titled(given, made.sections, ctx.library)})
    titles = (f"“{section.title}”" for section in made.sections)
    ground = ground._replace(known="\n".join([ground.known, *titles]))  # a step may send the reader to a section
    done = await _checked(ctx, given, made, ground)
    done = _renumbered(done)
    given = await _with_judged_notes(ctx, _with_body(given, made.sections, done.body), made)
    known = {(c.text, c.passages) for c in given.claims}
    own = [c for part in done.frame for c in part.claims if (c.text, c.passages) not in known]
    new = {c.id: c for c in (*own, *done.advised.claims, *done.limits.claims)}
    abstract, conclusion, table = (part.content for part in done.frame)
    shown = made.model_copy(
        update={
            "abstract": abstract,
            "conclusion": conclusion,
            "table": table,
            "advice": done.advised.advice,
            "limits": done.limits.limits,
        }
    )
    return given, shown, list(new.values()), done.sides.claims


def _written(made: Composition) -> tuple[str, ...]:
    """Return the texts of a report, but for its steps and limits."""
    return (made.abstract, made.conclusion, made.table, *(section.content for section in made.sections))


def _read_for(made: Composition, library: Library) -> str:
    """Return the passages that a report cites."""
    cited = [key for text in _written(made) for s in parse_draft(text).sentences for key in s.passages]
    ids = dict.fromkeys([*cited, *(key for step in made.advice for key in step.premises)])
    return "\n".join(passage.text for key in ids if (passage := library.passage(key)) is not None)


def _own_code(made: Composition, known: str) -> str:
    """Return the code and commands of a report: the names that they give are the report's own, wherever it speaks of them, and
    so are their values, but for those that nothing `known` has."""
    code = [s.text for text in _written(made) for s in parse_draft(text).sentences if s.kind == "code"]
    lines = "\n".join([*code, *(line for step in made.advice for line in step.commands)])
    return with_open_values(lines, known)


def _own_words(made: Composition) -> str:
    """Return what a report says without citing it: its code and commands, and what its writer reckons, chooses and advises."""
    drafts = (parse_draft(text, own_rows=True) for text in _written(made))
    uncited = [
        s.text for draft in drafts for s in draft.sentences if not s.passages and s.role in ("fact", "inference")
    ]
    steps = [said for step in made.advice for said in (step.action, *step.how, *step.commands) if not ids_in(said)]
    return "\n".join([*uncited, *steps])


async def _with_judged_notes(ctx: RunContext, given: ReportInput, made: Composition) -> ReportInput:
    """Return the input with the sections judged that stay as they were researched, because nothing took their place."""
    pending = {claim.section for claim in given.claims if claim.verdict == PENDING}
    left = [section for section in given.sections if section.title in pending]
    if not left:
        return given
    together = JudgingTogether(judge_for(ctx, given.brief.question), len(left))

    async def check(number: int, section: Section) -> Checked:
        ground = ground_of(ctx, given.brief, made.computations, (section,), section.missing)
        with together.check(number) as judge:
            return await check_text(
                ctx, section.content, section=section.title, settled=given.claims, ground=ground, judge=judge
            )

    checked = await side_by_side(check(number, section) for number, section in enumerate(left))
    texts = {section.title: text for section, text in zip(left, checked, strict=True)}
    for title, text in texts.items():
        if not any(claim.stands for claim in text.claims):
            ctx.report_gap(gap_of(title, "section_empty"))
    sections = tuple(
        section.model_copy(
            update={
                "content": texts[section.title].content,
                "key_findings": standing_findings(section.key_findings, texts[section.title].content),
                "sources": sources_of(texts[section.title].claims),
            }
        )
        if section.title in texts
        else section
        for section in given.sections
    )
    claims = [claim for claim in given.claims if claim.section not in texts]
    return replace(given, sections=sections, claims=(*claims, *(c for text in checked for c in text.claims)))


def _titled(given: ReportInput, body: Sequence[SectionText], library: Library) -> tuple[SectionText, ...]:
    """Return the body with each title once, and with no number in a title that neither the question nor a passage has which
    its section cites. Where the user has agreed to the outline its titles stay."""
    agreed = {section.title for section in given.sections} if given.brief.is_agreed else None
    titled: dict[str, SectionText] = {}
    for section in body:
        fallback = next(iter(section.notes), section.title)
        cited = dict.fromkeys(key for s in parse_draft(section.content).sentences for key in s.passages)
        texts = [passage.text for key in cited if (passage := library.passage(key)) is not None]
        title = founded_title(section.title, "\n".join([given.question.text, given.brief.title, *texts]), fallback)
        title = title if agreed is None or title in agreed else fallback
        before = titled.get(title, SectionText(title=title, content=""))
        content = "\n\n".join(filter(None, (before.content, section.content)))
        titled[title] = SectionText(title=title, content=content, notes=(*before.notes, *section.notes))
    return tuple(titled.values())


class _CheckedTexts(NamedTuple):
    """All that was written for a report, checked: what stands around the sections, the sections of the body by title, the
    statements that a review has held against each other, the advice and the limits."""

    frame: Sequence[Checked]
    body: Mapping[str, Checked]
    sides: Checked
    advised: CheckedAdvice
    limits: CheckedLimits


async def _checked(ctx: RunContext, given: ReportInput, made: Composition, ground: Ground) -> _CheckedTexts:
    """Check what was written for the report, with as few calls of the judge as there can be."""
    body = [section for section in made.sections if section.content]
    around = (made.abstract, made.conclusion, made.table, pending_sides(given.contradictions, given.claims))
    texts = [*(("", text) for text in around), *((s.title, s.content) for s in body)]
    together = JudgingTogether(judge_for(ctx, given.brief.question), len(texts) + 2)

    async def check(number: int, section: str, text: str) -> Checked:
        with together.check(number) as judge:
            return await check_text(ctx, text, section=section, settled=given.claims, ground=ground, judge=judge)

    async def advise() -> CheckedAdvice:
        with together.check(len(texts)) as judge:
            rewrite = rewrite_for(ctx, given.brief.question) if made.advice else None
            return await check_advice(
                made.advice, given.claims, ctx.library, ground, judge if made.advice else None, rewrite
            )

    async def limit() -> CheckedLimits:
        with together.check(len(texts) + 1) as judge:
            return await check_limits(made.limits, given.searched, ctx.library, judge)

    advising, limiting = asyncio.create_task(advise()), asyncio.create_task(limit())
    try:
        checked = await side_by_side(check(number, *text) for number, text in enumerate(texts))
        advised, limited = await advising, await limiting
    finally:
        advising.cancel()
        limiting.cancel()
    for gap in (*advised.failures, *limited.failures):
        ctx.report_gap(gap)
    *frame, sides = checked[: len(around)]
    worded = {section.title: text for section, text in zip(body, checked[len(around) :], strict=True)}
    return _CheckedTexts(frame, worded, sides, advised, limited)


def _renumbered(done: _CheckedTexts) -> _CheckedTexts:
    """Return the texts with the numbers that the steps have which they name, where a step was cut before these."""
    numbers = done.advised.numbers
    if not numbers:
        return done

    def right(text: str) -> str:
        return renumbered(text, numbers)

    steps = tuple(
        step.model_copy(
            update={
                **{name: right(getattr(step, name)) for name in ("case", "action", "why", "condition", "fallback")},
                "how": tuple(map(right, step.how)),
            }
        )
        for step in done.advised.advice
    )
    limits = tuple(limit.model_copy(update={"text": right(limit.text)}) for limit in done.limits.limits)
    return done._replace(
        frame=[part._replace(content=right(part.content)) for part in done.frame],
        body={title: part._replace(content=right(part.content)) for title, part in done.body.items()},
        advised=replace(done.advised, advice=steps),
        limits=replace(done.limits, limits=limits),
    )


def _with_body(given: ReportInput, body: Sequence[SectionText], worded: Mapping[str, Checked]) -> ReportInput:
    """Return the input with the sections of `body` in place of those that were researched, and with their claims.

    A section stays as it was researched where the body says so, where nothing of the new wording stands, and where no
    section of the body takes its place.
    """
    researched = {section.title: section for section in given.sections}
    replaced = {title for s in body if s.title in worded and worded[s.title].content for title in (*s.notes, s.title)}
    if not replaced & researched.keys():
        return given
    sections: dict[str, Section] = {}
    for item in body:
        notes = [researched[title] for title in dict.fromkeys((*item.notes, item.title)) if title in researched]
        if item.title in worded and worded[item.title].content:
            sections[item.title] = _worded_anew(item.title, notes, worded[item.title])
        else:
            sections |= {note.title: note for note in notes if note.title not in replaced}
    sections |= {title: s for title, s in researched.items() if title not in replaced and title not in sections}
    claims = [c for c in given.claims if c.section not in replaced]
    claims += [c for title, text in worded.items() if title in sections for c in text.claims]
    return replace(given, sections=tuple(sections.values()), claims=tuple(claims))


def _worded_anew(title: str, notes: Sequence[Section], text: Checked) -> Section:
    """Return a section of the report in place of researched ones; its key findings are the sentences that now tell what
    theirs told."""
    facts = [
        s
        for s in parse_draft(text.content).sentences
        if s.role == "fact" and s.kind in ("prose", "item") and s.passages
    ]
    findings: dict[str, None] = {}
    for finding in (finding for note in notes for finding in note.key_findings):
        ids = {key for s in parse_draft(finding).sentences for key in s.passages}
        terms = set(content_terms(finding))
        near = [s for s in facts if ids & set(s.passages)]
        best = max(near, key=lambda s: len(terms & set(content_terms(s.text))), default=None)
        if best is not None:
            findings.setdefault(f"{best.text} {cite_ids(best.passages)}")
    as_of = {note.as_of for note in notes}
    return Section(
        title=title,
        description="; ".join(note.description for note in notes if note.description),
        status="completed",
        content=text.content,
        key_findings=tuple(findings),
        sources=sources_of(text.claims),
        attempts=max((note.attempts for note in notes), default=1),
        searched=tuple(dict.fromkeys(query for note in notes for query in note.searched)),
        missing=tuple(dict.fromkeys(fact for note in notes for fact in note.missing)),
        as_of=as_of.pop() if len(as_of) == 1 else "",
    )


def _parts(given: ReportInput, made: Composition, own: Sequence[Claim], claims: Sequence[Claim]) -> tuple[Part, ...]:
    """Return the parts of the question with the claims that answer each; one without any is not answered."""
    said = {p.text.casefold(): p for p in made.parts}
    stated = list(given.analysis.parts or question_parts(given.question.text, given.language).parts)
    lacking = {text.casefold() for s in given.sections for text in s.missing}
    titles = {s.title for s in given.sections}
    parts: list[Part] = []
    for text in stated:
        known = said.get(text.casefold()) or (made.parts[len(parts)] if len(made.parts) == len(stated) else None)
        where = set(known.where) if known is not None else set[str]()
        answering = [c.id for c in claims if c.stands and c.section in where & titles]
        answering += [c.id for c in own if c.stands and c.kind == "advice"] if ADVICE in where else []
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


def _empty_sections(given: ReportInput) -> list[Gap]:
    """Return a gap for each section that was researched and found nothing."""
    told = {claim.section for claim in given.claims if claim.stands}
    empty = (s for s in given.sections if s.title not in told and s.status != "failed")
    return [gap_of(section.title, "section_empty") for section in empty]


def _narrow_sections(given: ReportInput, library: Library) -> list[Gap]:
    """Return a gap for each section of the report that rests on one document of several, or on copies of one."""
    told = {claim.section for claim in given.claims if claim.stands}
    narrow = [s for s in given.sections if s.title in told and s.sources] if len(library.sources()) > 1 else []
    return [
        gap_of(section.title, "few_sources", section=section.title)
        for section in narrow
        if not are_several(_texts(library, section.sources))
    ]


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
