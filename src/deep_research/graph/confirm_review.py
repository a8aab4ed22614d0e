"""The stop at the review (`confirm_review`): the user sees what the review found, and decides what follows."""

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from deep_research.graph.graph_state import AgentState
from deep_research.graph.run_graph import ask_user
from deep_research.run_context.context import RunContext
from deep_research.steps import review_stop


async def confirm_review(
    state: AgentState, runtime: Runtime[RunContext]
) -> Command[Literal["plan_sections", "final_report"]]:
    """Show the review; write the report, or research the sections again that the user names."""
    ctx, sections = runtime.context, state["sections"]
    rows = state.get("section_reviews", {})
    asked = review_stop.question_of(sections, rows, state["brief"].language)
    answer = review_stop.answer_of(ask_user(asked), asked)
    wanted = review_stop.wanted_sections(answer, sections, rows)
    if not wanted:
        # What the review has sent back by itself stays as it is: the user wants the report.
        held = [s.model_copy(update={"status": "completed"}) for s in sections if s.status == "pending"]
        return Command(goto="final_report", update={"sections": held} if held else {})
    await ctx.prefetch.drop_composition()
    update: dict[str, Any] = {"sections": wanted, "review_iterations": state.get("review_iterations", 0) + 1}
    return Command(goto="plan_sections", update=update)
