"""The code blocks and command lines of the design documents, as they stand there.

`src.main`, `src.deep_research` and the files for debugging are called by the names that they have here; nothing else is
changed before they are run.
"""

import ast
import shlex
from collections.abc import Iterator, Mapping
from inspect import CO_COROUTINE
from pathlib import Path
from types import FunctionType
from typing import Any

_FOLDER = Path(__file__).parent / "blocks"
_NAMES = {
    "python -m src.main": "python -m deep_research",
    "src.deep_research.deep_research_agent": "deep_research",
    "src.deep_research": "deep_research",
    "python src/deep_research/tests/debug_clarify_node.py": "python -m deep_research step clarify 'RAG'",
    "python src/deep_research/tests/debug_full_graph.py": "python -m deep_research step plan_sections 'RAG'",
}


def block(name: str) -> str:
    """Return a block with the names of modules exchanged."""
    text = (_FOLDER / f"{name}.txt").read_text("utf-8")
    for theirs, ours in _NAMES.items():
        text = text.replace(theirs, ours)
    return text


def command_lines(name: str) -> Iterator[list[str]]:
    """Yield the arguments of each command line of a block."""
    for line in block(name).splitlines():
        if line.strip() and not line.startswith("#"):
            python, flag, module, *arguments = shlex.split(line)
            assert (python, flag, module) == ("python", "-m", "deep_research")
            yield arguments


async def run_program(name: str, **given: Any) -> Mapping[str, Any]:
    """Run a block as a notebook does, with `await` at the top, and return its names; `given` are there before."""
    code = compile(block(name), name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names: dict[str, Any] = {"__name__": "block", **given}
    made = FunctionType(code, names)()
    if code.co_flags & CO_COROUTINE:
        await made
    return names
