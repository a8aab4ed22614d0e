"""Contract rows B1, B2, B5 and B7: the shape of the graph and the way through it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deep_research.data import Brief, Decision, QueryAnalysis, Question, Review, SearchResult, Section, SectionReview
from deep_research.events import Planned, SectionStarted
from deep_research.graph.workflows import compile_workflow
from tests.graph.harness import ENGINES, Bench, Planner, Shelf, ask

THREE = ("Alpha engine", "Beta engine", "Gamma engine")


def _edges(graph: Any) -> set[tuple[str, str]]:
    return {(edge.source, edge.target) for edge in graph.get_graph().edges}


def test_b1_nodes_and_routes_of_the_graph() -> None:
    graph = compile_workflow("sections")
    assert set(graph.nodes) - {"__start__"} == {
        "clarify", "analyze", "discover", "plan_sections", "confirm_plan", "researcher", "aggregate", "review",
        "confirm_review", "final_report",
    }  # fmt: skip
    assert _edges(graph) == {
        ("__start__", "clarify"), ("clarify", "analyze"), ("clarify", "clarify"), ("clarify", "__end__"),
        ("analyze", "discover"), ("analyze", "plan_sections"), ("discover", "plan_sections"),
        ("plan_sections", "confirm_plan"), ("confirm_plan", "confirm_plan"), ("confirm_plan", "plan_sections"),
        ("confirm_plan", "__end__"), ("plan_sections", "researcher"),
        ("plan_sections", "aggregate"), ("researcher", "aggregate"), ("aggregate", "review"),
        ("review", "plan_sections"), ("review", "confirm_review"), ("review", "final_report"),
        ("confirm_review", "plan_sections"), ("confirm_review", "final_report"), ("final_report", "plan_sections"),
        ("final_report", "__end__"),
    }  # fmt: skip


class Reviewer(Planner):
    """Finds the same sections weak at every review of all; alone each is good enough."""

    def __init__(self, *titles: str, weak: tuple[str, ...], sufficient: bool = False) -> None:
        super().__init__(*titles)
        self.weak, self.sufficient = weak, sufficient
        self.seen: list[list[Section]] = []

    async def review_section(self, section: Section, *args: Any) -> SectionReview:
        return SectionReview(title=section.title, status="sufficient")

    async def review(self, brief: Brief, sections: Sequence[Section]) -> Review:
        self.seen.append(list(sections))
        rows = tuple(SectionReview(title=t, status="partial", notes="more about Gamma") for t in self.weak)
        return Review(
            is_sufficient=self.sufficient, overall_score=3, section_coverage=rows, sections_to_retry=self.weak
        )


def test_b7_a_section_the_outline_does_not_have_is_not_sent_out(tmp_path: Path) -> None:
    trace = ask(tmp_path, "Engines", Shelf(**ENGINES), reasoner=Reviewer(*THREE, weak=("Delta engine",)))
    assert [section.title for section in trace.state["sections"]] == list(THREE)
    assert {event.attempt for event in trace.of(SectionStarted)} == {1}


async def test_b5_sections_given_from_outside_are_not_planned_again(tmp_path: Path) -> None:
    reasoner = Planner("Another plan")
    brief = await reasoner.plan(Question(text="Engines", language="en"))
    given = [Section(title="Alpha engine", subject="Alpha engine", queries=("Alpha engine",))]
    async with Bench(tmp_path, Shelf(**ENGINES), reasoner=reasoner, max_review_iterations=0) as bench:
        analysis = QueryAnalysis(query_type="general", output_format="prose")
        decision = Decision(next_action="START_RESEARCH", confidence=1.0, goal="Engines")
        trace = await bench.ask("Engines", sections=given, brief=brief, analysis=analysis, decision=decision)
    assert [section.title for section in trace.report.sections] == ["Alpha engine"]
    assert trace.of(Planned) == []


def test_b5_a_plan_without_sections_still_ends_in_a_report(tmp_path: Path) -> None:
    trace = ask(tmp_path, "Engines", Shelf(**ENGINES), reasoner=Planner())
    assert trace.report.sections == ()
    assert not trace.report.answered


class Heard(Shelf):
    """Tells when it is searched."""

    def __init__(self, **texts: str) -> None:
        super().__init__(**texts)
        self.searched = asyncio.Event()

    async def search(self, query: str, *, limit: int) -> SearchResult:
        self.searched.set()
        return await super().search(query, limit=limit)


class Judging(Planner):
    """Judges the question only once a place was searched: a look around that came afterwards would never come."""

    def __init__(self, *titles: str, place: Heard) -> None:
        super().__init__(*titles)
        self.info = self.info.model_copy(update={"kind": "model"})
        self._place = place

    async def decide(self, question: Question, **given: Any) -> Decision:
        async with asyncio.timeout(20):
            await self._place.searched.wait()
        return await super().decide(question, **given)


def test_the_first_look_is_taken_while_the_question_is_judged_and_not_again(tmp_path: Path) -> None:
    shelf = Heard(**ENGINES)
    trace = ask(tmp_path, "Which engines turn fast?", shelf, reasoner=Judging(*THREE, place=shelf))
    assert shelf.asked["Which engines turn fast?"] == 1
    assert [turn.observations[0].passages for turn in trace.state["discovery_turns"]] != [()]
