"""What the user says while a run goes on, in the graphs: remarks, dropped and added sections, an early end."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Action, Brief, Move, Section, Turn
from deep_research.events import GapFound, Planned, Reviewed, SectionReviewed, SectionStarted, Steered
from deep_research.ports import Library
from tests.graph.harness import Planner, Trace
from tests.steering.harness import QUESTION, TITLES, Attentive, Voice, steered

WORKFLOWS = ("sections", "supervisor", "loop")


def _titles(trace: Trace) -> list[str]:
    return [section.title for section in trace.report.sections]


class Twice(Planner):
    """Searches for every section a second time, for what the place never answers."""

    async def next_move(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> Move:
        if len(turns) == 1:
            return Move(actions=(Action(id="again", name="search", query="more on Beta engine"),))
        return await super().next_move(section, brief, turns, library)


class Composing(Planner):
    """Says something while it writes the report, and remembers what it was told."""

    def __init__(self, voice: Voice, *titles: str) -> None:
        super().__init__(*titles)
        self._voice = voice

    async def write(self, *args: Any, **kwargs: Any) -> Move:
        self._voice.say("remark", "Only boats.")
        self._voice.say("add", section="Delta engine")
        return await super().write(*args)


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_sections_are_dropped_and_added_and_a_remark_is_searched_for_once_and_all_is_named(
    tmp_path: Path, workflow: str
) -> None:
    voice = Voice()

    def say() -> None:
        voice.say("drop", section="Beta engine")
        voice.say("add", "used in aircraft", "Gamma engine")
        voice.say("remark", "Who built it in Porto?")

    place = Attentive("Alpha engine", say)
    trace = steered(tmp_path, voice, place, Planner("Alpha engine", "Beta engine"), workflow=workflow)
    assert _titles(trace) == ["Alpha engine", "Gamma engine"]
    assert "**Sections dropped during the research:** Beta engine" in trace.report.report
    assert not any(claim.where == "Beta engine" for claim in trace.report.claims)
    assert not any("Beta engine" in gap.what for gap in trace.report.gaps)
    assert "aircraft" in (trace.report.sections[-1].notes or trace.report.report)
    assert "**Sections added during the research:** Gamma engine" in trace.report.report
    assert [e.attempt for e in trace.of(SectionStarted) if e.section == "Gamma engine"][:1] == [1]
    assert place.asked["Who built it in Porto?"] == 1
    assert "**Remarks made during the research:** Who built it in Porto?" in trace.report.report
    assert [(e.what, e.section, e.late) for e in trace.of(Steered)] == [
        ("drop", "Beta engine", False), ("add", "Gamma engine", False), ("remark", "", False)
    ]  # fmt: skip


@pytest.mark.parametrize("workflow", ["sections", "supervisor"])
def test_the_pending_call_of_a_dropped_section_is_cancelled(tmp_path: Path, workflow: str) -> None:
    voice = Voice()
    place = Attentive("Beta engine", lambda: voice.say("drop", section="Beta engine"), silent=True)
    trace = steered(tmp_path, voice, place, Planner(*TITLES), workflow=workflow)
    assert place.cancelled == 1
    assert _titles(trace) == ["Alpha engine", "Gamma engine"]
    assert not any("Beta" in event.what for event in trace.of(GapFound)), "what the user wanted is no failure"


@pytest.mark.parametrize("workflow", ["sections", "supervisor"])
def test_who_wants_the_report_now_gets_what_is_known(tmp_path: Path, workflow: str) -> None:
    voice = Voice()
    place = Attentive("more on Beta engine", lambda: voice.say("finish"), silent=True)
    trace = steered(tmp_path, voice, place, Twice(*TITLES), workflow=workflow)
    assert place.cancelled == 1
    assert _titles(trace) == list(TITLES)
    assert all(section.notes for section in trace.report.sections)
    assert trace.of(Reviewed) == []
    assert trace.of(SectionReviewed) == []
    assert "*The research was ended early on request" in trace.report.report


def test_what_comes_while_the_report_is_written_is_too_late_and_said(tmp_path: Path) -> None:
    voice = Voice()
    trace = steered(tmp_path, voice, Attentive("", lambda: None), Composing(voice, *TITLES))
    assert [(e.what, e.late) for e in trace.of(Steered)] == [("remark", True), ("add", True)]
    assert "Only boats." not in trace.report.report
    assert _titles(trace) == list(TITLES)


def test_what_is_said_before_the_plan_holds_for_it(tmp_path: Path) -> None:
    voice = Voice()
    voice.say("add", "used in aircraft", "Gamma engine")
    trace = steered(tmp_path, voice, Attentive("", lambda: None), Planner("Alpha engine", "Beta engine"))
    assert _titles(trace) == ["Alpha engine", "Beta engine", "Gamma engine"]
    assert trace.nodes.count("plan_sections") == 1
    assert [e.sections for e in trace.of(Planned)] == [("Alpha engine", "Beta engine")]
    assert trace.report.question == QUESTION
