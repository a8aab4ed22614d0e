"""After kill -9 a run goes on from its journal: what was answered is not asked again, and nothing is searched twice."""

import signal
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import pytest

from deep_research.cli.main import run as command
from deep_research.events import SectionStarted
from deep_research.stores.event_log import read_events
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.model.harness import ENGINES, PLAN, QUESTION, Scene
from tests.runs.running import engines, start
from tests.runs.soundness import assert_sound
from tests.support.scripted_provider import RecordedCall
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import SLIP, ScriptedResearcher, step_of


class Holding:
    """The scripted researcher; the `number`-th answer of one step is held back until the process is killed."""

    def __init__(self, step: str, number: int = 1) -> None:
        self.play = ScriptedResearcher(
            sections=PLAN, sentences=4, at_once=(1, 1), opens=1, retry=["Beta engine"], look_ups=["turbine"]
        )
        self.reached, self._left, self._step, self._lock = threading.Event(), number, step, threading.Lock()

    def __call__(self, request: Request) -> Reply:
        reply = self.play(request)
        with self._lock:
            self._left -= step_of(request) == self._step
            if self._left or self.reached.is_set() or step_of(request) != self._step:
                return reply
            self.reached.set()
        return replace(reply, latency_seconds=600)


def _kept(folder: RunFolder, kind: str) -> list[str]:
    with closing(sqlite3.connect(folder.journal)) as database:
        return [row[0] for row in database.execute("SELECT key FROM calls WHERE kind = ?", (kind,))]


@pytest.mark.parametrize(
    ("step", "number", "workflow"),
    [
        ("plan", 1, "sections"),
        ("research", 9, "sections"),
        ("write", 2, "sections"),
        ("revise", 1, "sections"),
        ("supervise", 2, "supervisor"),
    ],
)
def test_only_the_calls_in_flight_are_asked_again(scene: Scene, step: str, number: int, workflow: str) -> None:
    script = Holding(step, number)
    home, notes = scene.folder / "home", engines(scene.folder / "notes")
    asked = [QUESTION, "-p", "compatible", "--model", "scripted", "--docs", str(notes), "--workflow", workflow]
    with scene.served(script) as provider:
        first = start([*asked, "--quiet"])
        try:
            assert script.reached.wait(60)
        finally:
            first.send_signal(signal.SIGKILL)
            first.communicate()
        before = list(provider.calls)
        (run,) = list_runs(home)
        folder = RunFolder(home, run.run_id)
        kept = len(_kept(folder, "model"))
        assert command(["resume", run.run_id, "--quiet"]) == 0
        after = provider.calls[len(before) :]
    again = {call.digest for call in before} & {call.digest for call in after}
    assert len(again) == len(before) - kept, _steps(after, again)
    assert kept >= number - 1
    assert len(after) == len({call.digest for call in after})
    report = folder.load_result()
    assert_sound(report, folder)
    assert SLIP not in report.report
    assert report.ledger.model_calls == len({call.digest for call in provider.calls})
    assert len(_kept(folder, "search")) == report.ledger.searches
    started = [(e.section, e.attempt) for e in read_events(folder.events) if isinstance(e, SectionStarted)]
    assert {name for name, _ in started} == set(ENGINES)
    if workflow == "sections" and "review_section" not in _steps(
        after, again
    ):  # the script finds a section weak once, heard or not
        assert ("Beta engine", 2) in started


def _steps(calls: list[RecordedCall], digests: set[str]) -> list[str]:
    return [step_of(call.request) for call in calls if call.digest in digests]
