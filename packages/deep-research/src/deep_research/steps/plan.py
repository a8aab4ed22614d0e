"""Analyse the question, plan independent sections, let the user confirm (row A6)."""

from collections.abc import Sequence

from claimcheck.text.tokens import content_terms
from deep_research.conversation.plan_edits import PlanAnswer, apply_edits, read_plan_answer
from deep_research.data import (
    LOOP_SECTIONS,
    MAX_SECTIONS,
    Asked,
    Brief,
    Decision,
    Discovery,
    Passage,
    QueryAnalysis,
    Question,
    Section,
    Turn,
)
from deep_research.events import Analyzed, Planned, StageStarted
from deep_research.i18n.catalog import gap_of, phrase
from deep_research.run_context.context import RunContext
from deep_research.settings import Settings
from deep_research.steps import search
from deep_research.text.near_duplicates import distinct_passages

_TOPIC_CHARS = 60
"""A question of no more characters names the topic of a search."""
_RRF, _MOST_HITS = 10.0, 60


async def plan(
    ctx: RunContext,
    question: Question,
    analysis: QueryAnalysis,
    decision: Decision,
    discovery: Discovery | None,
    turns: list[Turn],
    *,
    asked: Question | None = None,
) -> Brief:
    """Return the brief; looks around once when nothing was found before.

    The text that says what a looked-up term means is shown to the planner first.
    """
    turns = turns or await look_around(ctx, asked or question)
    terms = tuple(term for term in decision.terms if term.found)
    meanings = [p for term in terms if (p := ctx.library.passage(term.passage))]
    passages = list({p.id: p for p in [*meanings, *first_hits(ctx, turns)]}.values())
    brief = await ctx.reasoner.plan(question, analysis, decision, discovery, passages, ctx.library)
    most = LOOP_SECTIONS if ctx.settings.workflow == "loop" else MAX_SECTIONS
    apart = _told_apart(brief.sections)
    if left_out := ", ".join(s.title for s in apart[most:]):
        ctx.report_gap(gap_of("plan", "plan_cut", most=str(most), left_out=left_out))
    # Without a model all points are words of the question, of which each section has its own.
    points = decision.research_focus if ctx.reasoner.info.is_language_model else ()
    sections = _with_focus(apart[:most], points, question)
    brief = brief.model_copy(update={"sections": sections, "question": question.text, "terms": terms})
    ctx.emit(Planned(title=brief.title, sections=tuple(s.title for s in brief.sections)))
    return brief


async def look_around(ctx: RunContext, asked: Question) -> list[Turn]:
    """Return what one search for the question, in the user's own words, has found."""
    unknown = QueryAnalysis(query_type="general", output_format="prose")  # nobody need have judged the question yet
    actions = list(await ctx.reasoner.discover_actions(asked, unknown, [], ctx.library))
    return [Turn(actions=tuple(actions), observations=tuple(await search.perform(ctx, actions)))]


def first_hits(ctx: RunContext, turns: list[Turn]) -> list[Passage]:
    """Return the passages found while looking around, best first, copies once.

    Rankings of the single searches are fused by reciprocal rank (Cormack, Clarke and Büttcher,
    "Reciprocal Rank Fusion", SIGIR 2009).
    """
    scores: dict[str, float] = {}
    for seen in (seen for turn in turns for seen in turn.observations):
        for rank, key in enumerate(seen.passages):
            scores[key] = scores.get(key, 0.0) + 1.0 / (_RRF + rank)
    best = sorted(scores, key=lambda key: -scores[key])
    found = [passage for key in best if (passage := ctx.library.passage(key)) is not None]
    return distinct_passages(found)[:_MOST_HITS]


def _told_apart(sections: Sequence[Section]) -> list[Section]:
    """Return the sections with a distinct title each, repeated ones once."""
    known: dict[str, Section] = {}
    for section in sections:
        title, number = section.title, 1
        while (same := known.get(title.casefold())) and same.description != section.description:
            number += 1
            title = f"{section.title} ({number})"
        if title:
            known.setdefault(title.casefold(), section.model_copy(update={"title": title}))
    return list(known.values())


def _with_focus(sections: Sequence[Section], points: Sequence[str], question: Question) -> tuple[Section, ...]:
    """Return the sections with a search per focus point, in order of their points.

    It is a query of theirs that has its words, or one of its own; for a point that is words of the question, which was
    searched for before the plan, a further query of the nearest section. A section without a point stays at its place.
    """
    planned, asked = list(sections), set(content_terms(question.text))
    order: list[int] = []
    for point in points if planned else ():
        terms = set(content_terms(point))
        taken = {query for section in planned for query in section.focus}
        own_words = ((n, q) for n, s in enumerate(planned) for q in s.queries if terms <= set(content_terms(q)))
        fitting = (found for found in own_words if found[1] not in taken)
        spoken = [set(content_terms(f"{s.title} {s.description}")) for s in planned]
        nearest = max(range(len(planned)), key=lambda n: (len(terms & spoken[n]), -len(planned[n].focus)))
        near = planned[nearest]
        topic = question.text if len(question.text) <= _TOPIC_CHARS else near.title
        further = next((query for query in near.queries if query not in near.focus), "")
        own = further if terms <= asked else point if terms & asked else f"{topic} {point}"
        place, query = next(fitting, (nearest, own))
        order.append(place)
        focus = tuple(dict.fromkeys(filter(None, (*planned[place].focus, query))))
        planned[place] = planned[place].model_copy(update={"focus": focus})
    by_point = dict(zip(sorted({*order}), dict.fromkeys(order), strict=True))
    return tuple(planned[by_point.get(n, n)] for n in range(len(planned)))


async def analyze(ctx: RunContext, question: Question, decision: Decision | None = None) -> QueryAnalysis:
    """Return the analysis, or intake's; only list questions may need a discovery."""
    ctx.emit(StageStarted(stage="analyze"))
    found = (decision and decision.analysis) or await ctx.reasoner.analyze(question)
    ctx.emit(Analyzed(query_type=found.query_type, output_format=found.output_format, reasoning=found.reasoning))
    return found.model_copy(update={"needs_discovery": found.needs_discovery and found.query_type == "list"})


def needs_confirmation(settings: Settings, decision: Decision) -> bool:
    """Return whether the user must confirm the plan, by a setting or the decision.

    The decision counts only where clarification is allowed.
    """
    proposed = decision.next_action == "CONFIRM_PLAN" and settings.allow_clarification
    return settings.confirm_plan or proposed


def confirmation_of(brief: Brief, settings: Settings, problems: Sequence[str] = ()) -> Asked:
    """Return the question to the user about a plan.

    `problems` are the changes of the last answer that were not made.

    Only a confirmation that the user ordered is required; else the research starts where nobody can be asked.
    """
    language = brief.language
    told = [phrase("plan_problems", language, problems=" ".join(problems))] if problems else []
    lines = [*told, phrase("confirm_plan", language), phrase("confirm_how", language)]
    return Asked(
        kind="plan",
        question="\n".join(lines),
        options=(phrase("opt_confirm", language), phrase("opt_reject", language)),
        brief=brief,
        required=settings.confirm_plan,
    )


async def read_answer(ctx: RunContext, brief: Brief, answer: str) -> PlanAnswer:
    """Return the meaning of an answer to a plan, read by code, else by the reasoner.

    Whoever reads it, code makes the changes: nothing that was edited before is planned anew.
    """
    said = read_plan_answer(answer, brief)
    if said.is_clear:
        return said
    edits = await ctx.reasoner.read_plan_edits(answer, brief)
    return apply_edits(brief, edits) if edits else said
