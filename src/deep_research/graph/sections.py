"""The `sections` workflow, the default (contract rows B1–B9).

clarify → analyze → (discover) → plan_sections → researcher ×N → aggregate → review → final_report;
routing by `Command`, fan-out by `Send` from plan_sections. Each researcher has its section reviewed as soon as
it is written; `review` looks across all of them, and can send sections back through plan_sections.
"""

from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer, Command, Send

from deep_research.data import Brief, Review
from deep_research.events import Analyzed, StageStarted
from deep_research.graph.clarify import clarify_then
from deep_research.graph.confirm_plan import confirm_plan_then
from deep_research.graph.discovery import build_discover
from deep_research.graph.final_report import final_report, report_input
from deep_research.graph.graph_state import AgentState
from deep_research.graph.researcher import build_researcher, task_for
from deep_research.report.compose import begin_composing
from deep_research.run_context.context import RunContext
from deep_research.run_context.steering import Interrupted
from deep_research.steps import plan, review
from deep_research.steps import plan as analysis_step
from deep_research.steps import plan as confirm


async def analyze(state: AgentState, runtime: Runtime[RunContext]) -> Command[Literal["discover", "plan_sections"]]:
    """Find out what kind of question it is, and whether entities must be discovered first."""
    runtime.context.emit(StageStarted(stage="analyze"))
    found = await analysis_step.analyze(runtime.context, state.get("asked", state["question"]))
    runtime.context.emit(
        Analyzed(query_type=found.query_type, output_format=found.output_format, reasoning=found.reasoning)
    )
    discovers = found.query_type == "list" and found.needs_discovery
    return Command(
        goto="discover" if discovers else "plan_sections",
        update={"analysis": found, "query_type": found.query_type, "output_format": found.output_format},
    )


async def plan_sections(
    state: AgentState, runtime: Runtime[RunContext]
) -> Command[Literal["confirm_plan", "researcher", "aggregate"]]:
    """Lay out the sections once, and send every pending one to a researcher of its own."""
    sections, brief = state.get("sections", []), state.get("brief")
    update: dict[str, Any] = {}
    if brief is None:
        brief = await _plan(state, runtime)
        update = {"brief": brief, "research_brief": brief.objective, "review_iterations": 0}
        if confirm.wanted(runtime.context.settings, state["decision"]):
            return Command(goto="confirm_plan", update=update)
    sections = sections or list(brief.sections)
    steering = runtime.context.steering
    sections = [*sections, *steering.now.added_to(sections)]
    pending = [s for s in steering.now.kept(sections) if s.status == "pending"]
    steering.begin(*(s.title for s in pending))
    runtime.context.emit(StageStarted(stage="research"))
    out = [s.model_copy(update={"status": "researching", "attempts": s.attempts + 1}) for s in pending]
    claims = state.get("claims", {})
    settings = runtime.context.settings
    reviews = settings.max_review_iterations if review.streams(runtime.context) else 0
    sends = [Send("researcher", task_for(s, brief, settings, claims.get(s.title, []), reviews=reviews)) for s in out]
    return Command(goto=sends or "aggregate", update={**update, "sections": out or sections})


async def _plan(state: AgentState, runtime: Runtime[RunContext]) -> Brief:
    runtime.context.emit(StageStarted(stage="plan"))
    return await plan.plan(
        runtime.context,
        state["question"],
        state["analysis"],
        state["decision"],
        state.get("discovery"),
        state.get("discovery_turns", []),
        asked=state.get("asked"),
    )


async def aggregate(state: AgentState) -> dict[str, Any]:
    """Fan in: the reducers have merged what the researchers handed back."""
    return {"sections": state["sections"]}


async def review_sections(
    state: AgentState, runtime: Runtime[RunContext]
) -> Command[Literal["plan_sections", "final_report"]]:
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
        "contradictions": list(judged.contradictions),
        "section_reviews": {row.title: row for row in judged.section_coverage},
    }
    if weak := review.send_back(state["sections"], judged):
        await runtime.context.speculation.drop_composition()
        again = {"sections": weak, "review_iterations": state.get("review_iterations", 0) + 1}
        return Command(goto="plan_sections", update={**found, **again})
    review.report_gaps(runtime.context, judged)
    goto = "plan_sections" if steering.now.added_to(state["sections"]) else "final_report"
    return Command(goto=goto, update=found)


async def _together(state: AgentState, ctx: RunContext) -> Review:
    """Review the sections that the user still wants."""
    ctx.emit(StageStarted(stage="review"))
    sections = ctx.steering.now.kept(state["sections"])
    titles = {s.title for s in sections}
    claims = [c for title, group in state.get("claims", {}).items() if title in titles for c in group]
    known = [row for row in state.get("section_reviews", {}).values() if row.title in titles]
    if review.streams(ctx):
        begin_composing(
            ctx, await report_input(state, ctx)
        )  # each was found good enough by itself, or has no attempt left
    return await review.review(ctx, state["brief"], sections, claims, state.get("review_iterations", 0), known)


def build_sections() -> StateGraph[AgentState, RunContext, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = StateGraph(AgentState, context_schema=RunContext)
    graph.add_node("clarify", clarify_then("analyze"), destinations=("analyze", "clarify", END))
    graph.add_node("analyze", analyze, destinations=("discover", "plan_sections"))
    graph.add_node("discover", build_discover())
    graph.add_node("plan_sections", plan_sections, destinations=("confirm_plan", "researcher", "aggregate"))
    graph.add_node(
        "confirm_plan", confirm_plan_then("plan_sections"), destinations=("plan_sections", "confirm_plan", END)
    )
    graph.add_node("researcher", build_researcher())
    graph.add_node("aggregate", aggregate)
    graph.add_node("review", review_sections, destinations=("plan_sections", "final_report"))
    graph.add_node("final_report", final_report)
    graph.add_edge(START, "clarify")
    graph.add_edge("discover", "plan_sections")
    graph.add_edge("researcher", "aggregate")
    graph.add_edge("aggregate", "review")
    graph.add_edge("final_report", END)
    return graph


def compile_sections(checkpointer: Checkpointer = None) -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the graph ready to run."""
    return build_sections().compile(checkpointer=checkpointer, name="deep_research")
