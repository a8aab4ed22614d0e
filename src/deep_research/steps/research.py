"""Research one section: choose what to do, do it, note passages, and write from them."""

import asyncio
import functools
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import NamedTuple

from deep_research.data import (
    Action,
    Brief,
    Claim,
    Computation,
    Observation,
    Passage,
    Section,
    SectionReview,
    Turn,
    tool_calls_made,
)
from deep_research.events import SectionClosed, SectionWritten
from deep_research.i18n.catalog import gap_of
from deep_research.ports import Library
from deep_research.run_context.context import RunContext
from deep_research.search.source_standing import standing_of_most, uniform_standing
from deep_research.steps import review, search
from deep_research.steps.check_claims import Checked, Judge, Rewrite, check_draft, note_draft
from deep_research.steps.check_sentences import NO_GROUND, PENDING, Ground
from deep_research.steps.work_out import computed_results
from deep_research.text.contents_lists import is_contents_list
from deep_research.text.joined_tables import with_rows_joined
from deep_research.text.near_duplicates import distinct_passages
from deep_research.text.tokens import content_terms
from deep_research.verification.citations import cite_ids
from deep_research.verification.drafts import parse_draft, without_sentences
from deep_research.verification.titles import founded_headings

_RRF = 10.0


def noted_passages(turns: Sequence[Turn], library: Library, *, limit: int) -> list[Passage]:
    """Return at most `limit` passages, best first: those a researcher named when it was done, then the found ones.

    Rankings of the single searches are fused by reciprocal rank (Cormack, Clarke and Büttcher,
    "Reciprocal Rank Fusion", SIGIR 2009).
    """
    scores: dict[str, float] = defaultdict(float)
    for turn in turns:
        for seen in turn.observations:
            for rank, passage in enumerate(seen.passages):
                scores[passage] += 1.0 / (_RRF + rank)
    named = [p for turn in turns for a in turn.actions if a.name == "research_complete" for p in a.query.split()]
    ending = [turn for turn in turns if is_complete(turn.actions)]
    # What the last calls brought nobody could name: what was chosen from pages, then the best of each search.
    last = [p for turn in ending for p in _of_last(turn)]
    best = dict.fromkeys([*named, *last, *sorted(scores, key=lambda p: -scores[p])])
    found = [passage for key in best if (passage := library.passage(key)) is not None]
    found = distinct_passages(found)
    chosen = set(named)
    repeated = search.site_lines(library, (passage.source for passage in found))
    return [p for p in found if p.id in chosen or not is_contents_list(p.text, repeated)][:limit]


def _of_last(turn: Turn) -> list[str]:
    """Return the best passages of a last turn: those that were read on purpose, then of each search the first ones."""
    read = _read_of(turn)
    own = {action.id for action in turn.actions if action.name == "read"}
    found = [seen.passages[:_OF_LAST] for seen in turn.observations if seen.action not in own]
    rows = zip_longest(*found)
    return list(dict.fromkeys([*read, *(p for row in rows for p in row if p is not None)]))


def _read_of(turn: Turn) -> list[str]:
    """Return what was read on purpose: of each page the passages that were chosen from it, then the first of each text that
    was read from a passage on ("s7p3"), behind which nobody has chosen."""
    asked = {action.id: action.query for action in turn.actions if action.name == "read"}
    of_read = [(seen.passages, _FROM.search(asked[seen.action])) for seen in turn.observations if seen.action in asked]
    pages = zip_longest(*(passages[:_OF_READ] for passages, is_text in of_read if not is_text))
    texts = zip_longest(*(passages[:_OF_LAST] for passages, is_text in of_read if is_text))
    return [p for rows in (pages, texts) for row in rows for p in row if p is not None]


