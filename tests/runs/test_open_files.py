"""A run leaves no file open, and what is deleted is gone from the disk while the program goes on."""

import os
import sys
from pathlib import Path

import pytest

from deep_research.runs.deletion import delete_runs
from tests.runs.running import engines, run

QUESTION = "Which kinds of engines are there?"


def _open_files() -> list[str]:
    """Return what the files that this process has open are called, below a state folder or not."""
    found: list[str] = []
    for number in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:  # that of the listing itself
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_runs_with_documents_leave_no_file_open(own_state: Path, tmp_path: Path) -> None:
    docs = engines(tmp_path / "docs")
    made = [run(QUESTION, home=own_state, docs=[docs], workflow="quick").folder.run_id]
    before = len(_open_files())
    made += [run(QUESTION, home=own_state, docs=[docs], workflow="quick").folder.run_id for _ in range(2)]
    assert len(_open_files()) <= before
    assert [name for name in _open_files() if str(own_state) in name] == []
    delete_runs(own_state, made)
    assert [name for name in _open_files() if name.endswith("(deleted)") and str(own_state) in name] == []
