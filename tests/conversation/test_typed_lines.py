"""Lines typed while a run goes on: edited, said to the run, and the terminal as it was afterwards."""

from pathlib import Path

import pytest

from deep_research.cli.terminal_input import TypedLine
from deep_research.events import Steered
from deep_research.stores.event_log import read_events
from deep_research.stores.run_folder import FolderRuns, list_runs
from tests.conversation.screen import Screen, at_terminal
from tests.model.harness import QUESTION, held_at

MODEL = ("-p", "compatible", "--model", "scripted")


@pytest.mark.parametrize(
    ("keys", "lines", "left"),
    [
        (b"only trials\n", ["only trials"], ""),
        (b"one\rtwo\nthr", ["one", "two"], "thr"),
        (b"abd\x7fc\n", ["abc"], ""),
        (b"wrong line\x15right\n", ["right"], ""),
        (b"drop this word\x17\n", ["drop this"], ""),
        (b"a\x1b[A\x1b[3~\x1bOPb\n", ["ab"], ""),
        (b"\x01\x07a\tb\x00\n", ["ab"], ""),
        ("转速 대구\n".encode(), ["转速 대구"], ""),
        (b"caf\xe9\n", ["caf\ufffd"], ""),
        (b"x" * 9000 + b"\n", ["x" * 4000], ""),
    ],
)
def test_b10_keys_become_lines(keys: bytes, lines: list[str], left: str) -> None:
    line = TypedLine()
    assert list(line.feed(keys)) == lines
    assert line.text == left
    byte_by_byte = TypedLine()
    assert [found for key in keys for found in byte_by_byte.feed(bytes([key]))] == lines


def _steered(home: Path) -> list[tuple[str, str, str]]:
    events = read_events(FolderRuns(home).open(list_runs(home)[0].run_id).events)
    return [(event.what, event.section, event.text) for event in events if isinstance(event, Steered)]


def _leave(screen: Screen, modes: list[object], code: int) -> None:
    assert screen.ends() == code
    assert screen.attributes() == modes
    assert "Traceback" not in screen.raw


def test_b10_typed_lines_steer_the_run(docs: str, own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        held_at(monkeypatch, "research") as (_, asked, go_on),
        at_terminal(QUESTION, "--docs", docs, *MODEL) as screen,
    ):
        modes = screen.attributes()
        assert asked.wait(60)
        screen.type("/dorp 2\n")
        screen.until("There is no '/dorp'")
        screen.type("/drop Beta\n")
        screen.until("Noted: drop Beta engine")
        screen.type("/drop 7\n")
        screen.until("The run has no section '7'")
        screen.type("only what matters for boats\n")
        screen.until("Noted: remark only what matters for boats")
        screen.type("/finish\n")
        screen.until("Noted: finish")
        go_on.set()
        screen.until("Report:")
        _leave(screen, modes, 0)
    assert ("drop", "Beta engine", "") in _steered(own_state)
    assert ("remark", "", "only what matters for boats") in _steered(own_state)
    assert ("finish", "", "") in _steered(own_state)


def test_b10_the_terminal_is_as_it_was_after_ctrl_c(docs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with held_at(monkeypatch, "plan") as (_, asked, _), at_terminal(QUESTION, "--docs", docs, *MODEL) as screen:
        modes = screen.attributes()
        assert asked.wait(60)
        screen.type("half a line")
        screen.until("half a line")
        assert screen.attributes() != modes
        screen.type("\x03")
        screen.until("State kept.")
        _leave(screen, modes, 130)


def test_b10_the_terminal_is_as_it_was_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with at_terminal(QUESTION, "--docs", str(tmp_path / "empty")) as screen:
        modes = screen.attributes()
        screen.until("Error: ")
        _leave(screen, modes, 2)
