"""A verification that is killed goes on from there: no page is fetched and no answer is paid for a second time."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deep_research.stores.run_folder import list_runs
from tests.model.harness import served
from tests.support.scripted_researcher import ScriptedResearcher, step_of
from tests.verify.reports import engines_web, markdown


@pytest.mark.process
def test_a_verification_that_is_killed_twice_asks_for_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    process: list[subprocess.Popen[bytes]] = []
    plain = ScriptedResearcher()
    killed: list[str] = []

    def script(request: Any) -> Any:
        if (step := step_of(request)) in ("judge", "revise") and step not in killed:
            killed.append(step)
            os.kill(process[-1].pid, signal.SIGKILL)
            process[-1].wait()
        return plain(request)

    with engines_web() as (web, base), served(monkeypatch, script) as provider:
        (tmp_path / "r.md").write_text(markdown(base), "utf-8")
        flags = ["-p", "compatible", "--model", "scripted", "--set", f"allowed_internal_hosts=127.0.0.1:{web.port}"]
        program = [sys.executable, "-m", "deep_research"]
        command = [*program, "verify", "r.md", "--fix", "-o", "fixed.md", "--quiet", *flags]
        answered: list[tuple[int, set[str]]] = []
        for step in ("judge", "revise"):
            process.append(
                subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )
            process[-1].wait(timeout=60)
            assert killed[-1:] == [step]
            calls = list(provider.calls)
            kept = {call.digest for call in calls if call.answered} - under_way(provider, step)
            answered.append((len(calls), kept))
            command = [*program, "resume", list_runs(own_state)[0].run_id, "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1, done.stderr  # as `verify` would have ended: something is not confirmed
        assert (tmp_path / "fixed.md").read_text("utf-8").startswith("# Engines compared")
        assert "\n+++ fixed\n" in done.stderr
        assert [web.count("engines.test", path) for path in ("/alpha", "/beta")] == [1, 1]
        assert answered[-1][1]
        for number, kept in answered:
            assert not kept & {call.digest for call in provider.calls[number:]}
    (record,) = list_runs(own_state)
    assert record.status == "finished"


def under_way(provider: Any, step: str) -> set[str]:
    """The calls that may have been answered when the process was killed, and were not kept: those of steps side by side."""
    beside = {step} if step == "revise" else {"judge", "examine"}
    return {call.digest for call in provider.calls if step_of(call.request) in beside}
