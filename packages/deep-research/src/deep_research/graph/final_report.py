"""The end of every workflow: write → verify → revise → show.

All calls are in the journal: a run that is killed in here goes on from the last answer.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from deep_research.data import Assignment, ReportReview, Section, Verification
from deep_research.errors import ResearchError
from deep_research.events import StageStarted
from deep_research.graph.graph_state import AgentState
from deep_research.i18n.catalog import gap_of, phrase
from deep_research.report.assemble import Finished, assemble
from deep_research.run_context.context import DEFECT, RunContext
from deep_research.steps import revise, verify, write
from deep_research.steps.private_text import sent_queries


async def final_report(state: AgentState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Write the report, have it verified and put right, and number its citations."""
    ctx = runtime.context
    ctx.steering.close()
    sections = ctx.steering.now.kept(state["sections"])
    reviews = _reviews(state, sections)
    for review in reviews:
        if review.status != "sufficient" and review.missing:
            ctx.report_gap(gap_of(review.section, "review_open", missing=review.missing))
    asked = state.get("asked") or state["question"]  # in the person's own words
    seen = (asked, state["analysis"], state["decision"], state["brief"], sections)
    given = await asyncio.to_thread(write.assign, ctx, *seen)
    if whole := state.get("whole"):
        turns = state.get("conversations", {}).get(whole.title, ())
        dropped = (f"Leave out: {s.title}" for s in state["sections"] if s not in sections)
        brief = given.brief.model_copy(update={"remarks": (*given.brief.remarks, *dropped)})
        given = given.model_copy(update={"whole": whole, "research": tuple(turns), "brief": brief})
    checked = await _checked(ctx, given)
    done = Finished(
        question=state["question"],
        original=state["original_query"],
        analysis=state["analysis"],
        decision=state["decision"],
        brief=state["brief"],
        sections=tuple(sections),
        text=checked.text,
        verification=checked.verification,
        edits=checked.edits,
        reviews=reviews,
        found_in=state.get("found_in") or "",
    )
    report = await assemble(ctx, done)
    report = report.model_copy(update={"queries": sent_queries(ctx)})
    await ctx.keep_report({"report": report, "found_in": done.found_in})
    return {"report": report, "final_report": report.report, "messages": [AIMessage(content=report.report)]}


async def _checked(ctx: RunContext, given: Assignment) -> revise.Checked:
    if not given.passages:
        if any(gap.why.startswith(DEFECT) and not gap.source for gap in ctx.log.gaps):
            message = "Nothing was researched: a defect of this program ended the sections (the log has more)."
            raise ResearchError(message)
        return revise.Checked(_nothing(ctx, given), Verification())
    ctx.emit(StageStarted(stage="report"))
    written = await write.write_report(ctx, given)
    ctx.emit(StageStarted(stage="verify"))
    found = await verify.verify(ctx, given, written.text)
    return await revise.revise(ctx, given, written, found)


def _nothing(ctx: RunContext, given: Assignment) -> str:
    """Return the report for a run without results: the places and queries searched."""
    language = given.brief.language
    queries = dict.fromkeys(query for section in given.sections for query in section.searched)
    return "\n\n".join(
        [
            f"# {given.brief.title}",
            phrase("nothing_found", language),
            phrase("searched_places", language, places=ctx.places_named(language)),
            phrase("searched_queries", language, queries=" · ".join(queries) or "–"),
        ]
    )


def _reviews(state: AgentState, sections: Sequence[Section]) -> tuple[ReportReview, ...]:
    """Return the last review of each section, without superseded or unscored ones."""
    judged = {k: r for k, r in state.get("section_reviews", {}).items() if r.score or r.status != "sufficient"}
    found = [(s, row) for s in sections if (row := judged.get(s.title)) is not None and not row.retry]
    rows = [
        ReportReview(
            section=s.title,
            status=row.status,
            score=row.score,
            missing="; ".join(row.missing) or row.notes if row.status != "sufficient" else "",
            attempts=max(1, s.attempts),
        )
        for s, row in found
    ]
    whole = state.get("overall_score")
    if whole:
        suffices = state.get("is_sufficient", True) and all(row.status == "sufficient" for row in rows)
        status = "sufficient" if suffices else "partial"
        rows.append(ReportReview(section="", status=status, score=whole))
    return tuple(rows)
