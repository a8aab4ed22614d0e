"""Looking around before planning: for lists until the entities are known, else once for the themes."""

from deep_research.data import Action, Discovery, Passage, QueryAnalysis, Question, Turn
from deep_research.run_context.context import RunContext
from deep_research.steps.research import found_passages


async def discover_actions(
    ctx: RunContext, question: Question, analysis: QueryAnalysis, turns: list[Turn]
) -> list[Action]:
    """Return the next searches; none when the reasoner is done or `max_discover_iterations` are used up."""
    if len(turns) >= ctx.settings.max_discover_iterations:
        return []
    actions = list(await ctx.reasoner.discover_actions(question, analysis, turns, ctx.library))
    return [] if any(a.name == "research_complete" for a in actions) else actions


async def extract(ctx: RunContext, question: Question, analysis: QueryAnalysis, turns: list[Turn]) -> Discovery:
    """Return the entities named in what was found."""
    return await ctx.reasoner.entities(question, analysis, first_hits(ctx, turns), ctx.library)


def first_hits(ctx: RunContext, turns: list[Turn]) -> list[Passage]:
    """Return the passages found while looking around, best first."""
    return found_passages(turns, ctx.library, limit=60)
