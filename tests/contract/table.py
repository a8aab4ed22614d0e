"""Run every row of the contract for each reasoner; `python -m tests.contract` writes docs/contract.md from it."""

import tomllib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.contract import front_rows, other_rows, sections_rows
from tests.contract.scenes import REASONERS, Scenes

PAGE = Path(__file__).parents[2] / "docs" / "contract.md"
_NAMES = {"E1 (with E2)": "e1", "E1 (MCP)": "e1_mcp"}


class Row(NamedTuple):
    """A row: its id, what must be seen, and its check."""

    id: str
    says: str
    check: Callable[[Scenes], None]


def rows() -> list[Row]:
    """Return all rows in order."""
    told = tomllib.loads(Path(__file__).with_name("rows.toml").read_text("utf-8"))["row"]
    found: list[Row] = []
    for row in told:
        name = _NAMES.get(row["id"], row["id"].lower())
        module = next(m for m in (front_rows, sections_rows, other_rows) if hasattr(m, name))
        found.append(Row(row["id"], row["says"], getattr(module, name)))
    return found


def failures(reasoner: str, folder: Path, only: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield each row with why it is not green for a reasoner; "" where it is."""
    with pytest.MonkeyPatch.context() as patch:
        scenes = Scenes(reasoner, folder, patch)
        for row in rows():
            if only and row.id not in only:
                continue
            try:
                row.check(scenes)
            except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - whatever goes wrong, the row is not green
                at = traceback.extract_tb(error.__traceback__)
                line = next((frame.line for frame in reversed(at) if "contract" in frame.filename), "")
                yield row.id, f"{type(error).__name__}: {error} ({line})".strip()
            else:
                yield row.id, ""


def page_of(results: Mapping[str, Mapping[str, str]]) -> str:
    """Return docs/contract.md for the results by reasoner and row."""
    head, promises = _HEAD, PAGE.read_text("utf-8").partition("Beyond the rows,")[2]
    marks = " | ".join(name for name in results)
    lines = [head, f"| row | what must be seen | {marks} |", f"|---|---|{'---|' * len(results)}"]
    for row in rows():
        cells = " | ".join("green" if not result.get(row.id, "not run") else "**not**" for result in results.values())
        lines.append(f"| {row.id} | {row.says} | {cells} |")
    return "\n".join(lines) + f"\n\nBeyond the rows,{promises}"


_HEAD = """# The contract, row by row

Written by `make contract` (`python -m tests.contract`), which runs every row; do not edit by hand. The texts of the rows
stand in `tests/contract/rows.toml`, the checks beside it.

What the design documents of the project ask for. Each row is run without a model (finder) and with a scripted model
behind a real HTTP server that speaks the protocol of OpenAI, Anthropic, DashScope (OpenAI's, JSON asked for in words) and
Ollama; *green* means that the program did then what the row says. What a scripted model says is given; what the program
makes of it is what is shown. Further tests of a row carry its name (`test_b7_…`).
"""


def run_all(folder: Path, reasoners: Sequence[str] = REASONERS, only: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Run the rows for the reasoners; return why each is not green."""
    return {name: dict(failures(name, folder / name, only)) for name in reasoners}
