"""Row B10: `deep-research` without a question is a conversation, at a real terminal."""

from pathlib import Path

import pytest

from deep_research.data import Report
from deep_research.stores.run_folder import FolderRuns, list_runs
from tests.conversation.screen import PROMPT, Screen, at_terminal
from tests.model.harness import held_at, steps
from tests.runs.running import Ran, command
from tests.runs.soundness import assert_sound

QUESTION = "Which kinds of engines are there?"


def _leave(screen: Screen) -> None:
    screen.until(PROMPT)
    screen.type("\x04")
    assert screen.ends() == 0
    assert "Traceback" not in screen.raw


def test_b10_a_whole_conversation_over_the_bundled_library(english: Ran) -> None:
    with at_terminal(DEEP_RESEARCH_HOME=str(english.home)) as screen:
        greeting = screen.until("Ctrl-D leaves.")
        assert "none (finder)" in greeting
        assert "bundled library" in greeting
        screen.say("How does speculative decoding work?")
        shown = screen.until("Ask about this report")
        assert "✓ report" in shown
        assert "References" in shown
        screen.say("What does PagedAttention do?")
        screen.until("nothing new was searched.")
        screen.until("[1]")
        screen.say("/sources")
        key = screen.until(")\n").split("(")[-1].split(",")[0].strip(") \n")
        screen.say(f"/show {key}")
        screen.until("characters")
        screen.say("/answers")
        screen.until("1. What does PagedAttention do? — From what this run had already read")
        screen.say("/report")
        screen.until("How this was checked")
        _leave(screen)
    record = list_runs(english.home)[0]
    folder = FolderRuns(english.home).open(record.run_id)
    (made,) = folder.read_follow_ups()
    assert made.report is not None
    assert_sound(made.report, folder)
    assert (made.found_in, made.report.answered) == ("library", True)
    known = Report.model_validate_json(folder.result.read_bytes()).passages
    shared = set(known) & set(made.report.passages)
    assert all(known[key] == made.report.passages[key] for key in shared)


def test_b10_wrong_lines_end_nothing_and_a_question_back_is_answered_by_number_or_in_words(
    docs: str, own_state: Path
) -> None:
    with at_terminal("--docs", docs) as screen:
        screen.until(PROMPT)
        screen.type("half a question")
        screen.until("half a question")  # its echo
        screen.type("\x03")
        screen.say("")
        screen.say("/shwo s1p1")
        screen.until("There is no command '/shwo'. Did you mean /show?")
        screen.say("/show")
        screen.until("Use: /show ID")
        screen.say("/report")
        screen.until("There is no report yet")
        screen.say("\x16\x07\x16\x01\x16\x1b")  # control characters, quoted with Ctrl-V
        screen.until("No question was given")
        screen.say(b"caf\xe9 \xff\xfe")
        screen.until("not text in UTF-8")
        screen.say("/save /nowhere/at/all.md")
        screen.until("no place for a file")
        screen.say("/show s1p1")
        screen.until("There is no report yet")
        screen.until(PROMPT)
        screen.type("\x1b[200~" + "How fast does the Alpha engine turn? " * 600 + "\x1b[201~\n")
        screen.until("the limit is 20,000")
        screen.say("/list")
        screen.until("No runs yet")

        screen.until(PROMPT)  # a paste of several lines is one question
        screen.type("\x1b[200~How fast does\nthe Alpha engine\nturn?\x1b[201~\n")
        assert "3,000 rpm" in screen.until("Ask about this report")
        assert [record.question for record in list_runs(own_state)] == ["How fast does the Alpha engine turn?"]

        screen.say("/new that drug")
        screen.until("1. ")
        screen.until("answer> ")
        screen.type("99\n")
        screen.until("There are the options 1 to")
        screen.until("answer> ")
        screen.type("1\n")
        screen.until("Report:")
        screen.say("/new tell me about it")
        screen.until("Please name it")
        screen.until("answer> ")
        screen.type("the Alpha engine\n")
        assert "3,000 rpm" in screen.until("Ask about this report")

        screen.say("/new that drug")
        screen.until("answer> ")
        screen.type("\x04")
        screen.until("State kept.")
        _leave(screen)
    assert list_runs(own_state)[0].status == "waiting"
    assert "asks you: " in command("list").out
    shown = command("show", list_runs(own_state)[0].run_id)
    assert shown.code == 4
    assert "It asks you: " in shown.err
    assert '--answer "…"' in shown.err


def test_b10_ctrl_c_stops_a_run_which_can_be_opened_again(
    docs: str, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_at(monkeypatch, "plan") as (provider, asked, go_on):
        with at_terminal("--docs", docs, "-p", "compatible", "--model", "scripted") as screen:
            assert "compatible scripted" in screen.until("Ctrl-D leaves.")
            screen.say(QUESTION)
            assert asked.wait(60)
            screen.type("\x03")
            screen.until("State kept. Go on with: deep-research resume ")
            go_on.set()
            run_id = list_runs(own_state)[0].run_id
            screen.say("/runs")
            screen.until(f"{run_id}  stopped")
            screen.say(f"/open {run_id[-4:]}")
            screen.until("Ask about this report")
            screen.say("Who built the Beta engine?")
            screen.until("nothing new was searched.")
            _leave(screen)
        made = steps(provider)
    assert made["decide"] == 2, "the question and the follow-up: what was paid for before Ctrl-C is not paid again"
    assert list_runs(own_state)[0].status == "finished"


def test_b10_a_long_report_at_the_end_of_a_run_is_shown_in_the_pager(docs: str, tmp_path: Path) -> None:
    paged = tmp_path / "paged"
    for flags in (["--no-pager"], []):
        with at_terminal("research", QUESTION, *flags, "--docs", docs, PAGER=f"tee {paged}") as screen:
            assert "References" in screen.until("Report:")
            assert screen.ends() == 0
        assert paged.exists() == (not flags)
    assert "References" in paged.read_text("utf-8")
