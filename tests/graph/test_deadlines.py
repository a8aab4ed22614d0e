"""Contract row B14: a section that takes far longer than the others is closed with what it has, and says so."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deep_research.concurrency import Rate
from deep_research.data import Action, ReasonerInfo, SearchResult, Section
from deep_research.events import SectionClosed, SectionReviewed, SectionStarted, SectionWritten
from deep_research.fetch.fetch_policies import HostPace
from deep_research.run_context.deadlines import SectionDeadlines
from tests.graph.harness import Bench, Planner, Shelf, Trace
from tests.graph.test_sections_graph import NOTES, THREE

FOUR = (*THREE, "Delta engine")
LAST, SLOW = "Gamma engine", "Delta engine"
DELTA = "# Delta engine\n\nThe Delta engine is a steam engine that turns at 90 rpm. It was built in 1899."
STUCK = "Delta engine in detail"


class Hanging(Shelf):
    """Never answers one search."""

    async def search(self, query: str, *, limit: int) -> SearchResult:
        if query == STUCK:
            self.asked[query] += 1
            await asyncio.Event().wait()
        return await super().search(query, limit=limit)


class Unhurried(Planner):
    """Searches once more for the slow section; the last section is finished a long time after the others."""

    bench: Bench

    async def next_actions(self, section: Section, brief: Any, turns: Sequence[Any], library: Any) -> Any:
        if section.title != SLOW:
            return await super().next_actions(section, brief, turns, library)
        return [Action(id=f"a{len(turns)}", name="search", query=(SLOW, STUCK)[len(turns)])]

    async def write_section(self, section: Section, *args: Any) -> Any:
        if section.title == LAST:
            await self._others_done()
            self.bench.clock.advance(1000)
        elif section.title != SLOW:
            self.bench.clock.advance(1)
        return await super().write_section(section, *args)

    async def _others_done(self) -> None:
        """Wait until half of the sections are finished, and the slow one hangs."""
        place = self.bench.context.places[0]
        async with asyncio.timeout(20):
            while self.bench.context.deadlines.usual() is None or not place.asked[STUCK]:  # type: ignore[attr-defined] # noqa: ASYNC110 - yields to the others until they are done
                await asyncio.sleep(0)


async def _ask(folder: Path, reasoner: Unhurried, *places: Shelf, **settings: Any) -> Trace:
    place = places[0] if places else Hanging(**NOTES, delta=DELTA)
    settings = {"section_patience": 2, **settings}
    async with Bench(folder, place, reasoner=reasoner, max_review_iterations=0, **settings) as bench:
        reasoner.bench = bench
        return await bench.ask("Engines")


async def test_b14_a_section_that_takes_far_longer_is_closed_with_what_it_has(tmp_path: Path) -> None:
    trace = await _ask(tmp_path, Unhurried(*FOUR))
    (closed,) = trace.of(SectionClosed)
    assert (closed.section, closed.took) == (SLOW, 1002)
    slow = next(section for section in trace.report.sections if section.title == SLOW)
    assert slow.status == "completed"
    assert "90 rpm" in slow.content
    (gap,) = [gap for gap in trace.report.gaps if gap.what == SLOW and gap.codes == ("closed_slow",)]
    assert gap.why in trace.report.report


async def test_b14_a_second_attempt_that_is_closed_leaves_the_text_of_the_first(tmp_path: Path) -> None:
    class Again(Unhurried):
        async def next_actions(self, section: Section, brief: Any, turns: Sequence[Any], library: Any) -> Any:
            if section.title == SLOW and section.attempts == 2:
                return [Action(id="b", name="search", query=STUCK)]
            return await Planner.next_actions(self, section, brief, turns, library)

        async def review_section(self, section: Section, *args: Any) -> Any:
            judged = await super().review_section(section, *args)
            return judged.model_copy(update={"status": "partial", "retry": section.title == SLOW})

    reasoner = Again(*FOUR)
    wanted = {"max_review_iterations": 1, "section_patience": 2}
    async with Bench(tmp_path, Hanging(**NOTES, delta=DELTA), reasoner=reasoner, **wanted) as bench:
        reasoner.bench = bench
        trace = await bench.ask("Engines")
    assert [event.section for event in trace.of(SectionClosed)] == [SLOW]
    slow = next(section for section in trace.report.sections if section.title == SLOW)
    assert slow.status == "completed"
    assert "90 rpm" in slow.content
    assert [event.section for event in trace.of(SectionWritten)].count(SLOW) == 1


async def test_b14_a_review_that_outlasts_its_section_is_not_waited_for(tmp_path: Path) -> None:
    class Pondering(Planner):
        """Never has done with its review of the slow section; the last one is finished a long time after the others."""

        info = ReasonerInfo(kind="model", provider="somebody", models={})
        works_ahead = True
        ponders = asyncio.Event()

        async def review_section(self, section: Section, *args: Any) -> Any:
            if section.title == SLOW:
                self.ponders.set()
                await asyncio.Event().wait()
            return await super().review_section(section, *args)

        async def write_section(self, section: Section, *args: Any) -> Any:
            if section.title == LAST:
                async with asyncio.timeout(20):
                    await self.ponders.wait()
                    while bench.context.deadlines.usual() is None:  # noqa: ASYNC110 - yields to the others until they are done
                        await asyncio.sleep(0)
                bench.clock.advance(1000)
            elif section.title != SLOW:
                bench.clock.advance(1)
            return await super().write_section(section, *args)

    place = Shelf(**NOTES, delta=DELTA)
    wanted = {"max_review_iterations": 1, "section_patience": 2}
    async with Bench(tmp_path, place, reasoner=Pondering(*FOUR), **wanted) as bench:
        trace = await bench.ask("Engines")
    # The last one took as long itself.
    assert {event.section for event in trace.of(SectionClosed)} == {SLOW, LAST}
    slow = next(section for section in trace.report.sections if section.title == SLOW)
    assert "90 rpm" in slow.content
    assert ("closed_slow",) in [gap.codes for gap in trace.report.gaps if gap.what == SLOW]


def _finished(deadlines: SectionDeadlines, *took: float) -> SectionDeadlines:
    for number, seconds in enumerate(took):
        deadlines.start(f"s{number}", 0)
        deadlines.finish(f"s{number}", seconds)
    return deadlines


@pytest.mark.parametrize(
    ("patience", "took", "running", "left"),
    [
        (2, (10, 30, 20), 1, 40),  # twice the middle one
        (2, (3, 3), 2, 20),  # at least so many seconds
        (2, (10,), 2, None),  # fewer than half are finished
        (0, (10, 30, 20), 1, None),  # as long as it likes
    ],
)
def test_b14_how_long_a_section_may_take(patience: float, took: Sequence[float], running: int, left: object) -> None:
    deadlines = _finished(SectionDeadlines(patience, 20), *took)
    for number in range(running):
        deadlines.start(f"slow{number}", 0)
    assert deadlines.left("slow0", 0) == left


def test_b14_all_attempts_of_a_researcher_count_and_an_interruption_forgets_nothing() -> None:
    earlier = [
        SectionStarted(section="a", attempt=1, seconds=0),
        SectionStarted(section="b", attempt=1, seconds=1),
        SectionWritten(section="a", status="completed", sources=1, claims=1, supported=1, cut=0, seconds=11),
        SectionReviewed(section="a", attempt=1, status="sufficient", score=9, retry=False, seconds=11),
        SectionWritten(section="b", status="completed", sources=1, claims=1, supported=1, cut=0, seconds=13),
        SectionReviewed(section="b", attempt=1, status="partial", score=4, retry=True, seconds=14),
        SectionStarted(section="b", attempt=2, seconds=14),
    ]
    deadlines = SectionDeadlines(2, 5, earlier)
    assert deadlines.usual() == 11
    # A further attempt has seven tenths of the patience.
    assert deadlines.left("b", 14) == pytest.approx(0.7 * 22 - 13)


async def test_b14_a_section_without_anything_is_not_closed_and_errors_come_as_themselves() -> None:
    deadlines = _finished(SectionDeadlines(2, 5), 1, 1)
    deadlines.start("slow", 0)

    async def answer() -> str:
        return "something"

    async def fail() -> str:
        raise ValueError("broken")

    assert await deadlines.within("slow", [answer()], lambda: 100, has_notes=False) == ["something"]
    hanging = asyncio.Event().wait()
    assert await deadlines.within("slow", [answer(), hanging], lambda: 100, has_notes=False) == ["something", None]
    assert await deadlines.within("slow", [asyncio.Event().wait()], lambda: 100, has_notes=True) == [None]
    with pytest.raises(ValueError, match="broken"):
        await deadlines.within("slow", [fail(), asyncio.Event().wait()], lambda: 0, has_notes=True)


async def test_waiting_for_a_turn_at_a_source_is_not_the_time_of_a_section() -> None:
    deadlines = _finished(SectionDeadlines(patience=2, least=0.05), 0.01)
    began = time.monotonic()
    deadlines.start("waiting", 0.0)
    pace = HostPace()

    async def ask() -> str:
        for _ in range(3):
            async with pace.turn("api.test", Rate(5.0)):
                pass
        return "answered"

    (answer,) = await deadlines.within("waiting", [ask()], lambda: time.monotonic() - began, has_notes=True)
    assert answer == "answered"
    assert deadlines.took("waiting", time.monotonic() - began) < 0.2
