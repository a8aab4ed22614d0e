"""The `supervisor` workflow (contract rows D1–D8): a researcher for each topic.

clarify → write_research_brief (⇄ discover) → supervisor ⇄ supervisor_tools → final_report; supervisor_tools sends each
delegation to the researcher subgraph of all workflows, side by side, and they meet again at supervisor.
"""

import operator
from contextlib import suppress
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.graph import END, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from deep_research.data import Action, Brief, Turn
from deep_research.events import StageStarted
from deep_research.graph.discovery import build_discover
from deep_research.graph.final_report import final_report
from deep_research.graph.graph_state import AgentState
from deep_research.graph.plan_nodes import analyze_question, begin_graph, lay_out_plan
from deep_research.graph.researcher import build_researcher, messages_of, task_for
from deep_research.run_context.context import RunContext
from deep_research.run_context.steering import Interrupted
from deep_research.steps import delegate, research
from deep_research.steps.plan import needs_confirmation


class SupervisorState(AgentState):
    """The state of the supervisor; names as its design gives them.

    `supervisor_turns` are what it delegated and what came back, `supervisor_messages` the same as messages. `notes` are those of the sections,
    `raw_notes` what the calls of each attempt brought (ids of passages), `waiting` the delegations for which there was no room yet.
    """

    supervisor_turns: list[Turn]
    supervisor_messages: list[AnyMessage]
    research_iterations: int
    waiting: list[Action]
    notes: list[str]
    raw_notes: Annotated[list[str], operator.add]


async def write_research_brief(
    state: SupervisorState, runtime: Runtime[RunContext]
) -> Command[Literal["discover", "confirm_plan", "supervisor"]]:
    """Turn the question into a brief whose sections the supervisor can delegate.

    A question for a list goes through discovery first, and comes back: its topics are what was found.
    """
    ctx, update = runtime.context, dict[str, Any]()
    if brief := state.get("brief"):  # as the user has confirmed it
        return Command(goto="supervisor", update=_begin(ctx, brief))
    analysis = state.get("analysis")
    if analysis is None:
        update = await analyze_question(state, ctx)
        analysis = update["analysis"]
        if analysis.needs_discovery:
            ctx.emit(StageStarted(stage="discover"))
            return Command(goto="discover", update=update)
    update |= await lay_out_plan(state, ctx, analysis)
    if needs_confirmation(ctx.settings, state["decision"]):
        return Command(goto="confirm_plan", update=update)
    return Command(goto="supervisor", update={**update, **_begin(ctx, update["brief"])})


def _begin(ctx: RunContext, brief: Brief) -> dict[str, Any]:
    ctx.emit(StageStarted(stage="research"))
    return {"sections": list(brief.sections), **_said(brief, []), "research_iterations": 0, "waiting": [], "notes": []}


async def supervisor(
    state: SupervisorState, runtime: Runtime[RunContext]
) -> Command[Literal["supervisor_tools", "final_report"]]:
    """Take in the researchers' results, and delegate more topics within the rounds.

    What the user has added is delegated in any case; who wants the report now gets it.
    """
    ctx, turns = runtime.context, state["supervisor_turns"]
    if turns:
        turns = [*turns[:-1], delegate.observed(ctx, turns[-1], state["sections"])]
    update: dict[str, Any] = {"notes": [s.content for s in state["sections"] if s.content]}
    ctx.steering.refresh()
    # What the user has added and no researcher has begun.
    if owed := ctx.steering.now.added_to([s for s in state["sections"] if s.status != "pending"]):
        update |= _said(state["brief"], [*turns, Turn(actions=delegate.asked_for(owed, len(turns)))])
        return Command(goto="supervisor_tools", update=update)
    actions = None
    if state["research_iterations"] < ctx.settings.max_researcher_iterations:
        turns = ctx.steering.now.add_remarks(turns)
        choosing = delegate.next_delegations(ctx, state["brief"], ctx.steering.now.kept(state["sections"]), turns)
        with suppress(Interrupted):
            actions = await ctx.steering.unless_stopped("", choosing, finish_stops=bool(update["notes"]))
    if actions is None:
        end = _end(state, ctx, rounds_used_up=True)
        return Command(goto="final_report", update={**update, **_said(state["brief"], turns), **end})
    update |= _said(state["brief"], [*turns, Turn(actions=tuple(actions))])
    iterations = state["research_iterations"] + 1
    return Command(goto="supervisor_tools", update={**update, "research_iterations": iterations})


def _said(brief: Brief, turns: list[Turn]) -> dict[str, Any]:
    told = [HumanMessage(brief.research_brief), *messages_of(turns)]
    return {"supervisor_turns": turns, "supervisor_messages": told}


async def supervisor_tools(
    state: SupervisorState, runtime: Runtime[RunContext]
) -> Command[Literal["researcher", "supervisor", "final_report"]]:
    """Carry out the last turn; no tool call, or research_complete, ends the research."""
    ctx, (*earlier, turn) = runtime.context, state["supervisor_turns"]
    if not turn.actions or research.is_complete(turn.actions):
        return Command(goto="final_report", update=_end(state, ctx, rounds_used_up=False))
    units = ctx.settings.max_concurrent_research_units
    round_ = delegate.lay_out(turn.actions, state["waiting"], state["sections"], units)
    ctx.steering.begin(*(s.title for s in round_.begun))
    known = state.get("conversations", {})
    sends = [
        Send("researcher", task_for(s, state["brief"], ctx.settings, known.get(s.title, []))) for s in round_.begun
    ]
    return Command(
        goto=sends or "supervisor",
        update={
            "sections": [*round_.begun, *round_.waiting_sections],
            "waiting": list(round_.waiting),
            **_said(state["brief"], [*earlier, round_.turn]),
        },
    )


def _end(state: SupervisorState, ctx: RunContext, *, rounds_used_up: bool) -> dict[str, Any]:
    """End the research: what was asked for and never begun is a gap."""
    asked = state["waiting"] if rounds_used_up else [*state["waiting"], *state["supervisor_turns"][-1].actions]
    asked = [action for action in asked if delegate.title_of(action) not in ctx.steering.now.dropped]
    sections = ctx.steering.now.kept(state["sections"])
    planned = [s.title for s in state["brief"].sections]
    failed = delegate.never_begun(ctx, sections, asked, planned, rounds_used_up=rounds_used_up)
    return {"sections": failed, "waiting": []}


def build_supervisor() -> StateGraph[SupervisorState, RunContext, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = begin_graph(SupervisorState, "write_research_brief")
    graph.add_node(
        "write_research_brief", write_research_brief, destinations=("discover", "confirm_plan", "supervisor")
    )
    graph.add_node("discover", build_discover())
    graph.add_node("supervisor", supervisor, destinations=("supervisor_tools", "final_report"))
    graph.add_node("supervisor_tools", supervisor_tools, destinations=("researcher", "supervisor", "final_report"))
    graph.add_node("researcher", build_researcher())
    graph.add_node("final_report", final_report)
    graph.add_edge("discover", "write_research_brief")
    graph.add_edge("researcher", "supervisor")
    graph.add_edge("final_report", END)
    return graph
