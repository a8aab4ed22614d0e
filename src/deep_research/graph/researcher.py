"""The researcher subgraph: researcher_invoke → tools → … → compress_output (contract row B6).

A researcher that fails hands back a failed section and a gap; it never ends the run or its siblings.
"""

import logging
from collections.abc import Awaitable, Sequence
from functools import wraps
from typing import Any, Literal, Protocol

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from deep_research.data import Action, Brief, Claim, Gap, Section, Turn
from deep_research.errors import ResearchError, Stopped, StoreError
from deep_research.events import SectionStarted
from deep_research.graph.state import ResearcherOutput, ResearcherState
from deep_research.settings import Settings
from deep_research.steps import research
from deep_research.steps.context import RunContext
from deep_research.steps.review import better

_log = logging.getLogger(__name__)


class _Node(Protocol):
    """A node of the researcher, as LangGraph calls it."""

    def __call__(self, state: ResearcherState, runtime: Runtime[RunContext]) -> Awaitable[Any]: ...


def _costs_only_itself(node: _Node) -> _Node:
    """Turn a failure inside a researcher into a gap; a full disk or a request to stop ends the run."""

    @wraps(node)
    async def guarded(state: ResearcherState, runtime: Runtime[RunContext]) -> Any:
        try:
            return await node(state, runtime)
        except (StoreError, Stopped):
            raise
        except ResearchError as error:
            why = error.message
        except Exception as error:  # noqa: BLE001 - a defect in one branch must not take its siblings along
            _log.exception("researcher of %r failed", state["section"].title)
            why = f"Internal error: {type(error).__name__}."
        gap = Gap(what=state["section"].title, why=why)
        return Command(goto=END, update=_failed(state, runtime.context.report_gap(gap)))

    return guarded


def _failed(state: ResearcherState, gap: Gap) -> dict[str, Any]:
    section = state["section"].model_copy(update={"status": "failed"})
    return {"sections": [section], "gaps": [gap], "raw_notes": _raw_notes(state)}


def _raw_notes(state: ResearcherState) -> list[list[str]]:
    """The ids of all passages that the researcher saw, whatever became of them."""
    seen = dict.fromkeys(p for turn in state.get("turns", []) for o in turn.observations for p in o.passages)
    return [list(seen)] if seen else []


@_costs_only_itself
async def researcher_invoke(
    state: ResearcherState, runtime: Runtime[RunContext]
) -> Command[Literal["tools", "compress_output"]]:
    """Choose the next actions; without any, research is complete."""
    turns = state.get("turns", [])
    if not turns:
        runtime.context.emit(SectionStarted(section=state["section"].title, attempt=state["section"].attempts))
    actions = await research.next_actions(runtime.context, state["section"], state["brief"], turns)
    if not actions:
        return Command(goto="compress_output", update={"is_complete": True})
    return Command(goto="tools", update={"turns": [*turns, Turn(actions=tuple(actions))]})


@_costs_only_itself
async def tools(
    state: ResearcherState, runtime: Runtime[RunContext]
) -> Command[Literal["researcher_invoke", "compress_output"]]:
    """Carry out the actions of the last turn, side by side; research_complete among them ends the research."""
    turn = state["turns"][-1]
    actions: list[Action] = list(turn.actions)
    seen = await research.act(runtime.context, state["section"], actions)
    done = turn.model_copy(update={"observations": tuple(seen)})
    used = state.get("tool_call_iterations", 0) + len(actions)
    complete = research.is_complete(actions)
    return Command(
        goto="compress_output" if complete else "researcher_invoke",
        update={"turns": [*state["turns"][:-1], done], "tool_call_iterations": used, "is_complete": complete},
    )


@_costs_only_itself
async def compress_output(state: ResearcherState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Write the section from what was noted, and check it; keep the earlier text when it was better."""
    section = state["section"]
    written = await research.write(runtime.context, section, state["brief"], state.get("turns", []))
    previous = state.get("previous_claims", [])
    if previous and not better(section, written.section, previous, list(written.claims)):
        kept = section.model_copy(update={"status": "completed"})
        return {"sections": [kept], "gaps": list(written.gaps), "raw_notes": _raw_notes(state)}
    return {
        "sections": [written.section],
        "claims": {section.title: list(written.claims)},
        "gaps": list(written.gaps),
        "raw_notes": _raw_notes(state),
    }


def task_for(section: Section, brief: Brief, settings: Settings, claims: Sequence[Claim] = ()) -> dict[str, Any]:
    """Return the state in which a researcher begins at `section`; `claims` are those of its earlier attempt."""
    return {
        "section": section,
        "brief": brief,
        "research_brief": brief.objective,
        "turns": [],
        "tool_call_iterations": 0,
        "max_tool_calls": settings.tool_calls_per_researcher,
        "is_complete": False,
        "previous_claims": list(claims),
    }


def build_researcher() -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the compiled researcher."""
    graph = StateGraph(ResearcherState, context_schema=RunContext, output_schema=ResearcherOutput)
    graph.add_node("researcher_invoke", researcher_invoke, destinations=("tools", "compress_output"))
    graph.add_node("tools", tools, destinations=("researcher_invoke", "compress_output"))
    graph.add_node("compress_output", compress_output)
    graph.add_edge(START, "researcher_invoke")
    graph.add_edge("compress_output", END)
    return graph.compile()
