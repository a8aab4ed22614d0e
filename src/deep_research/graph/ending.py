"""The end of every workflow: the report around what the sections say."""

import asyncio
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from deep_research.events import StageStarted
from deep_research.graph.state import AgentState
from deep_research.steps import report
from deep_research.steps.context import RunContext
from deep_research.steps.repetition import without_repetition


async def final_report(state: AgentState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Write the report around the sections' own text."""
    ctx = runtime.context
    ctx.steering.close()
    ctx.emit(StageStarted(stage="report"))
    kept = ctx.steering.kept(state["sections"])
    sections, claims = await asyncio.to_thread(without_repetition, kept, state.get("claims", {}))
    written = await report.write_report(
        ctx,
        question=state["question"],
        original=state["original_query"],
        analysis=state["analysis"],
        decision=state["decision"],
        brief=ctx.steering.briefed(state["brief"]),
        sections=sections,
        claims=claims,
        gaps=state.get("gaps", []),
        contradictions=state.get("contradictions", []),
    )
    return {"report": written, "final_report": written.report, "messages": [AIMessage(content=written.report)]}
