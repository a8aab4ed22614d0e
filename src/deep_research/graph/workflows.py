"""The workflows by name, loaded and compiled when asked for."""

from importlib import import_module
from typing import Any

from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from deep_research.errors import ConfigError
from deep_research.run_context.context import RunContext

_BUILDERS = {
    "sections": "sections:build_sections",
    "loop": "loop:build_loop",
    "supervisor": "supervisor:build_supervisor",
    "quick": "quick:build_quick",
    "follow_up": "follow_up_graph:build_follow_up",
}
"""Module and function of this folder that build each graph; `follow_up` answers a question about a finished run."""


def compile_workflow(
    name: str = "sections", checkpointer: Checkpointer = None
) -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the graph of a workflow, ready to run. Raises ConfigError for an unknown name."""
    if name not in _BUILDERS:
        message = f"Unknown workflow {name!r}. Choose one of: sections, loop, supervisor, quick."
        raise ConfigError(message, setting="workflow", value=name)
    module, function = _BUILDERS[name].split(":")
    build = getattr(import_module(f"deep_research.graph.{module}"), function)
    return build().compile(checkpointer=checkpointer, name="deep_research")
