"""The discover subgraph (contract row B4).

discover_invoke → discover_tools → … → extract_output.
"""

from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from deep_research.data import Turn
from deep_research.events import Discovered
from deep_research.graph.graph_state import DiscoverState
from deep_research.run_context.context import RunContext
from deep_research.steps import research, search
from deep_research.steps.plan import first_hits


async def discover_invoke(
    state: DiscoverState, runtime: Runtime[RunContext]
) -> Command[Literal["discover_tools", "extract_output"]]:
    """Choose the next searches for entities, up to `max_discover_iterations`."""
    ctx, turns = runtime.context, state.get("discovery_turns", [])
    if (turns and ctx.steering.now.finishing) or len(turns) >= ctx.settings.max_discover_iterations:
        return Command(goto="extract_output")
    asked = state.get("asked", state["question"])
    actions = await ctx.reasoner.discover_actions(asked, state["analysis"], turns, ctx.library)
    if not actions or research.is_complete(actions):
        return Command(goto="extract_output")
    return Command(goto="discover_tools", update={"discovery_turns": [*turns, Turn(actions=tuple(actions))]})


async def discover_tools(state: DiscoverState, runtime: Runtime[RunContext]) -> Command[Literal["discover_invoke"]]:
    """Make the searches."""
    turn = state["discovery_turns"][-1]
    seen = await search.perform(runtime.context, turn.actions)
    done = turn.model_copy(update={"observations": tuple(seen)})
    return Command(goto="discover_invoke", update={"discovery_turns": [*state["discovery_turns"][:-1], done]})


async def extract_output(state: DiscoverState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Name the entities."""
    ctx = runtime.context
    hits = first_hits(ctx, state.get("discovery_turns", []))
    found = await ctx.reasoner.entities(state["question"], state["analysis"], hits, ctx.library)
    ctx.emit(Discovered(entities=tuple(e.name for e in found.entities)))
    return {
        "discovery": found,
        "discovered_items": list(found.entities),
        "discovery_complete": True,
        "discovery_summary": found.summary,
    }


def build_discover() -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the compiled discovery."""
    graph = StateGraph(DiscoverState, context_schema=RunContext)
    graph.add_node("discover_invoke", discover_invoke, destinations=("discover_tools", "extract_output"))
    graph.add_node("discover_tools", discover_tools, destinations=("discover_invoke",))
    graph.add_node("extract_output", extract_output)
    graph.add_edge(START, "discover_invoke")
    graph.add_edge("extract_output", END)
    return graph.compile()
