"""Saying something to a run from another terminal, also when the run is killed afterwards."""

import signal
from pathlib import Path

import pytest

from deep_research.data import Report
from deep_research.errors import ConfigError
from deep_research.events import Steered
from deep_research.runs.steering_inbox import MAX_SECTIONS, sections_of, steer
from deep_research.stores.event_log import read_events
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.cli.terminal import shows_no_traceback, signalled_at
from tests.runs.running import Ran, begin, command
from tests.runs.soundness import assert_sound

QUESTION = "How fast does the Alpha engine turn? Who built the Beta engine in Bergen? What is the Gamma engine in Porto used for?"


def _stopped_run(home: Path) -> RunFolder:
    (record,) = list_runs(home)
    return RunFolder(home, record.run_id)


def _steered(folder: RunFolder) -> list[tuple[str, str]]:
    return [(e.what, e.section or e.text) for e in read_events(folder.events) if isinstance(e, Steered)]


def test_another_terminal_drops_and_adds_while_the_run_goes_on(docs: str, own_state: Path) -> None:
    with signalled_at("researching", signal.SIGSTOP, QUESTION, "--docs", docs, "-v") as (process, lines, more):
        folder = _stopped_run(own_state)
        listed = command("steer", folder.run_id).out.splitlines()
        dropped = listed[1].split(". ", 1)[1]
        said = command("steer", folder.run_id, "--drop", "2", "--add", "Oil: which engine runs without oil")
        assert said.code == 0, said.err
        assert "resume" not in said.out, "the run is there, it only stands still"
        process.send_signal(signal.SIGCONT)
        lines.extend(more)
        assert process.wait(timeout=90) == 0
    report = folder.load_result()
    titles = [section.title for section in report.sections]
    assert dropped not in titles
    assert "Oil" in titles
    assert f"**Sections dropped during the research:** {dropped}" in report.report
    assert _steered(folder) == [("drop", dropped), ("add", "Oil")]
    assert any("you: add [Oil]" in line for line in lines)
    assert_sound(report, folder)


def test_what_was_said_holds_after_a_kill_and_is_told_once(docs: str, own_state: Path) -> None:
    with signalled_at("researching", signal.SIGSTOP, QUESTION, "--docs", docs, "-v"):
        folder = _stopped_run(own_state)
        steer(folder, "remark", "Only what was built in Porto.")
        steer(folder, "drop", "2")
    again = command("steer", folder.run_id, "--add", "Oil: which engine runs without oil")
    assert f"deep-research resume {folder.run_id}" in again.out, "nobody carries it out"
    with signalled_at("you: add", signal.SIGKILL, "resume", folder.run_id, "-v") as (process, _, _):
        process.wait(timeout=90)
    said = command("resume", folder.run_id, "--json")
    assert said.code == 0, said.err
    report = Report.model_validate_json(said.out)
    assert [what for what, _ in _steered(folder)] == ["remark", "drop", "add"]
    assert "Only what was built in Porto." in report.report
    assert "Oil" in [section.title for section in report.sections]
    assert folder.read_steers()[1].section not in [section.title for section in report.sections]
    assert_sound(report, folder)


def test_another_terminal_stops_a_run_that_can_be_resumed_and_takes_no_wrong_words(docs: str, own_state: Path) -> None:
    with signalled_at("researching", signal.SIGSTOP, QUESTION, "--docs", docs, "-v") as (process, lines, more):
        folder = _stopped_run(own_state)
        _assert_wrong_words_are_explained(folder)
        said = command("steer", folder.run_id, "--stop")
        assert f"It stops; go on with: deep-research resume {folder.run_id}" in said.out
        process.send_signal(signal.SIGCONT)
        lines.extend(more)
        assert process.wait(timeout=90) == 130
    assert (folder.load().status, folder.has_report()) == ("stopped", False)
    assert "It is not going on" in command("steer", folder.run_id, "--stop").out
    said = command("resume", folder.run_id, "--json")
    assert said.code == 0, "it obeyed once: " + said.err
    assert_sound(Report.model_validate_json(said.out), folder)
    late = command("steer", folder.run_id, "--finish")
    assert late.code == 2
    assert "finished" in late.err


def _assert_wrong_words_are_explained(folder: RunFolder) -> None:
    titles = sections_of(folder)
    for wrong in (["--drop", "no such thing"], ["--drop", "99"], ["--add", titles[0]], ["--remark", " "]):
        said = command("steer", folder.run_id, *wrong)
        assert said.code == 2, wrong
        assert shows_no_traceback(said)
        assert wrong != ["--drop", "no such thing"] or all(title in said.err for title in titles)
    assert folder.read_steers() == []


@pytest.fixture
def unplanned(tmp_path: Path, docs: str) -> Ran:
    return begin(QUESTION, home=tmp_path / "home", docs=[Path(docs)])


def test_sections_may_be_added_before_the_plan_up_to_a_bound(unplanned: Ran) -> None:
    for number in range(MAX_SECTIONS):
        steer(unplanned.folder, "add", f"Part {number}: what it is")
    with pytest.raises(ConfigError, match=f"the limit is {MAX_SECTIONS}"):
        steer(unplanned.folder, "add", "One more")
    assert len(sections_of(unplanned.folder)) == MAX_SECTIONS


def test_a_line_that_a_crash_cut_short_costs_only_itself(unplanned: Ran) -> None:
    steer(unplanned.folder, "remark", "First.")
    with unplanned.folder.steering.open("ab") as file:
        file.write(b'\n{"kind":"remark","te')
    assert [s.text for s in unplanned.folder.read_steers()] == ["First."]
    steer(unplanned.folder, "remark", "Second.")
    assert [s.text for s in unplanned.folder.read_steers()] == ["First.", "Second."]
