"""The workflows by name, loaded and compiled when asked for."""

from collections.abc import Callable
from functools import cache
from typing import Any

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from deep_research.errors import ConfigError
from deep_research.run_context.context import RunContext


def compile_workflow(
    name: str = "sections", checkpointer: Checkpointer = None
) -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the compiled graph of a workflow; raise ConfigError for an unknown name."""
    return _compiled(name).copy({"checkpointer": checkpointer})


@cache
def _compiled(name: str) -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Build and compile a workflow, which holds nothing of a run, once in a process."""
    return load_builder(name)().compile(name="deep_research")


def load_builder(name: str) -> Callable[[], StateGraph[Any, RunContext, Any, Any]]:
    """Return a workflow's graph builder; `follow_up` answers about a finished run.

    Raises ConfigError for an unknown name.
    """
    match name:
        case "sections":
            from deep_research.graph.sections import build_sections as build  # noqa: PLC0415 - one of them is needed
        case "loop":
            from deep_research.graph.loop import build_loop as build  # noqa: PLC0415
        case "supervisor":
            from deep_research.graph.supervisor import build_supervisor as build  # noqa: PLC0415
        case "quick":
            from deep_research.graph.quick import build_quick as build  # noqa: PLC0415
        case "verify":
            from deep_research.graph.verify_report import build_verify as build  # noqa: PLC0415
        case "follow_up":
            from deep_research.graph.follow_up_graph import build_follow_up as build  # noqa: PLC0415
        case _:
            message = f"Unknown workflow {name!r}. Choose one of: sections, loop, supervisor, quick."
            raise ConfigError(message, setting="workflow", value=name)
    return build
