"""Contract rows B1, B2, B5 and B7: the shape of the graph and the way through it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deep_research.data import Brief, Decision, QueryAnalysis, Question, Review, Section, SectionReview
from deep_research.events import Planned, SectionStarted, StageStarted
from deep_research.graph.graph_state import section_reducer
from deep_research.graph.workflows import compile_workflow
from tests.graph.harness import ENGINES, Bench, Meeting, Planner, Shelf, ask

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


def test_b1_a_list_question_goes_through_discovery(tmp_path: Path) -> None:
    trace = ask(tmp_path, "Which engines are there?", Shelf(**ENGINES), max_review_iterations=0)
    stages = [event.stage for event in trace.of(StageStarted)]
    assert stages == ["clarify", "analyze", "discover", "plan", "research", "review", "report", "verify"]
    assert _outer(trace.nodes)[:3] == ["clarify", "analyze", "discover"]
    assert _outer(trace.nodes)[-3:] == ["aggregate", "review", "final_report"]


def _outer(nodes: list[str]) -> list[str]:
    inner = "researcher_invoke tools compress_output review_section discover_invoke discover_tools extract_output"
    return [node for node in nodes if node not in inner.split()]


def test_b1_researchers_work_side_by_side_and_meet_at_aggregate(tmp_path: Path) -> None:
    place = Meeting(len(THREE), *THREE, **ENGINES)
    trace = ask(tmp_path, "Engines", place, reasoner=Planner(*THREE), max_review_iterations=0)
    assert trace.failures == []
    assert trace.nodes.count("researcher") == 3
    assert trace.nodes.count("aggregate") == 1
    assert max(i for i, n in enumerate(trace.nodes) if n == "researcher") < trace.nodes.index("aggregate")


_titles = st.sampled_from(["a", "b", "c", "d"])
_sections = st.lists(st.builds(Section, title=_titles, content=st.text(max_size=3)), max_size=6)


@given(_sections, _sections)
def test_b2_section_reducer_merges_by_title(existing: list[Section], updates: list[Section]) -> None:
    old = section_reducer([], existing)
    merged = section_reducer(old, updates)
    titles = [section.title for section in merged]
    assert len(titles) == len(set(titles))
    assert titles[: len(old)] == [section.title for section in old]
    newest = {section.title: section for section in [*existing, *updates]}
    assert {section.title: section for section in merged} == newest
    assert section_reducer(merged, updates) == merged


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


def test_b7_review_sends_back_only_the_named_section_and_keeps_the_outline(tmp_path: Path) -> None:
    reasoner = Reviewer(*THREE, weak=("Beta engine",))
    trace = ask(tmp_path, "Engines", Shelf(**ENGINES), reasoner=reasoner)
    attempts = [(event.section, event.attempt) for event in trace.of(SectionStarted)]
    assert sorted(attempts) == [
        ("Alpha engine", 1), ("Beta engine", 1), ("Beta engine", 2), ("Beta engine", 3), ("Gamma engine", 1),
    ]  # fmt: skip
    assert [section.title for section in trace.state["sections"]] == list(THREE)
    assert (len(trace.of(Planned)), reasoner.plans) == (1, 1)
    assert reasoner.seen[1][0] == reasoner.seen[0][0]


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
