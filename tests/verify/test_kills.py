"""A verification that is killed goes on from there: no page is fetched and no answer is paid for a second time."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from deep_research.stores.run_folder import list_runs
from tests.model.harness import served
from tests.support.scripted_researcher import ScriptedResearcher, step_of
from tests.verify.reports import engines_web, markdown


@pytest.mark.process
@pytest.mark.parametrize(
    ("step", "out"), [("judge", ["--to", "html", "-o", "marked.html"]), ("revise", ["--fix", "-o", "fixed.md"])]
)
def test_a_verification_that_is_killed_asks_for_nothing_again(
    step: str, out: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    process: list[subprocess.Popen[bytes]] = []
    plain = ScriptedResearcher()
    killed: list[str] = []

    def script(request: Any) -> Any:
        if step_of(request) == step and not killed:
            killed.append(step)
            os.kill(process[0].pid, signal.SIGKILL)
            process[0].wait()
        return plain(request)

    with engines_web() as (web, base), served(monkeypatch, script) as provider:
        (tmp_path / "r.md").write_text(markdown(base), "utf-8")
        flags = ["-p", "compatible", "--model", "scripted", "--set", f"allowed_internal_hosts=127.0.0.1:{web.port}"]
        command = [sys.executable, "-m", "deep_research", "verify", "r.md", *out, "--quiet", *flags]
        process.append(subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        process[0].wait(timeout=60)
        assert killed
        run = list_runs(own_state)[0].run_id
        fetched = [web.count("engines.test", path) for path in ("/alpha", "/beta")]
        answered = {call.digest for call in provider.calls if call.answered} - under_way(provider, step)
        resumed = [sys.executable, "-m", "deep_research", "resume", run, "--quiet"]
        done = subprocess.run(resumed, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1, done.stderr  # as `verify` would have ended: something is not confirmed
        written = (tmp_path / out[-1]).read_text("utf-8")
        assert written.startswith("# Engines compared" if step == "revise" else "<!doctype html>")
        assert ("\n+++ fixed\n" in done.stderr) is (step == "revise")
        assert [web.count("engines.test", path) for path in ("/alpha", "/beta")] == fetched == [1, 1]
        again = Counter(call.digest for call in provider.calls)
        assert not {digest: again[digest] for digest in answered if again[digest] > 1}
        assert step != "revise" or answered
    (record,) = list_runs(own_state)
    assert record.status == "finished"


def under_way(provider: Any, step: str) -> set[str]:
    """The calls that may have been answered when the process was killed, and were not kept: those of steps side by side."""
    beside = {step} if step == "revise" else {"judge", "examine"}
    return {call.digest for call in provider.calls if step_of(call.request) in beside}
