"""The workflows by name, compiled when asked for."""

from collections.abc import Callable
from typing import Any

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from deep_research.errors import ConfigError
from deep_research.graph.loop import build_loop
from deep_research.graph.quick import build_quick
from deep_research.graph.sections import build_sections
from deep_research.graph.supervisor import build_supervisor
from deep_research.run_context.context import RunContext

WORKFLOWS: dict[str, Callable[[], StateGraph[Any, RunContext, Any, Any]]] = {
    "sections": build_sections,
    "loop": build_loop,
    "supervisor": build_supervisor,
    "quick": build_quick,
}


def compile_workflow(
    name: str = "sections", checkpointer: Checkpointer = None
) -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the graph of a workflow, ready to run. Raises ConfigError for one that is not there."""
    if name not in WORKFLOWS:
        message = f"The workflow {name!r} is not available yet; there are: {', '.join(WORKFLOWS)}."
        raise ConfigError(message, setting="workflow", value=name)
    return WORKFLOWS[name]().compile(checkpointer=checkpointer, name="deep_research")
