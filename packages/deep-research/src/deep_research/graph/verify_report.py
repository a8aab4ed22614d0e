"""The `verify` workflow: check others' reports against the pages they cite.

read_report → verify_report: its citations become passages of stored snapshots, then the steps are those of our own
reports: verify, revise where that is wanted, show. Two reports are verified as one text, and held against each other.
"""

from difflib import unified_diff
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from deep_research.concurrency import in_background, side_by_side
from deep_research.data import Decision, Disagreement
from deep_research.events import StageStarted
from deep_research.graph.graph_state import AgentState
from deep_research.report.assemble import Finished, assemble
from deep_research.run_context.context import RunContext
from deep_research.steps import revise, verify
from deep_research.steps.compare_reports import compare_reports, describe_disagreements, describe_problems, join_reports
from deep_research.steps.foreign_report import assignment_of, cite_passages, report_title
from deep_research.steps.write import Written

_MOST_LINES = 3_000
"""Lines of a report whose changes are shown as a diff."""


class VerifyState(AgentState):
    """The state of a verification: `given` is the report, `cited` has passage ids.

    `given_other` is a second report to compare it with, `both` the two with ids. `unread` are the sources (by id) that
    could not be read, and why; `revises` says whether its text is put right.
    """

    given: str
    given_other: str
    revises: bool
    cited: str
    both: tuple[str, ...]
    unread: dict[str, str]


async def read_report(state: VerifyState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Open the pages the report cites, and match each statement to nearest passages."""
    ctx = runtime.context
    ctx.emit(StageStarted(stage="research"))
    named, reports = bool(ctx.outside.docs), filter(None, (state["given"], state["given_other"]))
    cited = await side_by_side(cite_passages(ctx, report, by_documents=named) for report in reports)
    both = tuple(text for text, _ in cited)
    text = await in_background(join_reports, *both) if state["given_other"] else both[0]
    return {"cited": text, "both": both, "unread": {key: why for _, unread in cited for key, why in unread.items()}}


async def verify_report(state: VerifyState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Judge the statements and the whole report; return it, revised where wanted."""
    ctx, title = runtime.context, report_title(state["given"])
    given = await in_background(assignment_of, state["question"], title, state["cited"], ctx.library)
    ctx.emit(StageStarted(stage="verify"))
    found = await verify.verify(ctx, given, state["cited"], unread=state["unread"])
    checked = revise.Checked(state["cited"], found)
    if state["revises"] and any(problem.outcome == "open" for problem in found.problems):
        checked = await revise.revise(ctx, given, Written(state["cited"]), found)
    language, disagreements = state["question"].language, tuple[Disagreement, ...]()
    if state["given_other"]:
        first, second = state["both"]
        disagreements = await compare_reports(ctx, first, second, state["question"].text)
    told = [describe_problems(checked.verification, language), describe_disagreements(disagreements, language)]
    lines = (state["cited"].splitlines(), checked.text.splitlines())
    shows_diff = checked.edits and max(map(len, lines)) <= _MOST_LINES  # it takes the square of them
    done = Finished(
        question=state["question"],
        original=state["original_query"],
        analysis=given.analysis,
        decision=Decision(next_action="START_RESEARCH", confidence=1.0, goal=title),
        brief=given.brief,
        sections=(),
        text="\n\n".join(filter(None, (checked.text, *told))),
        verification=checked.verification,
        edits=checked.edits,
        diff="\n".join(unified_diff(*lines, "given", "fixed", lineterm="")) if shows_diff else "",
        disagreements=disagreements,
    )
    report = await assemble(ctx, done)
    await ctx.keep_report({"report": report, "found_in": ""})
    return {"report": report, "final_report": report.report, "messages": [AIMessage(content=report.report)]}


def build_verify() -> StateGraph[VerifyState, RunContext, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = StateGraph(VerifyState, context_schema=RunContext)
    graph.add_sequence([read_report, verify_report])
    graph.add_edge(START, "read_report")
    graph.add_edge("verify_report", END)
    return graph
