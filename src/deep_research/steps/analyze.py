"""Analysis: what kind of question it is, and which form suits the answer."""

from deep_research.data import QueryAnalysis, Question
from deep_research.steps.context import RunContext


async def analyze(ctx: RunContext, question: Question) -> QueryAnalysis:
    """Return the analysis; only list questions are allowed to need a discovery."""
    found = await ctx.speculation.analysis(question, lambda: ctx.reasoner.analyze(question))
    needs = found.needs_discovery and found.query_type == "list"
    return found.model_copy(update={"needs_discovery": needs})
