"""docs/langgraph.md: its examples run, in order, as in a notebook; langgraph.json names a graph that is there."""

import ast
import importlib.util
import json
import re
from inspect import CO_COROUTINE
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "langgraph.md").read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
async def test_examples_run(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    code = compile(EXAMPLES[number], f"example {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    made: Any = FunctionType(code, {"__name__": "example"})()
    if code.co_flags & CO_COROUTINE:
        await made
    assert capsys.readouterr().out.strip()


def test_langgraph_json_names_the_graph() -> None:
    (place,) = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"].values()
    path, _, name = place.partition(":")
    spec = importlib.util.spec_from_file_location("app", ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert set(getattr(module, name).get_input_jsonschema()["properties"]) == {"messages"}
