"""Invariant 4 from outside: whatever ends a run, it goes on from there, and nothing is paid for twice."""

import signal
import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from deep_research.data import Report
from deep_research.events import Planned, Searched
from deep_research.stores.event_log import read_events
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.cli.terminal import Said, shows_no_traceback, stop_at, told
from tests.runs.running import begin, run
from tests.runs.soundness import assert_sound

QUESTION = "Which kinds of engines are there?"
MARKS = ("Reading documents", "researching", "stage: review")


def _paid(folder: RunFolder, kind: str = "%") -> dict[str, float]:
    """The calls of the journal, of one kind or all, with the moment each was made."""
    if not folder.journal.exists():
        return {}
    with sqlite3.connect(folder.journal) as database:
        rows = dict(database.execute("SELECT key, at FROM calls WHERE kind LIKE ?", [kind]).fetchall())
    database.close()
    return rows


def _assert_finished(said: Said, folder: RunFolder, before: dict[str, float]) -> Report:
    assert said.code == 0, said.err
    report = Report.model_validate_json(said.out)
    assert_sound(report, folder)
    assert report.answered
    assert {section.status for section in report.sections} == {"completed"}
    after = _paid(folder)
    assert before.items() <= after.items()
    made = Counter(e.query for e in read_events(folder.events) if isinstance(e, Searched) and not e.reused)
    assert set(made.values()) == {1}
    assert report.ledger.searches == len(_paid(folder, "search"))
    assert folder.load().status == "finished"
    return report


def test_a_run_killed_at_every_stage_goes_on_and_pays_nothing_twice(docs: str, own_state: Path) -> None:
    begun, planned = [QUESTION, "--docs", docs, "-v"], []
    for mark in MARKS:
        killed = stop_at(mark, signal.SIGKILL, *begun)
        assert killed.code == -signal.SIGKILL
        (head,) = list_runs(own_state)
        folder = RunFolder(own_state, head.run_id)
        assert folder.load().status == "running"
        assert not folder.result.exists()
        begun = ["resume", head.run_id, "-v"]
        planned.append(sum(isinstance(event, Planned) for event in read_events(folder.events)))
    before = _paid(folder)
    said = told("resume", folder.run_id, "--json")
    report = _assert_finished(said, folder, before)
    planned.append(sum(isinstance(event, Planned) for event in read_events(folder.events)))
    assert planned[1] == planned[-1], "a stage that was done is not done again"
    uninterrupted = run(QUESTION, home=own_state, docs=[Path(docs)]).report
    assert [section.title for section in report.sections] == [section.title for section in uninterrupted.sections]
    paid = _paid(folder)
    again = told("resume", folder.run_id, "--json")
    assert (again.code, again.out) == (0, said.out)
    assert _paid(folder) == paid


@pytest.mark.parametrize(("mark", "sign"), [("Reading documents", signal.SIGTERM), ("researching", signal.SIGINT)])
def test_ctrl_c_keeps_the_state_and_says_how_to_go_on(
    mark: str, sign: signal.Signals, docs: str, own_state: Path
) -> None:
    stopped = stop_at(mark, sign, QUESTION, "--docs", docs, "-v")
    assert stopped.code == 130
    assert shows_no_traceback(stopped)
    folder = RunFolder(own_state, stopped.run)
    assert f"deep-research resume {stopped.run}" in stopped.err.splitlines()[-1]
    assert folder.load().status == "stopped"
    before = _paid(folder)
    _assert_finished(told("resume", stopped.run, "--json"), folder, before)


def test_a_run_that_waits_says_so_and_goes_on_with_the_answer_to_the_same_file(
    docs: str, own_state: Path, tmp_path: Path
) -> None:
    waiting = told("tell me about it", "--docs", docs, "--out", str(tmp_path / "report.md"))
    assert waiting.code == 4
    assert f'deep-research resume {waiting.run} --answer "' in waiting.err
    folder = RunFolder(own_state, waiting.run)
    assert folder.load().status == "waiting"
    assert folder.load().waiting_for in waiting.err
    said = told("resume", waiting.run, "--answer", "the Alpha engine", "--json")
    report = _assert_finished(said, folder, {})
    assert "Alpha" in report.title
    assert (tmp_path / "report.md").read_text("utf-8") == report.report
    assert str(tmp_path / "report.md") in told("resume", waiting.run, "--short").err


def test_documents_that_vanish_before_resuming_are_explained(docs: str, own_state: Path, tmp_path: Path) -> None:
    begun = begin(QUESTION, home=own_state, docs=[Path(docs)]).folder.run_id
    Path(docs).rename(tmp_path / "elsewhere")
    said = told("resume", begun)
    assert said.code == 2
    assert docs in said.err
    assert shows_no_traceback(said)
    (tmp_path / "elsewhere").rename(docs)
    assert told("resume", begun, "--quiet").code == 0
