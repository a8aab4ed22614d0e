"""Planning: a brief with independent sections."""

from deep_research.data import Action, Brief, Decision, Discovery, Gap, QueryAnalysis, Question, Turn
from deep_research.events import Planned
from deep_research.steps import search
from deep_research.steps.context import RunContext
from deep_research.steps.discover import first_hits


async def plan(
    ctx: RunContext,
    question: Question,
    analysis: QueryAnalysis,
    decision: Decision,
    discovery: Discovery | None,
    turns: list[Turn],
    *,
    asked: Question | None = None,
) -> tuple[Brief, list[Gap]]:
    """Return the brief and what failed on the way to it; looks around once when nothing was found before.

    It looks around for what `asked` says, the question in the user's own words. The text that says what a looked-up term means is shown to the planner first.
    """
    if not turns:
        turns = await _look_around(ctx, asked or question, analysis)
    meanings = [p for term in decision.terms if term.found and (p := ctx.library.passage(term.passage))]
    passages = list({p.id: p for p in [*meanings, *first_hits(ctx, turns)]}.values())
    brief = await ctx.reasoner.plan(question, analysis, decision, discovery, passages, ctx.library)
    distinct = tuple({section.title: section for section in reversed(brief.sections)}.values())[::-1]
    brief = brief.model_copy(
        update={
            "sections": distinct[: ctx.settings.max_sections],
            "question": question.text,
            "terms": tuple(term for term in decision.terms if term.found),
        }
    )
    ctx.emit(Planned(title=brief.title, sections=tuple(s.title for s in brief.sections)))
    return brief, [gap for turn in turns for seen in turn.observations for gap in seen.gaps]


async def _look_around(ctx: RunContext, question: Question, analysis: QueryAnalysis) -> list[Turn]:
    actions: list[Action] = list(await ctx.reasoner.discover_actions(question, analysis, [], ctx.library))
    observations = await ctx.speculation.observations(ctx, actions, search.perform)
    return [Turn(actions=tuple(actions), observations=tuple(observations))]
