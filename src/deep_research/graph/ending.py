"""The end of every workflow: the report around what the sections say."""

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from deep_research.events import StageStarted
from deep_research.graph.state import AgentState
from deep_research.steps import report
from deep_research.steps.context import RunContext


async def final_report(state: AgentState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Write the report around the sections' own text."""
    runtime.context.emit(StageStarted(stage="report"))
    written = await report.write_report(
        runtime.context,
        question=state["question"],
        original=state["original_query"],
        analysis=state["analysis"],
        decision=state["decision"],
        brief=state["brief"],
        sections=state["sections"],
        claims=state.get("claims", {}),
        gaps=state.get("gaps", []),
    )
    return {"report": written, "final_report": written.report, "messages": [AIMessage(content=written.report)]}
