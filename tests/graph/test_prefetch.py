"""What does not depend on the user's answer begins beside intake, is used once, and is dropped when it is not wanted."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import (
    Clarification,
    Contradiction,
    Decision,
    QueryAnalysis,
    Question,
    ReasonerInfo,
    Review,
    SearchResult,
    Section,
    SectionReview,
    Side,
)
from deep_research.errors import ProviderDown, Unreachable
from deep_research.events import Searched
from deep_research.run_context.prefetch import Prefetch
from tests.graph.harness import Bench, Planner, Shelf, Trace
from tests.steering.harness import ENGINES, QUESTION, TITLES

REFINED = "Which kinds of engines are there, what turns in them, and what are they used for?"


class Waiting(Planner):
    """Decides only after its analysis and the first search have begun: without prefetch it would wait for ever."""

    def __init__(self, *, asks: bool = False) -> None:
        super().__init__(*TITLES)
        self.analysing, self.searching = asyncio.Event(), asyncio.Event()
        self.analysed: list[str] = []
        self.asks, self.finished = asks, 0

    async def decide(self, question: Question, **kwargs: Any) -> Decision:
        if not question.history:
            await self.analysing.wait()
            await self.searching.wait()
        focus = ("kinds", "speed", "use")
        if self.asks and not question.history:
            asked = Clarification(question="Which engines?", options=("Boats", "Trucks"), missing_info="scope")
            return Decision(next_action="NEED_CLARIFICATION", confidence=0.3, clarification=asked)
        return Decision(
            next_action="START_RESEARCH", confidence=0.95, goal=REFINED, refined_question=REFINED, research_focus=focus
        )

    async def analyze(self, question: Question) -> QueryAnalysis:
        self.analysed.append(question.text)
        self.analysing.set()
        if self.asks and not question.history:
            await asyncio.Event().wait()
        self.finished += 1
        return QueryAnalysis(query_type="general", output_format="prose")


class Watched(Shelf):
    """Says when it is first searched."""

    def __init__(self, begun: asyncio.Event, error: Exception | None = None) -> None:
        super().__init__("shelf", **ENGINES)
        self._begun, self._error = begun, error
        self.calls: list[str] = []

    async def search(self, query: str, *, limit: int) -> SearchResult:
        self._begun.set()
        self.calls.append(query)
        if self._error is not None and len(self.calls) == 1:
            raise self._error
        return await super().search(query, limit=limit)


def _ask(folder: Path, place: Shelf, reasoner: Waiting, *, answer: str = "", **settings: Any) -> Trace:
    async def work() -> Trace:
        bench = Bench(folder, place, reasoner=reasoner, **settings)
        prefetch = Prefetch(enabled=True)
        bench.context = replace(bench.context, prefetch=prefetch)
        async with bench:
            trace = await bench.ask(QUESTION)
            trace = await bench.answer(answer) if answer else trace
            await prefetch.drop()
            return trace

    return asyncio.run(work())


@pytest.mark.parametrize("workflow", ["sections", "supervisor", "loop"])
def test_analysis_and_first_search_run_beside_intake_and_are_made_once(tmp_path: Path, workflow: str) -> None:
    reasoner = Waiting()
    place = Watched(reasoner.searching)
    trace = _ask(tmp_path, place, reasoner, workflow=workflow)
    assert reasoner.analysed == [QUESTION], "the user's own words, once"
    assert trace.report.answered
    first = [e for e in trace.of(Searched) if not e.section]
    assert [e.query for e in first].count(place.calls[0]) == 1
    assert not any(e.reused for e in first if e.query == place.calls[0])
    assert len(place.calls) == len(set(place.calls))
    assert trace.state["question"].text == REFINED


def test_what_was_begun_is_cancelled_when_the_user_is_asked(tmp_path: Path) -> None:
    reasoner = Waiting(asks=True)
    place = Watched(reasoner.searching)
    trace = _ask(tmp_path, place, reasoner, answer="Boats", allow_clarification=True)
    assert reasoner.analysed == [QUESTION, REFINED]
    assert reasoner.finished == 1, "the first one was cancelled"
    assert trace.failures == []
    assert trace.report.answered


@pytest.mark.parametrize("error", [Unreachable("The shelf is closed.", source="shelf"), ProviderDown("No answer.")])
def test_a_search_that_fails_ahead_fails_once(tmp_path: Path, error: Exception) -> None:
    reasoner = Waiting()
    place = Watched(reasoner.searching, error)
    trace = _ask(tmp_path, place, reasoner)
    assert place.calls.count(place.calls[0]) == 1
    assert len(trace.failures) == 1
    assert trace.report.answered


async def test_what_stands_around_the_sections_is_composed_beside_their_review(tmp_path: Path) -> None:
    class Slow(Planner):
        """Reviews only when the composition has begun."""

        info = ReasonerInfo(kind="model", provider="somebody", models={})
        works_ahead = True
        composed = 0
        begun = asyncio.Event()

        async def compose(self, *args: Any) -> Any:
            self.composed += 1
            self.begun.set()
            return await super().compose(*args)

        async def review(self, *args: Any) -> Any:
            async with asyncio.timeout(20):
                await self.begun.wait()
            return await super().review(*args)

    reasoner = Slow(*TITLES)
    async with Bench(tmp_path, Shelf(**ENGINES), reasoner=reasoner, max_review_iterations=1) as bench:
        bench.context = replace(bench.context, prefetch=Prefetch(enabled=True))
        trace = await bench.ask("Engines")
    assert reasoner.composed == 1
    assert trace.report.answered


async def test_a_report_of_weak_sections_waits_for_their_review_and_is_told_of_contradictions(tmp_path: Path) -> None:
    class Doubting(Planner):
        """Is content with no section, and sees a contradiction when it looks at all of them."""

        info = ReasonerInfo(kind="model", provider="somebody", models={})
        works_ahead = True

        def __init__(self, *titles: str) -> None:
            super().__init__(*titles)
            self.order: list[str] = []
            self.told: list[str] = []

        async def review_section(self, section: Section, *_: Any, **__: Any) -> SectionReview:
            return SectionReview(title=section.title, status="partial")

        async def review(self, *args: Any, **_: Any) -> Review:
            self.order.append("review")
            judged = await super().review(*args)
            _brief, sections, claims, _library = args
            said = next(claim for claim in claims if claim.section == sections[0].title)
            sides = (Side(statement=said.text, passages=said.passages), Side(statement="Else.", passages=("s9p1",)))
            found = Contradiction(topic="engines", sides=sides, prevails="The newer one.")
            update = {"contradictions": (found,), "sections_to_retry": (), "is_sufficient": True}
            return judged.model_copy(update=update)

        async def compose(self, *args: Any, **_: Any) -> Any:
            self.order.append("compose")
            self.told = [fault for section in args[3] for fault in section.faults]
            return await super().compose(*args)

    reasoner = Doubting(*TITLES)
    async with Bench(tmp_path, Shelf(**ENGINES), reasoner=reasoner, max_review_iterations=1) as bench:
        bench.context = replace(bench.context, prefetch=Prefetch(enabled=True))
        trace = await bench.ask("Engines")
    assert trace.report.answered
    assert reasoner.order == ["review", "compose"]
    assert [("Else." in told, "The newer one." in told) for told in reasoner.told] == [(True, True)]
