"""Where in its work a run is at this moment: the node of the graph, its step, and the section it is about.

What a run sees beside its paid calls depends on the moment; its notes are kept under the position, which is the same
when a node is done again after a crash, and in a replay.
"""

from collections.abc import Callable
from contextvars import ContextVar

section_position: ContextVar[str] = ContextVar("section_position", default="")
"""The section, attempt and turn that a researcher works at."""
node_position: ContextVar[Callable[[], str]] = ContextVar("node_position", default=lambda: "")
"""Returns the node and the step of the graph."""


def current_position() -> str:
    """Return the position as a short text; "" before the graph runs."""
    return f"{node_position.get()()} {section_position.get()}".strip()
