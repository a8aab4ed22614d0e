"""After kill -9 a run goes on from its journal: what was answered is not asked again."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deep_research.events import SectionStarted
from deep_research.stores.event_log import read_events
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.model.harness import ENGINES, PLAN, QUESTION, served
from tests.runs.running import engines
from tests.runs.soundness import assert_sound
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of


def _start(arguments: list[str], home: Path) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "DEEP_RESEARCH_HOME": str(home)}  # noqa: TID251
    command = [sys.executable, "-m", "deep_research", *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


BESIDE = {"review": "compose", "compose": "review"}
"""What is asked at the same time, and may be in flight as well."""


@pytest.mark.parametrize(
    ("step", "waiting"), [("plan", 1), ("write_section", len(ENGINES)), ("review", 1), ("compose", 1)]
)
def test_only_the_calls_in_flight_are_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, waiting: int
) -> None:
    researcher = ScriptedResearcher(sections=PLAN, sentences=4)
    held, reached = threading.Event(), threading.Semaphore(0)

    def script(request: Request) -> Reply:
        reply = researcher(request)
        if step_of(request) == step and not held.is_set():
            reached.release()
            return Reply(data=reply.data, latency_seconds=600)
        return reply

    home, notes = tmp_path / "home", engines(tmp_path / "notes")
    with served(monkeypatch, script) as provider:
        first = _start([QUESTION, "-p", "compatible", "--model", "scripted", "--docs", str(notes), "--quiet"], home)
        for _ in range(waiting):
            assert reached.acquire(timeout=60)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        before = [call.digest for call in provider.calls]
        in_flight = [call.digest for call in provider.calls if step_of(call.request) == step]
        held.set()
        run_id = list_runs(home)[0].run_id
        second = _start(["resume", run_id, "--quiet"], home)
        _, said = second.communicate(timeout=100)
        assert second.returncode == 0, said.decode()
        after = [call.digest for call in provider.calls[len(before) :]]
    again = set(before) & set(after)
    beside = [call.digest for call in provider.calls if step_of(call.request) == BESIDE.get(step)]
    assert set(in_flight) <= again <= {*in_flight, *beside}
    assert len(after) == len(set(after))
    folder = RunFolder(home, run_id)
    assert_sound(folder.load_result(), folder)
    assert folder.load_result().ledger.model_calls == len(set(before) | set(after))


def test_b14_a_run_killed_in_a_second_attempt_goes_on_there_and_pays_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    researcher = ScriptedResearcher(sections=PLAN, sentences=4, retry=["Beta engine"])
    held, reached = threading.Event(), threading.Semaphore(0)

    def script(request: Request) -> Reply:
        reply = researcher(request)
        if step_of(request) == "research" and "more on Beta engine" in request["prompt"] and not held.is_set():
            reached.release()
            return Reply(text="too late", latency_seconds=600)
        return reply

    home, notes = tmp_path / "home", engines(tmp_path / "notes")
    with served(monkeypatch, script) as provider:
        asked = [QUESTION, "-p", "compatible", "--model", "scripted", "--docs", str(notes), "--depth", "deep", "-v"]
        first = _start(asked, home)
        assert first.stderr is not None
        reviews = (line for line in first.stderr if b"] review:" in line)
        for _ in ENGINES:
            next(reviews)  # nothing else is in flight once all three have been reviewed
        assert reached.acquire(timeout=60)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        before = [call.digest for call in provider.calls]
        waiting = [call.digest for call in provider.calls if not call.ended]
        held.set()
        run_id = list_runs(home)[0].run_id
        second = _start(["resume", run_id, "--quiet"], home)
        _, said = second.communicate(timeout=100)
        assert second.returncode == 0, said.decode()
        after = provider.calls[len(before) :]
    assert {call.digest for call in after} & set(before) <= set(waiting)
    assert any("more on Beta engine" in call.request["prompt"] for call in after)
    # What the first attempts were planned with and written from is not asked again.
    assert not {"decide", "analyze", "plan"} & {step_of(call.request) for call in after}
    folder = RunFolder(home, run_id)
    report = folder.load_result()
    assert_sound(report, folder)
    assert report.ledger.model_calls == len({*before, *(call.digest for call in after)})
    started = {(e.section, e.attempt) for e in read_events(folder.events) if isinstance(e, SectionStarted)}
    assert started == {*((name, 1) for name in ENGINES), ("Beta engine", 2)}
