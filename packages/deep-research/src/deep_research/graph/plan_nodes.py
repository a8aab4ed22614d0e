"""Analysis, plan and confirmation nodes of planning workflows (contract row A6).

The planning node of a workflow goes to `confirm_plan` with its brief in the state and no sections; `confirm_plan`
shows it, comes back to itself after each change, and returns to the planning node when it is confirmed, which then
takes the brief as it is. Each round has a checkpoint of its own.
"""

from typing import Any, TypeVar

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from deep_research.conversation.replies import pick_options
from deep_research.data import Brief, QueryAnalysis, Section
from deep_research.events import Planned, RunDeclined, StageStarted
from deep_research.graph.clarify import clarify_then
from deep_research.graph.graph_state import AgentState, Node
from deep_research.graph.run_graph import ask_user
from deep_research.i18n.catalog import phrase
from deep_research.run_context.context import RunContext
from deep_research.steps import plan

_S = TypeVar("_S", bound=AgentState)


def analysis_update(analysis: QueryAnalysis) -> dict[str, Any]:
    """Return the state's keys of an analysis, and of a discovery before it begins."""
    told = analysis.model_dump(include={"query_type", "output_format"})
    return {"analysis": analysis, **told, "discovered_items": [], "discovery_complete": False, "discovery_summary": ""}


def one_section(language: str, text: str, **more: Any) -> dict[str, Any]:
    """Return the state keys for researching a text as one section with `more` fields."""
    title = phrase("answer", language)
    section = Section(title=title, description=text, queries=(text,), attempts=1, **more)
    brief = Brief(title=text, objective=text, question=text, language=language, sections=(section,))
    analysis = QueryAnalysis(query_type="general", output_format="prose")
    return {"brief": brief, "sections": [section], **analysis_update(analysis)}


async def analyze_question(state: AgentState, ctx: RunContext) -> dict[str, Any]:
    """Classify the question by the user's own words; return the state update."""
    return analysis_update(await plan.analyze(ctx, state.get("asked", state["question"]), state.get("decision")))


async def lay_out_plan(state: AgentState, ctx: RunContext, analysis: QueryAnalysis) -> dict[str, Any]:
    """Plan the sections; return the state update with the `brief` for the research."""
    ctx.emit(StageStarted(stage="plan"))
    brief = await plan.plan(
        ctx,
        state["question"],
        analysis,
        state["decision"],
        state.get("discovery"),
        state.get("discovery_turns", []),
        asked=state.get("asked"),
    )
    return {"brief": brief, "research_brief": brief.research_brief}


MAX_PLAN_ROUNDS = 20
"""Answers to a shown plan before the run is given up."""


def confirm_plan_then(node: str) -> Node[AgentState]:
    """Return the node that has a plan confirmed and goes (back) to `node` with it."""

    async def confirm_plan(state: AgentState, runtime: Runtime[RunContext]) -> Command[str]:
        """Show the plan and take a yes, a no or changes; ask again if not understood."""
        ctx, brief, rounds = runtime.context, state["brief"], state.get("plan_rounds", 0)
        if rounds >= MAX_PLAN_ROUNDS:
            return _reject(ctx, phrase("plan_unconfirmed", brief.language, rounds=rounds))
        asked = plan.confirmation_of(brief, ctx.settings, state.get("plan_problems", ()))
        answer = pick_options(ask_user(asked), asked.options)
        said = await plan.read_answer(ctx, brief, answer)
        if said.kind == "rejected":
            return _reject(ctx, phrase("plan_rejected", brief.language))
        if said.kind == "confirmed" or said.brief != brief:
            ctx.emit(Planned(title=said.brief.title, sections=tuple(s.title for s in said.brief.sections)))
        if said.kind == "confirmed":
            return Command(goto=node, update={"brief": brief.model_copy(update={"is_agreed": True})})
        edited = {
            "brief": said.brief,
            "research_brief": said.brief.research_brief,
            "plan_problems": list(said.problems),
        }
        return Command(goto="confirm_plan", update={**edited, "plan_rounds": rounds + 1})

    return confirm_plan


def begin_graph(state: type[_S], node: str, *, first: str = "") -> StateGraph[_S, RunContext, Any, Any]:
    """Return a graph that starts with clarification; `node` gets its plan confirmed.

    `first` is the node behind clarify, where it is another.
    """
    graph = StateGraph(state, context_schema=RunContext)
    graph.add_node("clarify", clarify_then(first or node), destinations=(first or node, "clarify", END))
    graph.add_node("confirm_plan", confirm_plan_then(node), destinations=(node, "confirm_plan", END))
    graph.add_edge(START, "clarify")
    return graph


def _reject(ctx: RunContext, reason: str) -> Command[str]:
    ctx.emit(RunDeclined(reason=reason, by="user"))
    return Command(goto=END, update={"final_report": reason, "declined_by": "user"})
