"""Whole programs of users in processes of their own: a bot with a checkpointer of its own, and a notebook."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.runs.running import engines

pytestmark = pytest.mark.process
BOT = Path(__file__).with_name("research_bot.py")
NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


def run_bot(*arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(BOT), *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "unregistered" not in done.stderr
    return done.stdout.splitlines()


def test_a_bot_is_interrupted_and_resumed_in_another_process(tmp_path: Path, own_state: Path) -> None:
    database, docs = str(tmp_path / "threads.db"), str(engines(tmp_path / "docs"))
    asked = run_bot("ask", database, docs, "tell me about it")
    assert "update __interrupt__" in asked
    assert any(line.startswith("question ") for line in asked)
    assert asked[-1] == "report "
    told = run_bot("answer", database, "the Alpha engine")
    assert next(line for line in told if line.startswith("update ")) == "update clarify"
    assert "event section_written" in told
    assert "event report_ready" in told
    assert told[-1].startswith("report # ")
    assert "Alpha" in told[-1]
    assert (own_state / "runs" / "customer-7" / "report.md").exists()


@pytest.mark.timeout(180)
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is a process of its own with an event loop that runs, as in Jupyter."""
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [str(output.data["text/markdown"]) for output in outputs if "text/markdown" in output.get("data", {})]
    assert len(shown) >= 2
    assert all(text.startswith("# ") for text in shown[:2])
    assert os.environ  # noqa: TID251 - the kernel inherits what the test has set