_FROM = re.compile(r"\bs\d+p\d+\b")
_NOTED, _NAMED, _NOTED_AGAIN, _OF_LAST, _OF_READ = 20, 12, 7, 3, 10
_READ_MORE = 5
"""How many passages a writer gets beyond `_NOTED` where pages were read for it in the last turn."""
_GAIN = 4
"""Passages that a further attempt must cite anew so that one more may follow; in a short text a third of all."""
_TOUCHES = 0.34
"""Share of the words of something looked for that a passage has which is about it."""
_HOLE, _MOST_HOLES = 2, 4
"""Passages left out between two that are noted, and how many of them are put back in all."""
_FOUND_AGAIN, _MOST_AGAIN = 2, 3
"""First passages of a search that a further attempt is shown again, and how many of them in all."""
_DOUBTED, _MOST_DOUBTED = 0.3, 5
"""Share of the words of a sentence that a doubt about it has, and how many passages are shown again for doubts."""
_RECALLED, _SAYS = 4, 0.6
"""Passages that colleagues have found, and the share of the words of a cell that such a passage has."""


class Written(NamedTuple):
    """A finished section with its judged claims, and the review of its draft if there was one.

    `adds` says whether the draft cites anything that the text before it did not.
    """

    section: Section
    claims: tuple[Claim, ...]
    review: SectionReview | None = None
    adds: bool = True


async def next_actions(ctx: RunContext, section: Section, brief: Brief, turns: list[Turn]) -> list[Action]:
    """Return what to do next, within the tool calls that are left; none when there is nothing left to do.

    Ending costs nothing: the passages that a researcher names with it are never cut off.
    """
    left = ctx.settings.tool_calls_per_researcher - tool_calls_made(turns)
    if left <= 0 or (section.faults and not section.queries):
        return []  # what is wrong in a text is put right from what was found
    if _reached_nothing(ctx, turns):
        return []  # other words for the same search would reach nothing either
    chosen: list[Action] = []
    for action in await ctx.reasoner.next_actions(section, brief, turns, ctx.library):
        left -= action.counts
        if left >= 0 or not action.counts:
            chosen.append(action)
    return chosen


def _reached_nothing(ctx: RunContext, turns: Sequence[Turn]) -> bool:
    """Return whether all places have failed at everything that was done, and the user has said nothing since."""
    seen = [observation for turn in turns for observation in turn.observations]
    places = {place.name for place in ctx.places}
    failed = bool(places) and all(places <= set(o.failed) and not o.passages and not o.text for o in seen)
    return bool(seen) and failed and not turns[-1].remarks


