"""What a terminal shows of a report: as it is written, when it is there, in short, and what has changed since another one."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from deep_research.cli.progress_table import Board
from deep_research.cli.progress_view import Lines, LiveView
from deep_research.events import Event, Planned, ReportPiece, ReportReady, Revised, RunStarted, StageStarted, Verified
from deep_research.runs.report_changes import compare_reports
from tests.cli.terminal import call
from tests.support.made_reports import RUN_ID, SAID, make_report, save_run

BEGUN: list[Event] = [
    RunStarted(run_id="r1", question="Which engine?", language="en", reasoner="model", sources=()),
    Planned(title="Engines", sections=("Alpha", "Beta")),
    StageStarted(stage="report"),
]
PIECES = [ReportPiece(text=f"Sentence {n} is being written [s1p{n}]. ") for n in range(60)]
READY = ReportReady(title="t", path="", claims=12, references=2, gaps=0)


def shown(board: Board, height: int) -> list[str]:
    console = Console(file=io.StringIO(), width=80, height=height)
    console.print(board.render(80, height))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


@pytest.mark.parametrize("height", [16, 24, 60])
def test_the_end_of_what_is_being_written_is_shown_and_fits_the_terminal(height: int) -> None:
    board = Board(overview="")
    for event in [*BEGUN, *PIECES]:
        board.take(event)
    lines = shown(board, height)
    assert "Sentence 59" in " ".join(lines)
    assert len(lines) < height
    assert ("Sentence 0 " in " ".join(lines)) == (height == 60)
    board.take(Verified(statements=12, problems=3, round=1))
    assert "12 statements, 3 problems" in " ".join(shown(board, height))
    board.take(Revised(edits=2, failed=0))
    assert "2 edits" in " ".join(shown(board, height))
    board.take(READY)
    assert "Sentence" not in " ".join(shown(board, height))
    assert "12 statements · 2 references" in " ".join(shown(board, height))


def test_another_draft_takes_the_place_of_the_one_before() -> None:
    board = Board(overview="")
    for event in [*BEGUN, *PIECES, StageStarted(stage="report"), ReportPiece(text="Anew.")]:
        board.take(event)
    assert "Sentence" not in " ".join(shown(board, 60))
    assert "Anew." in " ".join(shown(board, 60))


def test_a_live_terminal_draws_it() -> None:
    out = io.StringIO()
    with LiveView(Console(file=out, force_terminal=True, width=80, height=24), "en") as view:
        for event in [*BEGUN, *PIECES]:
            view.show(event)
    assert "Sentence 59" in out.getvalue()


@pytest.mark.parametrize("verbose", [True, False])
def test_lines_say_what_was_verified_and_no_piece(verbose: bool, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(verbose=verbose)
    for event in [*PIECES, Verified(statements=12, problems=3, round=1), Revised(edits=2, failed=1)]:
        lines.show(event)
    said = capsys.readouterr().err
    assert "Sentence" not in said
    assert "verified: 12 statements, 3 problems" in said
    assert "revised: 2 edits, 1 did not fit" in said


@pytest.mark.process
def test_a_report_is_shown_as_it_was_written_and_in_short_up_to_its_first_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEP_RESEARCH_HOME", str(tmp_path))
    save_run(tmp_path)
    assert call("show", RUN_ID).out == make_report().report + "\n"
    short = call("show", RUN_ID, "--short").out
    assert short.startswith("# Engines compared")
    assert SAID in short
    assert "## " not in short


def test_what_sources_say_anew_is_told_and_what_is_the_authors_own_is_not() -> None:
    earlier = make_report()
    later = make_report()
    claims = [claim for claim in later.claims if claim.id != "c7"]
    claims = [
        claim.model_copy(update={"text": claim.text.replace("3,000", "3,200")}) if claim.id == "c2" else claim
        for claim in claims
    ]
    own = claims[0].model_copy(update={"id": "c90", "text": "Buy it at once, we think."})
    new = claims[1].model_copy(
        update={"id": "c91", "text": "A Gamma engine was shown in Graz this spring.", "where": "Gamma"}
    )
    later = later.model_copy(update={"claims": (*claims, own, new)})
    changes = compare_reports(earlier, later, before="2026-01-01", after="2026-02-01")
    assert [(one.kind, one.where, one.text, one.before) for one in changes.statements] == [
        ("changed", "", "The Alpha engine turns at 3,200 rpm.", "The Alpha engine turns at 3,000 rpm."),
        ("new", "Gamma", "A Gamma engine was shown in Graz this spring.", ""),
        ("gone", "Alpha", "", "The Alpha engine weighs 60 kg."),
    ]
