"""What a terminal shows of a report: as it is written, when it is there, in short, and what has changed since another one."""

import io

import pytest
from rich.console import Console

from deep_research.cli.progress_table import Board
from deep_research.cli.progress_view import LiveView
from deep_research.events import Event, Planned, ReportPiece, ReportReady, Revised, RunStarted, StageStarted, Verified
from deep_research.runs.report_changes import compare_reports
from tests.support.made_reports import make_report

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


@pytest.mark.parametrize("height", [16, 60])
def test_the_end_of_what_is_being_written_is_shown_and_fits_the_terminal(height: int) -> None:
    board = Board()
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
    assert "2 references" in " ".join(shown(board, height))


def test_a_live_terminal_draws_it() -> None:
    out = io.StringIO()
    with LiveView(Console(file=out, force_terminal=True, width=80, height=24)) as view:
        for event in [*BEGUN, *PIECES]:
            view.show(event)
    assert "Sentence 59" in out.getvalue()


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
