"""Contract row B6: what the tools of a researcher tell it, and that no search is made twice."""

from collections.abc import Sequence
from pathlib import Path

from deep_research.data import Action, Brief, Move, Section, Turn
from deep_research.events import Searched
from deep_research.ports import Library
from tests.graph.harness import Planner, Shelf, ask

NOTES = {
    "alpha": "# Alpha engine\n\nThe Alpha engine is a rotary engine that turns at 3,000 rpm. It was built in 1999.",
    "kinds": "# Kinds of engines\n\nThere are three kinds of engines: the Alpha engine, the Beta engine and the "
    "Gamma engine. The Alpha engine is the oldest.",
    "beta": "# Beta engine\n\nThe Beta engine is a piston engine that turns at 4,500 rpm. It was built in 2004.",
}


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