def _room(turns: Sequence[Turn], attempt: int) -> int:
    """Return how many passages a writer gets: those the researcher named, a quarter more, since it may have missed some, or
    the best of its last searches, which it has not seen; in a further attempt the best of what its few searches brought."""
    named = sum(len(a.query.split()) for turn in turns for a in turn.actions if a.name == "research_complete")
    if not named:
        return _NOTED if attempt < 2 else _NOTED_AGAIN
    last = [turn for turn in turns if is_complete(turn.actions)]
    unseen = sum(len(_of_last(turn)) for turn in last)
    read = sum(len(_read_of(turn)) for turn in last)
    return min(_NOTED + min(read, _READ_MORE), max(_NAMED, named + max(named // 4, unseen)))


def brings_new(section: Section, turns: Sequence[Turn], seen: Collection[str], library: Library) -> bool:
    """Return whether a further attempt has brought a writer anything: a passage that was not `seen` before, or one that
    the researcher names and the text does not cite."""
    cited = _cited(section.content)
    named = {p for turn in turns for a in turn.actions if a.name == "research_complete" for p in a.query.split()}
    found = noted_passages(turns, library, limit=_room(turns, section.attempts))
    noted = {p.id for p in found if _speaks_of(section, p)}
    return bool(noted - set(seen) or named - cited)


async def _recalled(ctx: RunContext, section: Section, noted: Sequence[Passage]) -> list[Passage]:
    """Return what colleagues have found by now (`found_by_others`), chosen once: the library grows while the section is
    written, and a run that was interrupted must ask its model the same again."""

    async def choose() -> str:
        found = await asyncio.to_thread(found_by_others, section, ctx.library, noted)
        return json.dumps([passage.id for passage in found])

    request = json.dumps([section.title, section.attempts, [p.id for p in noted]], ensure_ascii=False)
    answer, _ = await ctx.journal.call("recall", request, choose)
    return [passage for key in json.loads(answer) if (passage := ctx.library.passage(key)) is not None]


def found_by_others(section: Section, library: Library, noted: Collection[Passage]) -> list[Passage]:
    """Return passages of the run's library that say most of what a cell of the section asks for, and that its own
    researcher has not noted: what a colleague has found is not looked for twice."""
    known = {passage.id for passage in noted}
    best: dict[str, Passage] = {}
    for cell in dict.fromkeys([*section.missing, *section.covers, *section.queries]):
        wanted = set(content_terms(cell))
        for hit in library.search(cell, limit=3) if wanted else ():
            source = library.source(hit.passage.source)
            title = source.title if source is not None else ""
            terms = set(content_terms(f"{title} {hit.passage.heading} {hit.passage.text}"))
            says = len(wanted & terms) >= _SAYS * len(wanted)
            if says and hit.passage.id not in known and not is_contents_list(hit.passage.text):
                best.setdefault(hit.passage.id, hit.passage)
                break
    return list(best.values())[:_RECALLED]


def _speaks_of(section: Section, passage: Passage) -> bool:
    """Return whether a passage has a fair share of the words of something that a further attempt looks for."""
    terms = set(content_terms(f"{passage.heading} {passage.text}"))
    wanted = (set(content_terms(text)) for text in (*section.missing, *section.queries, *section.faults))
    return any(len(words & terms) >= _TOUCHES * len(words) for words in wanted if words)


def _without_holes(noted: Sequence[Passage], library: Library) -> list[Passage]:
    """Return the passages with those that lie between two of them in a text: a list or procedure is read without holes."""
    have = {passage.id: passage for passage in noted}
    holes: list[Passage] = []
    for passage in noted:
        source, _, number = passage.id.partition("p")
        ahead = [f"{source}p{int(number) + step}" for step in range(1, _HOLE + 2)]
        end = next((n for n, key in enumerate(ahead) if key in have), 0)
        holes += [hole for key in ahead[:end] if (hole := library.passage(key)) is not None]
    return [*noted, *dict.fromkeys(holes[:_MOST_HOLES])]


def _cited(content: str) -> set[str]:
    return {key for sentence in parse_draft(content).sentences for key in sentence.passages}


def is_complete(actions: Sequence[Action]) -> bool:
    """Return whether a researcher says that it has enough."""
    return any(action.name == "research_complete" for action in actions)


async def act(ctx: RunContext, section: Section, brief: Brief, action: Action) -> Observation:
    """Carry one action out. What stands beside research_complete is still carried out, for the writer."""
    if action.name == "research_complete":
        return Observation(action=action.id)
    (seen,) = await search.perform(ctx, [action], section=section, brief=brief)
    return seen


async def write(
    ctx: RunContext,
    section: Section,
    brief: Brief,
    turns: list[Turn],
    *,
    reviews: bool = False,
    settled: Sequence[Claim] = (),
    is_note: bool = False,
) -> Written:
    """Write the section from the noted passages, check every claim, and say what came out.

    With `reviews` the draft is reviewed while it is checked, by a reasoner that takes its time for both. `settled` are
    the claims of an earlier attempt: what stands of them is not judged again. With `is_note` the section is a note for a
    report that will be judged as a whole (`note_draft`): a further attempt adds to it, from what was found since.
    """
    section, passages = await _gathered(ctx, section, turns)
    earlier = section if is_note else section.model_copy(update={"content": "", "key_findings": ()})
    new = _unused(section, turns, passages) if earlier.content else passages
    if earlier.content and not new:
        return Written(section.model_copy(update={"status": "completed", "gained": False}), tuple(settled), adds=False)
    if earlier.content:
        new = [*new, *(p for p in _doubted(section, ctx.library) if p not in new)]
    draft = await ctx.reasoner.write_section(section, ctx.steering.now.brief_with_remarks(brief), new, ctx.library)
    if earlier.content and draft.dropped:
        earlier = earlier.model_copy(update={"content": without_sentences(earlier.content, draft.dropped)})
    section = section.model_copy(update={"shown": tuple(dict.fromkeys([*section.shown, *(p.id for p in passages)]))})
    whole = draft.model_copy(update={"content": joined_notes(earlier.content, draft.content)})
    cited = _cited(whole.content)
    newly = len(cited - _cited(section.content))
    adds = not section.content or newly > 0
    reviewing = asyncio.create_task(review.review_draft(ctx, section, brief, whole)) if reviews and adds else None
    try:
        ground = ground_of(ctx, brief, draft.computations, (section,), draft.missing)
        check = note_text if is_note else check_text
        checked = await check(ctx, draft.content, section=section.title, ground=ground, settled=settled)
        reviewed = await _reviewed_in_time(ctx, section, reviewing) if reviewing is not None else None
    finally:
        if reviewing is not None:
            reviewing.cancel()
    if earlier.content:
        claims = {claim.id: claim for claim in (*checked.claims, *settled)}
        checked = Checked(joined_notes(earlier.content, checked.content), tuple(claims.values()), checked.failures)
    findings = standing_findings((*earlier.key_findings, *draft.key_findings), checked.content)
    sources = sources_of(checked.claims)
    done = section.model_copy(
        update={
            "content": checked.content,
            "key_findings": findings,
            "sources": sources,
            "status": "completed",
            "missing": draft.missing,
            "gained": not section.content or newly >= min(_GAIN, max(1, len(cited) // 3)),
        }
    )
    for gap in draft.gaps:
        ctx.report_gap(gap)
    supported = sum(c.stands for c in checked.claims)
    pending = sum(c.verdict == PENDING for c in checked.claims)
    ctx.emit(
        SectionWritten(
            section=section.title,
            status=done.status,
            sources=len(sources),
            claims=len(checked.claims),
            supported=supported - pending,
            cut=len(checked.claims) - supported,
            pending=pending,
            content=checked.content,
        )
    )
    return Written(done, checked.claims, reviewed, adds)


def _unused(section: Section, turns: Sequence[Turn], passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages that an earlier attempt was not shown; with them the first that the new searches bring again and
    its text does not cite: what is asked for now was of no use then."""
    cited = _cited(section.content)
    again = dict.fromkeys(
        key for turn in turns for o in turn.observations for key in o.passages[:_FOUND_AGAIN] if key not in cited
    )
    back = set(itertools.islice((key for key in again if key in section.shown), _MOST_AGAIN))
    new = {p.id for p in passages} - set(section.shown)
    return [p for p in passages if p.id in new or p.id in back] if new else []


def _doubted(section: Section, library: Library) -> list[Passage]:
    """Return the passages behind the sentences of the text that a reviewer doubts: what is put right is put right from them."""
    told = [(set(content_terms(s.text)), s.passages) for s in parse_draft(section.content).sentences if s.passages]
    found: dict[str, None] = {}
    for fault in section.faults:
        doubted = set(content_terms(fault))
        terms, ids = max(told, key=lambda one: len(one[0] & doubted) / (len(one[0]) or 1), default=(set[str](), ()))
        if len(terms & doubted) >= _DOUBTED * len(terms):
            found |= dict.fromkeys(ids)
    return [p for key in itertools.islice(found, _MOST_DOUBTED) if (p := library.passage(key)) is not None]


async def _gathered(ctx: RunContext, section: Section, turns: list[Turn]) -> tuple[Section, list[Passage]]:
    """Return the section with what was searched for it, and the passages that it is written from, those of an earlier
    attempt first."""
    section = _with_searches(section, turns)
    noted = await asyncio.to_thread(noted_passages, turns, ctx.library, limit=_room(turns, section.attempts))
    if section.attempts > 1:
        noted = [passage for passage in noted if _speaks_of(section, passage)]
    noted = await asyncio.to_thread(_without_holes, noted, ctx.library)
    # A text that is written anew is written from what the first attempt saw too, in the same order: providers cache it.
    recalled = await _recalled(ctx, section, noted)
    passages = list({p.id: p for p in (*_seen_before(section, ctx.library), *noted, *recalled)}.values())
    as_of = await asyncio.to_thread(uniform_standing, ctx.library, [passage.source for passage in passages])
    return section.model_copy(update={"as_of": as_of}), passages


def sources_of(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Return the ids of the sources that standing claims rest on."""
    return tuple(dict.fromkeys(p.split("p")[0] for c in claims if c.stands for p in c.passages))


def sections_are_notes(ctx: RunContext) -> bool:
    """Tell whether the sections of a run are notes for a report that is written, and judged, as a whole."""
    return ctx.reasoner.writes_whole_report and ctx.settings.workflow != "quick"


def joined_notes(earlier: str, added: str) -> str:
    """Return notes with what was added to them; what stands below a heading that both have is put together."""
    parts: dict[str, list[str]] = {}
    for text in (earlier, added):
        above, *below = re.split(r"^(?=#{2,4} )", text.strip(), flags=re.MULTILINE)
        for part in (above, *below):
            heading, _, body = part.partition("\n") if part.startswith("#") else ("", "", part)
            parts.setdefault(heading.strip(), []).append(body.strip())
    told = ((heading, with_rows_joined("\n\n".join(filter(None, bodies)))) for heading, bodies in parts.items())
    return "\n\n".join("\n\n".join(filter(None, each)) for each in told if each[1])


def judge_for(ctx: RunContext, question: str) -> Judge:
    """Return the judge of a run, who knows what was asked."""
    return functools.partial(ctx.reasoner.judge, question=question)


def rewrite_for(ctx: RunContext, question: str) -> Rewrite:
    """Return who puts statements of a run right, knowing what was asked."""
    return functools.partial(ctx.reasoner.rewrite, question=question)


async def check_text(
    ctx: RunContext,
    text: str,
    *,
    section: str,
    ground: Ground = NO_GROUND,
    settled: Sequence[Claim] = (),
    judge: Judge | None = None,
) -> Checked:
    """Check a text of the report with what the run has (`check_draft`), and log what failed. `judge` is asked in place of
    the run's reasoner."""
    checked = await check_draft(
        text,
        section=section,
        library=ctx.library,
        judge=judge or judge_for(ctx, ground.question),
        rewrite=rewrite_for(ctx, ground.question),
        settled=settled,
        ground=ground,
    )
    for gap in checked.failures:
        ctx.report_gap(gap)
    return _with_founded_headings(checked, section, ctx.library, ground)


async def note_text(
    ctx: RunContext, text: str, *, section: str, ground: Ground = NO_GROUND, settled: Sequence[Claim] = ()
) -> Checked:
    """Check a section by code alone (`note_draft`): its judge comes with the report."""
    checked = await note_draft(text, section=section, library=ctx.library, settled=settled, ground=ground)
    return _with_founded_headings(checked, section, ctx.library, ground)


def _with_founded_headings(checked: Checked, section: str, library: Library, ground: Ground) -> Checked:
    evidence = [section, ground.known, *_said_by(checked, library)]
    return checked._replace(content=founded_headings(checked.content, evidence))


def _said_by(checked: Checked, library: Library) -> list[str]:
    """Return the texts that a checked text rests on, with their headings and titles."""
    cited = dict.fromkeys(key for claim in checked.claims if claim.stands for key in claim.passages)
    passages = [p for key in cited if (p := library.passage(key)) is not None]
    titles = [source.title for p in passages if (source := library.source(p.source)) is not None]
    return [*(f"{p.heading}\n{p.text}" for p in passages), *dict.fromkeys(titles)]


def ground_of(
    ctx: RunContext,
    brief: Brief,
    computations: Sequence[Computation],
    sections: Sequence[Section],
    missing: Sequence[str] = (),
) -> Ground:
    """Return what a draft about these sections may use beside its passages."""
    reckoned = computed_results(computations, ctx.library, brief.question)
    known = (brief.question, brief.title, brief.objective, *brief.parts, *brief.glossary, reckoned)
    outline = (f"{s.title} {s.description} {'; '.join(s.covers)}" for s in brief.sections)
    sought = ((s.title, s.description, *s.covers, *s.missing, *s.searched) for s in sections)
    return Ground(
        computations=computations,
        known="\n".join((*known, *outline)),
        sought="\n".join((*(text for texts in sought for text in texts), *missing, *brief.parts, brief.question)),
        background=ctx.settings.background == "all",
        language=brief.language,
        today=ctx.today,
        told_date=standing_of_most(sections),
        question=brief.question,
    )


def _with_searches(section: Section, turns: Sequence[Turn]) -> Section:
    """Return the section with the queries made for it in all attempts, and what could not be reached."""
    failed = [name for turn in turns for seen in turn.observations for name in seen.failed]
    return section.model_copy(
        update={
            "searched": queries_made(section, turns),
            "failed": tuple(dict.fromkeys([*section.failed, *failed])),
        }
    )


def queries_made(section: Section, turns: Sequence[Turn]) -> tuple[str, ...]:
    """Return the queries made for a section, in earlier attempts and in these turns."""
    made = [a.query for turn in turns for a in turn.actions if a.name in ("search", "recall")]
    return tuple(dict.fromkeys([*section.searched, *made]))


def _seen_before(section: Section, library: Library) -> list[Passage]:
    """Return the passages that the writer of an earlier attempt saw, and those that its text rests on."""
    cited = (key for sentence in parse_draft(section.content).sentences for key in sentence.passages)
    # To put right what is wrong in a text, what it rests on is enough.
    ids = dict.fromkeys(cited if section.faults and not section.queries else [*section.shown, *cited])
    return [passage for key in ids if (passage := library.passage(key)) is not None]


async def _reviewed_in_time(
    ctx: RunContext, section: Section, reviewing: "asyncio.Task[SectionReview | None]"
) -> SectionReview | None:
    """Wait for the review of a draft; where it takes longer than the section may, the section stays as it is."""

    async def wait() -> SectionReview | None:
        return await reviewing

    if not reviewing.done():
        await ctx.deadlines.within(section.title, [wait()], ctx.elapsed, has_notes=True)
    if reviewing.done() and not reviewing.cancelled():
        return reviewing.result()
    close_slow(ctx, section.title)
    return SectionReview(title=section.title, status="sufficient")


def close_slow(ctx: RunContext, title: str) -> None:
    """Log that a section is closed with what it has, because it took far longer than the others."""
    took, usual = ctx.deadlines.took(title, ctx.elapsed()), ctx.deadlines.usual() or 0.0
    ctx.emit(SectionClosed(section=title, took=took, usual=usual))
    ctx.report_gap(gap_of(title, "closed_slow", took=f"{took:.0f}", usual=f"{usual:.0f}"))


def standing_findings(findings: Sequence[str], content: str) -> tuple[str, ...]:
    """Return the key findings that are sentences of what was kept, as they are there with their citations; what only announces
    something ("It offers:") is none."""
    there = {_bare(s.text): f"{s.text} {cite_ids(s.passages)}".strip() for s in parse_draft(content).sentences}
    kept: dict[str, None] = {}
    for finding in findings:
        said = [s.text for s in parse_draft(finding).sentences]
        if said and all(_bare(text) in there for text in said) and not said[-1].rstrip().endswith((":", "：")):
            kept[" ".join(there[_bare(text)] for text in said)] = None
    return tuple(kept)


def _bare(text: str) -> str:
    return " ".join(text.split()).strip("*_ .。!?！？;；")


async def write_or_fail(
    ctx: RunContext,
    section: Section,
    brief: Brief,
    turns: list[Turn],
    *,
    settled: Sequence[Claim] = (),
    is_note: bool = False,
) -> Written:
    """Write the section (`write`); a failure becomes a gap and costs only this section. A full disk ends the run."""
    try:
        return await write(ctx, section, brief, turns, settled=settled, is_note=is_note)
    except Exception as error:  # noqa: BLE001 - a defect in one section must not take the others along
        ctx.report_failure(section.title, error)
    return Written(section.model_copy(update={"status": "failed"}), ())
