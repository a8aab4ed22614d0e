"""Looking around before planning: for lists until the entities are known, else once for the themes."""

from deep_research.data import Action, Passage, QueryAnalysis, Question, Turn
from deep_research.run_context.context import RunContext
from deep_research.text.near_duplicates import distinct_passages

_RRF, _FIRST_HITS = 10.0, 60


async def discover_actions(
    ctx: RunContext, question: Question, analysis: QueryAnalysis, turns: list[Turn]
) -> list[Action]:
    """Return the next searches; none when the reasoner is done or `max_discover_iterations` are used up."""
    if len(turns) >= ctx.settings.max_discover_iterations:
        return []
    actions = list(await ctx.reasoner.discover_actions(question, analysis, turns, ctx.library))
    return [] if any(a.name == "research_complete" for a in actions) else actions


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
    return distinct_passages(found)[:_FIRST_HITS]
