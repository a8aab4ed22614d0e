"""Row B10: the plan edited at the terminal, and questions about a report without a terminal."""

import json
import signal
import sys
from pathlib import Path

import pytest

from deep_research.events import Planned
from deep_research.stores.event_log import read_events
from deep_research.stores.run_folder import FolderRuns, list_runs
from tests.cli.terminal import shows_no_traceback
from tests.conversation.screen import PROMPT, at_terminal
from tests.model.harness import held_at, served, steps
from tests.runs.running import command, engines, run, write_notes
from tests.runs.test_followup import QUAY

QUESTION = "Which kinds of engines are there?"
PARTS = "How heavy is the Beta engine? Who built the Alpha engine?"


@pytest.fixture
def docs(tmp_path: Path) -> str:
    return str(write_notes(engines(tmp_path / "docs"), harbour=QUAY))


def _editor(folder: Path, body: str) -> str:
    """A program that changes the file it is given."""
    path = folder / "editor.py"
    path.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[-1])\ntext = path.read_text()\n{body}\n")
    return f"{sys.executable} {path}"


def _planned(home: Path) -> tuple[str, ...]:
    """The sections that were really planned, in the last run."""
    events = read_events(FolderRuns(home).open(list_runs(home)[0].run_id).events)
    return [event.sections for event in events if isinstance(event, Planned)][-1]


def test_b10_a_plan_is_edited_in_the_editor(docs: str, tmp_path: Path, own_state: Path) -> None:
    """The editor does nothing the first time, fails the second, and then changes a title."""
    times = f"times = pathlib.Path({str(tmp_path / 'times')!r})\ntimes.open('a').write('x')"
    change = "path.write_text(text.replace('## How heavy is the Beta engine', '## Beta engine in trucks'))"
    editor = _editor(
        tmp_path, f"{times}\nif times.stat().st_size == 2: sys.exit(7)\nif times.stat().st_size == 3: {change}"
    )
    with at_terminal("--docs", docs, "--confirm-plan", EDITOR=editor, VISUAL="") as screen:
        screen.say(PARTS)
        assert "Beta engine" in screen.until("Shall the research start with this plan?")
        for told in ("was not changed", "nothing was changed", "Beta engine in trucks"):
            screen.until("answer> ")
            screen.type("/edit\n")
            screen.until(told)
        screen.until("answer> ")
        screen.type("yes\n")
        screen.until("Ask about this report")
        screen.until(PROMPT)
        screen.type("\x04")
        assert screen.ends() == 0
    assert "Beta engine in trucks" in _planned(own_state)


def test_b10_an_editor_that_is_missing_leaves_the_plan_and_ctrl_c_keeps_the_state(docs: str) -> None:
    with at_terminal(QUESTION, "--docs", docs, "--confirm-plan", EDITOR="", VISUAL="") as screen:
        screen.until("answer> ")
        screen.type("/edit\n")
        screen.until("No editor is named")
        screen.until("answer> ")
        screen.type("\x03")
        screen.until("State kept. Go on with: deep-research resume ")
        assert screen.ends() == 130


def test_b10_ask_run_answers_from_the_report_or_by_new_research_and_explains_what_is_wrong(
    docs: str, own_state: Path, tmp_path: Path
) -> None:
    run_id = run(QUESTION, home=own_state, docs=[Path(docs)]).folder.run_id
    assert command("show", run_id, "--followup", "1").code == 2
    out = tmp_path / "answer.md"
    said = command("ask", "--run", run_id, "Who built the Beta engine?", "--out", str(out))
    assert said.code == 0
    assert "From what this run had already read; nothing new was searched." in said.out
    assert out.read_text("utf-8") == said.out.rstrip("\n") + "\n"
    found = command("ask", "--run", run_id[-4:], "How deep is the Maas quay of Rotterdam?", "--json").json
    assert (found["number"], found["found_in"]) == (2, "research")
    assert "24 metres" in found["report"]["report"]
    nothing = command("ask", "--run", run_id, "Who won the chess olympiad of 1954?", "--quiet")
    assert nothing.code == 3
    assert "Nothing was found that can be shown for this question." in nothing.out
    shown = command("show", run_id).out
    assert "1. Who built the Beta engine? — From what this run had already read" in shown
    assert "2. How deep is the Maas quay of Rotterdam? — This was searched anew" in shown
    assert command("show", run_id, "--followup", "1").out.rstrip() == said.out.rstrip()
    assert json.loads(command("show", run_id, "--followup", "2", "--json").out) == found
    for arguments, told in (
        (["--run", "nothing", "Who?"], "nothing"),
        (["--run", run_id, "Who?", "--docs", "/tmp"], "--run searches where that run did"),
        (["--run", run_id, " "], "No question was given"),
        (["--run", run_id, "Who?", "-p", "nobody"], "nobody"),
    ):
        said = command("ask", *arguments)
        assert said.code == 2
        assert told in said.err
        assert shows_no_traceback(said)


def test_b10_a_killed_question_about_a_report_goes_on_and_pays_nothing_twice(
    docs: str, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ["-p", "compatible", "--model", "scripted"]

    with served(monkeypatch):
        report = command(QUESTION, "--docs", docs, *model, "--json").json
        run_id = report["run_id"]
    asked_again = lambda: FolderRuns(own_state).open(run_id).read_follow_ups()  # noqa: E731
    with held_at(monkeypatch, "research", asked_again) as (provider, asked, go_on):
        with at_terminal("ask", "--run", run_id, "Who built the Beta engine?") as screen:
            assert asked.wait(60)
            before = steps(provider)
            screen.kill(signal.SIGKILL)
        go_on.set()
        assert [one.status for one in FolderRuns(own_state).open(run_id).read_follow_ups()] == ["running"]
        done = command("resume", run_id, "--json").json
        after = steps(provider)
    assert done["status"] == "finished"
    assert provider.duplicates == 1, "only the call that was in flight is made again"
    assert before["decide"] == after["decide"] == 1
    assert {p["source"] for p in done["report"]["passages"].values()} <= set(report["sources"])
