"""Contract rows B4 and B6: the two subgraphs, their limits and what they hand back."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deep_research.data import Action, Brief, Move, QueryAnalysis, Question, Section, Turn
from deep_research.events import Searched
from deep_research.ports import Library
from tests.graph.harness import Meeting, Planner, Shelf, ask

NOTES = {
    "alpha": "# Alpha engine\n\nThe Alpha engine is a rotary engine that turns at 3,000 rpm. It was built in 1999.",
    "kinds": "# Kinds of engines\n\nThere are three kinds of engines: the Alpha engine, the Beta engine and the "
    "Gamma engine. The Alpha engine is the oldest.",
    "beta": "# Beta engine\n\nThe Beta engine is a piston engine that turns at 4,500 rpm. It was built in 2004.",
}
_MOST_TURNS = 30
LIST_QUESTION = "Which kinds of engines are there?"


def _search(turn: int, count: int = 1) -> list[Action]:
    return [Action(id=f"t{turn}n{i}", name="search", query=f"Alpha engine {turn}.{i}") for i in range(count)]


class Told(Planner):
    """Does in its turns what it is told, and then hands over its notes."""

    def __init__(self, *titles: str, moves: Sequence[Sequence[Action]] = ()) -> None:
        super().__init__(*titles)
        self.moves = moves

    async def next_move(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> Move:
        self.turns[section.title, section.attempts] = tuple(turns)
        if len(turns) < len(self.moves):
            return Move(actions=tuple(self.moves[len(turns)]))
        return Move(text=await self.take_notes(section, brief, turns, library))


class OneByOne(Told):
    """Has the second section wait for the notes of the first."""

    def __init__(self, *titles: str, moves: Sequence[Sequence[Action]]) -> None:
        super().__init__(*titles, moves=moves)
        self._first_is_done = asyncio.Event()

    async def next_move(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> Move:
        if section.title != self.titles[0]:
            await self._first_is_done.wait()
        move = await super().next_move(section, brief, turns, library)
        if section.title == self.titles[0] and move.text:
            self._first_is_done.set()
        return move


def _action(key: str, name: str, query: str = "", source: str = "") -> Action:
    return Action.model_validate({"id": key, "name": name, "query": query, "source": source})


def test_what_a_researcher_opens_is_read_from_the_start_from_a_passage_or_where_words_stand(tmp_path: Path) -> None:
    long = "# Alpha engine\n\n" + "\n\n".join(f"Paragraph {n} of the Alpha engine. " * 12 for n in range(1, 200))
    moves = [
        [_action("s", "search", "Alpha engine")],
        [
            _action("start", "open", source="s1"),
            _action("on", "open", source="s1p40"),
            _action("find", "open", "Paragraph 150", "s1"),
            _action("nowhere", "open", "zebra crossing", "s1"),
            _action("lost", "open", source="s999"),
            _action("think", "think", "The oldest engine matters."),
            _action("library", "search", "Paragraph 77", "library"),
            _action("shelf", "search", "Alpha engine\nParagraph 3", "nowhere"),
        ],
    ]
    reasoner, place = Told("Alpha engine", moves=moves), Shelf(alpha=long)
    trace = ask(tmp_path, "Engines", place, reasoner=reasoner, max_review_iterations=0)
    start, on, find, nowhere, lost, think, library, shelf = reasoner.turns["Alpha engine", 1][1].observations
    assert start.passages[0] == "s1p1"
    assert f"It goes on at s1p{len(start.passages) + 1}" in start.text
    assert on.passages[0] == "s1p40"
    assert (find.passages != (), find.failure) == (True, "")
    assert nowhere.passages == ()
    assert "Nothing in s1 has these words" in nowhere.text
    assert lost.text == "There is no source s999 in the library."
    assert not any("s999" in gap.what for gap in trace.report.gaps), "whose slip it was is told, not the reader"
    assert think.passages == ()
    assert (library.free, library.passages != ()) == (True, True)
    assert shelf.failed == ("nowhere",)
    assert set(place.asked) <= {"Alpha engine", "Engines"}


def test_the_calls_of_one_turn_and_the_queries_of_one_call_run_side_by_side(tmp_path: Path) -> None:
    moves = [[_action("a", "search", "Alpha engine\nBeta engine"), _action("b", "search", "three kinds")]]
    reasoner, place = Told("Alpha engine", moves=moves), Meeting(3, **NOTES)
    trace = ask(tmp_path, "Engines", place, reasoner=reasoner, workflow="quick")
    both, kinds = reasoner.turns["Answer", 1][0].observations
    assert len({key.partition("p")[0] for key in both.passages}) > 1
    assert kinds.passages
    assert set(place.asked) == {"Alpha engine", "Beta engine", "three kinds"}
    assert trace.failures == []


def test_what_a_colleague_has_opened_is_told_and_free(tmp_path: Path) -> None:
    moves = [
        [_action("s", "search", "engine")],
        [_action("o", "open", source="s1")],
        [_action("t", "search", "engine 2")],
    ]
    reasoner = OneByOne("Alpha engine", "Beta engine", moves=moves)
    ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=reasoner, max_review_iterations=0)
    first, second = (reasoner.turns[title, 1] for title in ("Alpha engine", "Beta engine"))
    assert [turn.observations[0].free for turn in first] == [False, False, False]
    assert [turn.observations[0].free for turn in second] == [False, True, False]
    assert "Opened in this run, free for you too: s1 Alpha engine" in second[0].observations[0].text
    assert first[2].observations[0].text == ""


def test_notes_are_the_researcher_s_own_or_asked_for_once_it_says_that_it_has_enough(tmp_path: Path) -> None:
    done = [[_action("s", "search", "Alpha engine")], [_action("d", "research_complete")]]

    class Silent(Told):
        asked = 0

        async def take_notes(self, *args: Any) -> str:
            self.asked += 1
            return "## Key findings\n\n- It turns. [s1p1]\n- It is old [s1p1]\n\n## Notes\n\nMore."

    for moves in (done, done[:1]):
        reasoner = Silent("Alpha engine", moves=moves)
        folder = tmp_path / str(len(moves))
        trace = ask(folder, "Engines", Shelf(**NOTES), reasoner=reasoner, max_review_iterations=0)
        (section,) = trace.state["sections"]
        assert reasoner.asked == 1
        assert section.key_findings == ("It turns. [s1p1]", "It is old [s1p1]")
        assert (section.sources, section.status) == (("s1",), "completed")


def test_the_same_search_is_made_once_in_a_run(tmp_path: Path) -> None:
    moves = [[_action(f"a{n}", "search", "Alpha engine")] for n in range(3)]
    place = Shelf(**NOTES)
    reasoner = Told("One", "Two", "Three", moves=moves)
    trace = ask(tmp_path, "Engines", place, reasoner=reasoner, max_review_iterations=0)
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


def test_b4_discovery_stops_on_research_complete(tmp_path: Path) -> None:
    class Content(Curious):
        async def discover_actions(
            self, question: Question, analysis: QueryAnalysis, turns: Sequence[Turn], library: Library
        ) -> Any:
            return _search(0) if not turns else [Action(id="done", name="research_complete")]

    trace = ask(tmp_path, LIST_QUESTION, Shelf(**NOTES), reasoner=Content("Alpha engine"), max_review_iterations=0)
    assert trace.nodes.count("discover_tools") == 1
