"""The `sections` workflow, the default (contract rows B1–B9).

clarify → analyze → (discover) → plan_sections → researcher ×N → aggregate → review → final_report;
routing by `Command`, fan-out by `Send` from plan_sections. Each researcher has its section reviewed as soon as
it is written; `review` looks across all of them, and can send sections back through plan_sections.
"""

from typing import Any, Literal

from langgraph.graph import END, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from deep_research.data import Review
from deep_research.events import StageStarted
from deep_research.graph.discovery import build_discover
from deep_research.graph.final_report import final_report
from deep_research.graph.graph_state import AgentState
from deep_research.graph.plan_nodes import analyze_question, begin_graph, lay_out_plan
from deep_research.graph.researcher import build_researcher, task_for
from deep_research.graph.run_graph import ask_user
from deep_research.run_context.context import RunContext
from deep_research.run_context.steering import Interrupted
from deep_research.steps import review, review_stop
from deep_research.steps.plan import needs_confirmation

MAX_REVIEW_STOPS = 5
"""Reviews that are shown to the user before the report is written."""


async def analyze(state: AgentState, runtime: Runtime[RunContext]) -> Command[Literal["discover", "plan_sections"]]:
    """Classify the question, and decide whether to discover entities first."""
    if state.get("brief"):  # taken over from an earlier run
        return Command(goto="plan_sections")
    update = await analyze_question(state, runtime.context)
    if not update["analysis"].needs_discovery:
        return Command(goto="plan_sections", update=update)
    runtime.context.emit(StageStarted(stage="discover"))
    return Command(goto="discover", update=update)


async def plan_sections(
    state: AgentState, runtime: Runtime[RunContext]
) -> Command[Literal["confirm_plan", "researcher", "aggregate"]]:
    """Plan the sections once, and send each pending one to its own researcher."""
    ctx, sections, brief = runtime.context, state.get("sections", []), state.get("brief")
    update: dict[str, Any] = {"review_iterations": state.get("review_iterations", 0)}
    if brief is None:
        update |= await lay_out_plan(state, ctx, state["analysis"])
        if needs_confirmation(ctx.settings, state["decision"]):
            return Command(goto="confirm_plan", update=update)
        brief = update["brief"]
    sections = sections or list(brief.sections)
    sections = [*sections, *ctx.steering.now.added_to(sections)]
    pending = [s for s in ctx.steering.now.kept(sections) if s.status == "pending"]
    ctx.steering.begin(*(s.title for s in pending))
    ctx.emit(StageStarted(stage="research"))
    out = [s.model_copy(update={"status": "researching", "attempts": s.attempts + 1}) for s in pending]
    known = state.get("conversations", {})
    reviews = min(1, ctx.settings.max_review_iterations)  # of its own, before all are reviewed together
    tasks = [task_for(s, brief, ctx.settings, known.get(s.title, []), reviews=reviews) for s in out]
    sends = [Send("researcher", task) for task in tasks]
    return Command(goto=sends or "aggregate", update={**update, "sections": out or sections})


