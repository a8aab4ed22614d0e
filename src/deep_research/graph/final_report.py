"""The end of every workflow: the report around what the sections say."""

import asyncio
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from deep_research.data import Claim, Section
from deep_research.events import StageStarted
from deep_research.graph.graph_state import AgentState
from deep_research.report import compose as report
from deep_research.report.deduplicate import without_repetition
from deep_research.run_context.context import RunContext


async def final_report(state: AgentState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Write the report around the sections' own text."""
    ctx = runtime.context
    ctx.steering.close()
    ctx.emit(StageStarted(stage="report"))
    sections, claims = await _told(state, ctx)
    written = await report.write_report(
        ctx,
        question=state["question"],
        original=state["original_query"],
        analysis=state["analysis"],
        decision=state["decision"],
        brief=ctx.steering.now.brief_with_remarks(state["brief"]),
        sections=sections,
        claims=claims,
        contradictions=state.get("contradictions", []),
    )
    return {"report": written, "final_report": written.report, "messages": [AIMessage(content=written.report)]}


async def begin_composing(state: AgentState, ctx: RunContext) -> None:
    """Begin abstract and conclusion of the sections as they are, as `final_report` will ask for them."""
    sections, claims = await _told(state, ctx)
    brief = ctx.steering.now.brief_with_remarks(state["brief"])
    report.begin_composing(
        ctx, question=state["question"], analysis=state["analysis"], brief=brief, sections=sections, claims=claims
    )


async def _told(state: AgentState, ctx: RunContext) -> tuple[list[Section], dict[str, list[Claim]]]:
    """The sections that the user still wants, none saying what another one says."""
    kept = ctx.steering.now.kept(state["sections"])
    return await asyncio.to_thread(without_repetition, kept, state.get("claims", {}))
