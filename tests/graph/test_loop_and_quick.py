"""The `loop` and `quick` workflows, rows C1–C3 and B13 of the contract."""

from pathlib import Path

from deep_research.errors import Unreachable
from tests.graph.harness import Broken, NoteTaker, Planner, Shelf, ask

ALPHA = "# Alpha engine\n\nThe Alpha engine is a rotary engine that turns at 3,000 rpm. The Alpha engine weighs 85 kg and burns petrol."
BETA = "# Beta engine\n\nThe Beta engine is a diesel engine that turns at 4,500 rpm. The Beta engine was built in 2001 by Anna Holm."
NOTES = {"alpha": ALPHA, "beta": BETA}
TITLES = ("Alpha engine", "Beta engine")


def test_c2_its_state_accumulates_findings_and_sources_once(tmp_path: Path) -> None:
    notes = (
        "## Key findings\n\n- It turns at 3,000 rpm. [{p}]\n- It is loud.\n\n## Beta engine\n\nIt burns diesel. [s1p1]"
    )
    trace = ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=NoteTaker(*TITLES, notes=notes), workflow="loop")
    state = trace.state
    assert ["3,000 rpm" in section.content for section in state["sections"]] == [True, False]
    assert "It burns diesel" in state["sections"][1].content, "each section has what stands under its heading"
    assert state["clarified_query"] == "Engines"
    assert state["is_clarified"]
    assert state["gathered_info"] == ["It turns at 3,000 rpm. [s1p1]"], "a finding has a source"
    assert sorted(state["visited_sources"]) == ["s1", "s2"], "also what nothing cites was read"
    assert state["current_queries"] == []


def test_a_loop_whose_place_fails_reports_gaps_and_invents_nothing(tmp_path: Path) -> None:
    trace = ask(tmp_path, "Engines", Broken(Unreachable("down")), reasoner=Planner(*TITLES), workflow="loop")
    assert not trace.report.answered
    assert any(gap.why == "down" for gap in trace.report.gaps)
