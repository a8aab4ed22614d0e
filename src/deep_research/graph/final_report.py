"""The end of every workflow: the report around what the sections say."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from deep_research.concurrency import in_background
from deep_research.data import ReportReview, Section
from deep_research.events import StageStarted
from deep_research.graph.graph_state import AgentState
from deep_research.report import compose
from deep_research.report.deduplicate import without_repetition
from deep_research.report.report_input import ReportInput
from deep_research.run_context.context import RunContext
from deep_research.steps.private_text import sent_queries


async def final_report(state: AgentState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Write the report around the sections' own text."""
    ctx = runtime.context
    ctx.steering.close()
    ctx.emit(StageStarted(stage="report"))
    composed = await compose.write_report(ctx, await report_input(state, ctx))
    written = composed.model_copy(update={"queries": sent_queries(ctx)})
    await ctx.keep_report({"report": written, "found_in": state.get("found_in") or ""})
    return {"report": written, "final_report": written.report, "messages": [AIMessage(content=written.report)]}


async def report_input(state: AgentState, ctx: RunContext) -> ReportInput:
    """Return what the report is made of: the sections that the user still wants, without what two of them repeat."""
    kept = ctx.steering.now.kept(state["sections"])
    sections, claims = await in_background(without_repetition, kept, state.get("claims", {}))
    return ReportInput(
        question=state["question"],
        original=state["original_query"],
        analysis=state["analysis"],
        decision=state["decision"],
        brief=ctx.steering.now.brief_with_remarks(state["brief"]),
        sections=tuple(sections),
        claims=tuple(c for s in sections for c in claims.get(s.title, [])),
        contradictions=tuple(state.get("contradictions", ())),
        found_in=state.get("found_in") or "",
        reviews=_reviews(state, sections),
    )


def _reviews(state: AgentState, sections: Sequence[Section]) -> tuple[ReportReview, ...]:
    """Return how each section was judged last; a review after which it was researched again speaks of an older text."""
    judged = state.get("section_reviews", {})
    found = [(s, row) for s in sections if (row := judged.get(s.title)) is not None and not row.retry]
    return tuple(
        ReportReview(
            section=s.title,
            status=row.status,
            score=row.score,
            missing="; ".join(row.missing) or row.notes if row.status != "sufficient" else "",
            attempts=max(1, s.attempts),
        )
        for s, row in found
    )
