"""Contract rows B4 and B6: the two subgraphs, their limits and what they hand back."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Action, DiscoveredItem, Discovery, QueryAnalysis, Question, Section, Turn
from deep_research.events import Searched, SectionStarted, SectionWritten
from deep_research.graph.graph_state import DiscoverState
from deep_research.ports import Library
from tests.graph.harness import Planner, Shelf, ask

NOTES = {
    "alpha": "# Alpha engine\n\nThe Alpha engine is a rotary engine that turns at 3,000 rpm. It was built in 1999.",
    "kinds": "# Kinds of engines\n\nThere are three kinds of engines: the Alpha engine, the Beta engine and the "
    "Gamma engine. The Alpha engine is the oldest.",
    "beta": "# Beta engine\n\nThe Beta engine is a piston engine that turns at 4,500 rpm. It was built in 2004.",
}
LIST_QUESTION = "Which kinds of engines are there?"


def _search(turn: int, count: int = 1) -> list[Action]:
    return [Action(id=f"t{turn}n{i}", name="search", query=f"Alpha engine {turn}.{i}") for i in range(count)]


class Greedy(Planner):
    """Wants `count` more searches at every turn, for ever."""

    def __init__(self, *titles: str, count: int, also: tuple[Action, ...] = ()) -> None:
        super().__init__(*titles)
        self.count, self.also = count, also

    async def next_actions(self, section: Section, brief: Any, turns: Sequence[Turn], library: Library) -> Any:
        await super().next_actions(section, brief, turns, library)
        return [*self.also, *_search(len(turns), self.count)]


@pytest.mark.parametrize(("limit", "count"), [(10, 4), (1, 3), (5, 5), (7, 1)])
def test_b6_tool_calls_per_researcher_are_limited(tmp_path: Path, limit: int, count: int) -> None:
    reasoner, place = Greedy("Alpha engine", count=count), Shelf(**NOTES)
    ask(
        tmp_path,
        "Engines",
        place,
        reasoner=reasoner,
        max_tool_calls_per_researcher=limit,
        max_review_iterations=0,
    )
    assert sum(n for query, n in place.asked.items() if query.startswith("Alpha engine ")) == limit
    assert max(place.asked.values()) == 1


def test_b6_each_researcher_has_a_limit_of_its_own(tmp_path: Path) -> None:
    trace = ask(
        tmp_path,
        "Engines",
        Shelf(**NOTES),
        reasoner=Greedy("Alpha engine", "Beta engine", count=3),
        max_tool_calls_per_researcher=4,
        max_review_iterations=0,
    )
    for title in ("Alpha engine", "Beta engine"):
        assert len([event for event in trace.of(Searched) if event.section == title]) == 4


def test_b6_research_complete_ends_a_researcher_at_once(tmp_path: Path) -> None:
    done = Action(id="done", name="research_complete")
    place = Shelf(**NOTES)
    trace = ask(
        tmp_path,
        "Engines",
        place,
        reasoner=Greedy("Alpha engine", count=2, also=(done,)),
        max_review_iterations=0,
    )
    assert trace.nodes.count("tools") <= 1
    assert len(trace.of(SectionWritten)) == 1


def test_b6_thinking_and_recalling_are_tool_calls_that_search_nowhere(tmp_path: Path) -> None:
    class Thoughtful(Planner):
        async def next_actions(self, section: Section, brief: Any, turns: Sequence[Turn], library: Library) -> Any:
            await super().next_actions(section, brief, turns, library)
            if not turns:
                return _search(0)
            if len(turns) == 1:
                return [
                    Action(id="think", name="think", query="The oldest engine matters."),
                    Action(id="recall", name="recall", query="rotary engine"),
                    Action(id="read", name="read", query="s1"),
                    Action(id="lost", name="read", query="s999"),
                ]
            return []

    reasoner, place = Thoughtful("Alpha engine"), Shelf(**NOTES)
    trace = ask(tmp_path, "Engines", place, reasoner=reasoner, max_review_iterations=0)
    think, recall, read, lost = reasoner.turns["Alpha engine", 1][1].observations
    assert think.passages == ()
    assert recall.passages
    assert read.passages[0].startswith("s1p")
    assert "no source s999" in lost.text
    assert not any("s999" in gap.what for gap in trace.report.gaps)  # whose slip it was is told, not the reader
    assert place.asked.total() == len({event.query for event in trace.of(Searched)})


def test_b6_a_researcher_hands_back_title_content_sources_and_findings(tmp_path: Path) -> None:
    trace = ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=Planner("Alpha engine"), max_review_iterations=0)
    section = trace.state["sections"][0]
    assert section.title == "Alpha engine"
    assert section.status == "completed"
    assert "3,000 rpm" in section.content
    assert "[s" in section.content
    assert section.sources
    assert set(section.sources) <= set(trace.report.sources)
    assert section.key_findings
    assert all(finding in section.content for finding in section.key_findings)


def test_b6_a_researcher_sees_its_own_turns_only(tmp_path: Path) -> None:
    reasoner = Planner("Alpha engine", "Beta engine")
    ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=reasoner, max_review_iterations=0)
    for title, other in (("Alpha engine", "Beta engine"), ("Beta engine", "Alpha engine")):
        queries = [action.query for turn in reasoner.turns[title, 1] for action in turn.actions]
        assert queries[0] == title
        assert other not in queries


def test_b6_attempts_are_counted_from_one(tmp_path: Path) -> None:
    trace = ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=Planner("Nothing of the kind"))
    assert [event.attempt for event in trace.of(SectionStarted)] == [1, 2]


def test_the_same_search_is_made_once_in_a_run(tmp_path: Path) -> None:
    class Same(Planner):
        async def next_actions(self, section: Section, brief: Any, turns: Sequence[Turn], library: Library) -> Any:
            return [Action(id=f"a{len(turns)}", name="search", query="Alpha engine")] if len(turns) < 3 else []

    place = Shelf(**NOTES)
    trace = ask(tmp_path, "Engines", place, reasoner=Same("One", "Two", "Three"), max_review_iterations=0)
    assert place.asked["Alpha engine"] == 1
    made = [event for event in trace.of(Searched) if event.query == "Alpha engine"]
    assert len(made) == 9
    assert [event.reused for event in made].count(False) == 1
    assert trace.report.ledger.searches == len(place.asked)


class Curious(Planner):
    """Wants to look around for ever before it plans."""

    async def discover_actions(
        self, question: Question, analysis: QueryAnalysis, turns: Sequence[Turn], library: Library
    ) -> Any:
        return _search(len(turns))


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_b4_discovery_ends_after_its_iterations(tmp_path: Path, limit: int) -> None:
    trace = ask(
        tmp_path,
        LIST_QUESTION,
        Shelf(**NOTES),
        reasoner=Curious("Alpha engine"),
        max_discover_iterations=limit,
        max_review_iterations=0,
    )
    assert trace.nodes.count("discover_tools") == limit
    assert trace.nodes.count("extract_output") == 1
    assert len([event for event in trace.of(Searched) if event.section == ""]) == limit


def test_b4_discovery_stops_on_research_complete(tmp_path: Path) -> None:
    class Content(Curious):
        async def discover_actions(
            self, question: Question, analysis: QueryAnalysis, turns: Sequence[Turn], library: Library
        ) -> Any:
            return _search(0) if not turns else [Action(id="done", name="research_complete")]

    trace = ask(tmp_path, LIST_QUESTION, Shelf(**NOTES), reasoner=Content("Alpha engine"), max_review_iterations=0)
    assert trace.nodes.count("discover_tools") == 1


def test_b4_entities_have_the_fields_of_the_design() -> None:
    assert set(DiscoveredItem.model_fields) >= {"name", "category", "brief", "source", "urls", "priority"}
    assert set(Discovery.model_fields) >= {"entities", "summary", "categories", "search_coverage"}
    assert Discovery(entities=(DiscoveredItem(name="x"),)).total_found == 1
    assert set(DiscoverState.__annotations__) >= {"discovered_items", "discovery_complete", "discovery_summary"}


def test_b4_entities_are_found_named_and_planned(tmp_path: Path) -> None:
    trace = ask(tmp_path, LIST_QUESTION, Shelf(**NOTES), max_review_iterations=0)
    found: Discovery = trace.state["discovery"]
    names = {entity.name for entity in found.entities}
    assert {"Alpha engine", "Beta engine"} <= names
    assert trace.state["discovered_items"] == list(found.entities)
    assert all(entity.passages for entity in found.entities)
    titles = {section.title for section in trace.report.sections}
    assert {"Alpha engine", "Beta engine"} <= titles


def test_d1_the_supervisor_discovers_what_a_list_question_asks_for_and_delegates_it(tmp_path: Path) -> None:
    trace = ask(tmp_path, LIST_QUESTION, Shelf(**NOTES), workflow="supervisor")
    outer = [name for name in trace.nodes if name in ("write_research_brief", "discover", "supervisor")]
    assert outer[:4] == ["write_research_brief", "discover", "write_research_brief", "supervisor"]
    assert {"Alpha engine", "Beta engine", "Gamma engine"} <= {item.name for item in trace.state["discovered_items"]}
    assert any("Alpha" in event.section for event in trace.of(SectionStarted))


@pytest.mark.parametrize("limit", [1, 2])
def test_b6_so_many_sections_are_researched_at_the_same_time_in_the_order_of_the_plan(
    tmp_path: Path, limit: int
) -> None:
    titles = ("Alpha engine", "Beta engine", "Kinds of engines", "Gamma engine")
    trace = ask(
        tmp_path,
        "Engines",
        Shelf(**NOTES),
        reasoner=Greedy(*titles, count=2),
        max_concurrent_researchers=limit,
        max_review_iterations=0,
    )
    assert [event.section for event in trace.of(SectionStarted)] == list(titles)
    under_way = [0]
    for event in trace.events:
        step = isinstance(event, SectionStarted) - isinstance(event, SectionWritten)
        under_way.append(under_way[-1] + step)
    assert max(under_way) == limit
