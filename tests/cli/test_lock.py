"""One process at a time carries a run out."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deep_research.data import Report
from deep_research.errors import RunBusy, StoreError
from deep_research.stores.run_folder import RunFolder, held, list_runs
from tests.cli.terminal import shows_no_traceback, signalled_at, told
from tests.runs.soundness import assert_sound

QUESTION = "Which kinds of engines are there?"


def test_a_run_that_another_process_carries_out_is_refused_until_that_ends(docs: str, own_state: Path) -> None:
    with signalled_at("searched documents", signal.SIGSTOP, QUESTION, "--docs", docs, "-v") as (holder, _, _):
        (head,) = list_runs(own_state)
        folder = RunFolder(own_state, head.run_id)
        record = folder.load()
        events = folder.events.read_bytes()
        refused = told("resume", record.run_id)
        assert refused.code == 1
        assert f"process {holder.pid}" in refused.err
        assert f"deep-research resume {record.run_id}" in refused.err
        assert shows_no_traceback(refused)
        assert folder.events.read_bytes() == events
        assert folder.load() == record, "whoever was refused leaves no trace"
        assert record.run_id in told("list").out
    assert holder.returncode == -signal.SIGKILL
    said = told("resume", record.run_id, "--json")
    assert said.code == 0, said.err
    assert_sound(Report.model_validate_json(said.out), folder)


def test_who_looks_at_a_run_keeps_nobody_from_it(tmp_path: Path) -> None:
    lock, tried, refused = tmp_path / "lock", 1_000, 0
    look = "while is_held(path): pass\nprint(flush=True)\nwhile True: is_held(path); time.sleep(0.0001)"
    code = f"import pathlib, sys, time; from deep_research.stores.run_folder import is_held; path = pathlib.Path(sys.argv[1])\n{look}"
    with subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE) as looking:
        assert looking.stdout
        looking.stdout.readline()
        try:
            for _ in range(tried):
                try:
                    with held(lock, run_id="one"):
                        pass
                except RunBusy:
                    refused += 1
        finally:
            looking.kill()
    assert refused < tried / 50  # it was one in ten, and is next to none


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    own, lock = tmp_path / "own.txt", tmp_path / "lock"
    own.write_text("mine")
    lock.symlink_to(own)
    with pytest.raises(StoreError), held(lock, run_id="one"):
        pass
    assert own.read_text() == "mine"
