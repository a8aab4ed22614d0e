"""The workflows by name, loaded and compiled when asked for."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from deep_research.errors import ConfigError
from deep_research.run_context.context import RunContext

_MODULES = {name: name for name in ("sections", "loop", "supervisor", "quick")}
_MODULES |= {"verify": "verify_report", "follow_up": "follow_up_graph"}
"""Where the graph of each workflow is built, by a function `build_NAME`: a run needs one of them."""


def compile_workflow(
    name: str = "sections", checkpointer: Checkpointer = None
) -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the graph of a workflow, ready to run. Raises ConfigError for an unknown name."""
    return _compiled(name).copy({"checkpointer": checkpointer})


@cache
def _compiled(name: str) -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Build and compile a workflow, which holds nothing of a run, once in a process."""
    return load_builder(name)().compile(name="deep_research")


def load_builder(name: str) -> Callable[[], StateGraph[Any, RunContext, Any, Any]]:
    """Return what builds the graph of a workflow; `follow_up` answers a question about a finished run.

    Raises ConfigError for an unknown name.
    """
    if name not in _MODULES:
        message = f"Unknown workflow {name!r}. Choose one of: sections, loop, supervisor, quick."
        raise ConfigError(message, setting="workflow", value=name)
    return getattr(import_module(f"deep_research.graph.{_MODULES[name]}"), f"build_{name}")