async def aggregate(state: AgentState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Fan in: set sections that the model's server left unanswered to pending."""
    left = runtime.context.reasoner.unanswered
    owed = ({"status": "pending", "attempts": s.attempts - 1} if s.title in left else {} for s in state["sections"])
    return {"sections": [s.model_copy(update=update) for s, update in zip(state["sections"], owed, strict=True)]}


async def report_or_resume(state: AgentState, runtime: Runtime[RunContext]) -> Any:
    """Write the report; in a later sitting first research sections left unanswered.

    Those are sections that the model's server left in an earlier sitting.
    """
    ctx = runtime.context
    kept = [s for s in ctx.steering.now.kept(state["sections"]) if s.title not in ctx.reasoner.unanswered]
    owed = [s for s in kept if s.status == "pending"]
    if ctx.steering.now.finishing or not owed:
        return await final_report(state, runtime)
    talks = state.get("conversations", {})
    update = {
        "sections": [s.model_copy(update={"content": "", "key_findings": ()}) for s in owed],
        "conversations": {s.title: [turn for turn in talks.get(s.title, []) if not turn.said] for s in owed},
    }
    return Command(goto="plan_sections", update=update)


async def review_sections(
    state: AgentState, runtime: Runtime[RunContext]
) -> Command[Literal["plan_sections", "confirm_review", "final_report"]]:
    """Judge the sections together; send the weak ones back, the outline stays.

    A section that the user has added is researched before; who wants the report now does not wait for a review.
    """
    steering = runtime.context.steering
    steering.refresh()
    if steering.now.added_to(state["sections"]):
        return Command(goto="plan_sections")
    try:
        judged = await steering.unless_stopped("", _together(state, runtime.context))
    except Interrupted:
        return Command(goto="final_report")
    found: dict[str, Any] = {
        "section_reviews": {row.title: row for row in judged.section_coverage},
        "overall_score": judged.overall_score,
        "is_sufficient": judged.is_sufficient,
    }
    weak = review.send_back(state["sections"], judged)
    if runtime.context.settings.confirm_review and state.get("review_iterations", 0) < MAX_REVIEW_STOPS:
        stopped = {**found, "review_gaps": judged.gaps}
        return Command(goto="confirm_review", update={**stopped, "sections": weak} if weak else stopped)
    if weak:
        again = {"sections": weak, "review_iterations": state.get("review_iterations", 0) + 1}
        return Command(goto="plan_sections", update={**found, **again})
    review.report_gaps(runtime.context, judged.gaps)
    goto = "plan_sections" if steering.now.added_to(state["sections"]) else "final_report"
    return Command(goto=goto, update=found)


async def confirm_review(
    state: AgentState, runtime: Runtime[RunContext]
) -> Command[Literal["plan_sections", "final_report"]]:
    """Show the review; go on to the report, or research the named sections again."""
    sections, rows = state["sections"], state.get("section_reviews", {})
    language = state["brief"].language
    now = asked = review_stop.question_of(sections, rows, language)
    while (wanted := review_stop.wanted_sections(said := ask_user(now), asked, sections, rows)) is None:
        now = review_stop.ask_again(asked, now, said, language)
    # What the review has sent back by itself, and the user has not named, stays as it is.
    named = {s.title for s in wanted}
    held = [s.model_copy(update={"status": "completed"}) for s in sections if s.status == "pending"]
    update: dict[str, Any] = {"sections": [*wanted, *(s for s in held if s.title not in named)]}
    if not wanted:
        review.report_gaps(runtime.context, state.get("review_gaps", ()))
        update["section_reviews"] = {t: row.model_copy(update={"retry": False}) for t, row in rows.items() if row.retry}
        return Command(goto="final_report", update=update)
    update["review_iterations"] = state.get("review_iterations", 0) + 1
    return Command(goto="plan_sections", update=update)


async def _together(state: AgentState, ctx: RunContext) -> Review:
    """Review the sections that the user still wants."""
    ctx.emit(StageStarted(stage="review"))
    sections = ctx.steering.now.kept(state["sections"])
    titles = {s.title for s in sections}
    known = [row for row in state.get("section_reviews", {}).values() if row.title in titles]
    iterations, limit = state.get("review_iterations", 0), ctx.settings.max_review_iterations
    return await review.review(ctx, state["brief"], sections, iterations, known, limit=limit)


def build_sections() -> StateGraph[AgentState, RunContext, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = begin_graph(AgentState, "plan_sections", first="analyze")
    graph.add_node("analyze", analyze, destinations=("discover", "plan_sections"))
    graph.add_node("discover", build_discover())
    graph.add_node("plan_sections", plan_sections, destinations=("confirm_plan", "researcher", "aggregate"))
    graph.add_sequence([("researcher", build_researcher()), aggregate])
    graph.add_node("review", review_sections, destinations=("plan_sections", "confirm_review", "final_report"))
    graph.add_node("confirm_review", confirm_review, destinations=("plan_sections", "final_report"))
    graph.add_node("final_report", report_or_resume, destinations=("plan_sections", END))
    graph.add_edge("discover", "plan_sections")
    graph.add_edge("aggregate", "review")
    return graph
