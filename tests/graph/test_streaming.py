"""Contract row B14: a section is reviewed and sent out again as soon as it is written; nobody waits for the slowest."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Brief, Review, SearchResult, Section, SectionReview
from deep_research.errors import MalformedOutput
from deep_research.events import SectionReviewed, SectionStarted, SectionWritten
from tests.graph.harness import ENGINES, Planner, Shelf, ask
from tests.graph.test_sections_graph import THREE

WEAK, SLOW = "Alpha engine", "Gamma engine"


class Strict(Planner):
    """Finds some sections weak each time it sees one of them alone, and all well together."""

    def __init__(self, *titles: str, weak: Sequence[str] = ()) -> None:
        super().__init__(*titles)
        self.weak = weak
        self.alone: list[tuple[str, int]] = []

    async def review_section(self, section: Section, brief: Brief, voices: str = "") -> SectionReview:
        self.alone.append((section.title, section.attempts))
        if section.title not in self.weak:
            return SectionReview(title=section.title, status="sufficient", score=9)
        return SectionReview(title=section.title, status="partial", notes="its weight", score=4, retry=True)

    async def review(self, brief: Brief, sections: Sequence[Section]) -> Review:
        return Review(is_sufficient=True, overall_score=7)


class Held(Shelf):
    """Answers the search of one section only once another section has been taken up again."""

    def __init__(self, **texts: str) -> None:
        super().__init__(**texts)
        self.free = asyncio.Event()

    async def search(self, query: str, *, limit: int) -> SearchResult:
        if query == SLOW:
            async with asyncio.timeout(20):
                await self.free.wait()
        return await super().search(query, limit=limit)


class Opening(Strict):
    """Lets the slow section go on once the weak one is in its second attempt."""

    def __init__(self, place: Held, *, weak: Sequence[str]) -> None:
        super().__init__(*THREE, weak=weak)
        self._place = place

    async def next_move(self, section: Section, *args: Any) -> Any:
        if section.title == WEAK and section.attempts == 2:
            self._place.free.set()
        return await super().next_move(section, *args)


def _starts(events: Sequence[SectionStarted]) -> Counter[str]:
    return Counter(event.section for event in events)


def test_b14_a_finished_section_is_reviewed_and_sent_out_again_while_another_still_researches(tmp_path: Path) -> None:
    place = Held(**ENGINES)
    trace = ask(tmp_path, "Engines", place, reasoner=Opening(place, weak=(WEAK,)), max_review_iterations=1)
    reviewed = next(i for i, e in enumerate(trace.events) if isinstance(e, SectionReviewed) and e.section == WEAK)
    second = next(i for i, e in enumerate(trace.events) if isinstance(e, SectionStarted) and e.attempt == 2)
    slow = next(i for i, e in enumerate(trace.events) if isinstance(e, SectionWritten) and e.section == SLOW)
    assert reviewed < second < slow
    assert trace.failures == []
    assert _starts(trace.of(SectionStarted)) == {WEAK: 2, "Beta engine": 1, SLOW: 1}


def test_b14_an_attempt_that_brings_nothing_new_is_the_last(tmp_path: Path) -> None:
    reasoner = Strict(*THREE, weak=(WEAK,))
    trace = ask(tmp_path, "Engines", Shelf(**ENGINES), reasoner=reasoner, max_review_iterations=5)
    assert _starts(trace.of(SectionStarted))[WEAK] == 2
    assert [attempt for title, attempt in reasoner.alone if title == WEAK] == [1]


def test_b14_a_second_attempt_that_finds_less_or_fails_does_not_replace_the_first(tmp_path: Path) -> None:
    class Forgetful(Strict):
        async def take_notes(self, section: Section, *args: Any) -> str:
            if section.attempts == 2 and section.title == "Beta engine":
                raise ValueError("broken")
            return await super().take_notes(section, *args) if section.attempts == 1 else ""

    reasoner = Forgetful(*THREE, weak=(WEAK, "Beta engine"))
    trace = ask(tmp_path, "Engines", Shelf(**ENGINES), reasoner=reasoner, max_review_iterations=1)
    for title, words in ((WEAK, "rotary engine"), ("Beta engine", "piston engine")):
        section = next(s for s in trace.report.sections if s.title == title)
        assert words in section.notes
        assert section.status == "completed"
    assert [gap.what for gap in trace.report.gaps if "ValueError" in gap.why] == ["Beta engine"]


@pytest.mark.parametrize("error", [MalformedOutput("no answer that fits", text=""), ValueError("broken")])
def test_b14_a_review_that_fails_costs_only_itself(tmp_path: Path, error: Exception) -> None:
    class Failing(Strict):
        async def review_section(self, section: Section, *args: Any) -> Any:
            if section.title == WEAK:
                raise error
            return await super().review_section(section, *args)

        async def review(self, *args: Any) -> Any:
            raise error

    trace = ask(tmp_path, "Engines", Shelf(**ENGINES), reasoner=Failing(*THREE, weak=("Beta engine",)))
    assert {gap.what for gap in trace.report.gaps if "review" in gap.what} == {f"review: {WEAK}", "review"}
    assert {section.status for section in trace.report.sections} == {"completed"}
    assert all(section.notes for section in trace.report.sections)
    assert _starts(trace.of(SectionStarted)) == {WEAK: 1, "Beta engine": 2, SLOW: 1}
