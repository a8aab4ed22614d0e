"""Invariants 1–3 from outside: whatever a place or a reasoner does, the report holds only what can be checked."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Document, Found
from deep_research.errors import Blocked, MalformedOutput, StoreError, Unreachable, Unreadable
from deep_research.events import GapFound
from tests.graph.harness import ENGINES, Bench, Broken, Fragile, Planner, Shelf, Trace, ask

TITLES = ("Alpha engine", "Beta engine")
SECRET = "traceback 0xdeadbeef upstream exploded"


def _content(trace: Trace) -> str:
    return "\n".join([*(section.notes for section in trace.report.sections), *(c.text for c in trace.report.claims)])


def test_a_place_that_fails_is_a_gap_and_the_other_still_answers(tmp_path: Path) -> None:
    trace = ask(tmp_path, "Engines", Broken(Blocked(SECRET)), Shelf(**ENGINES), reasoner=Planner(*TITLES))
    assert [s.status for s in trace.report.sections] == ["completed", "completed"]
    assert "3,000 rpm" in trace.report.sections[0].notes
    assert any(gap.why == SECRET and gap.source == "broken" for gap in trace.report.gaps)
    assert SECRET not in _content(trace)
    assert any(event.why == SECRET for event in trace.of(GapFound))


def test_a_loop_whose_place_fails_reports_gaps_and_invents_nothing(tmp_path: Path) -> None:
    trace = ask(tmp_path, "Engines", Broken(Unreachable("down")), reasoner=Planner(*TITLES), workflow="loop")
    assert not trace.report.answered
    assert any(gap.why == "down" for gap in trace.report.gaps)


def test_a_page_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    class Torn(Shelf):
        async def read(self, found: Found) -> Document:
            if found.key.endswith("beta"):
                raise Unreadable(SECRET)
            return await super().read(found)

    trace = ask(tmp_path, "Engines", Torn(**ENGINES), reasoner=Planner(*TITLES), max_review_iterations=0)
    alpha, beta = trace.report.sections
    assert "3,000 rpm" in alpha.notes
    assert "4,500 rpm" not in beta.notes
    assert any(gap.what == "Beta engine" and gap.why == SECRET for gap in trace.report.gaps)
    assert SECRET not in _content(trace)


@pytest.mark.parametrize(
    ("stage", "error"), [("next_move", RuntimeError(SECRET)), ("take_notes", MalformedOutput(SECRET))]
)
def test_a_researcher_that_fails_leaves_its_siblings_alone(tmp_path: Path, stage: str, error: Exception) -> None:
    trace = ask(
        tmp_path,
        "Engines",
        Shelf(**ENGINES),
        reasoner=Fragile(*TITLES, stage=stage, error=error),
        max_review_iterations=0,
    )
    alpha, beta = trace.report.sections
    assert alpha.status == "completed"
    assert "3,000 rpm" in alpha.notes
    assert (beta.status, beta.notes) == ("failed", "")
    assert any(gap.what == "Beta engine" for gap in trace.report.gaps)
    assert SECRET not in _content(trace)


def test_a_full_disk_ends_the_run_instead_of_becoming_a_gap(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        ask(tmp_path, "Engines", Broken(StoreError("full")), Shelf(**ENGINES), reasoner=Planner(*TITLES))


async def test_cancelling_leaves_nothing_running(tmp_path: Path) -> None:
    class Slow(Shelf):
        waiting = asyncio.Event()

        async def search(self, query: str, *, limit: int) -> Any:
            self.waiting.set()
            await asyncio.Event().wait()

    place = Slow(**ENGINES)
    place.waiting = asyncio.Event()
    before = asyncio.all_tasks()
    async with Bench(tmp_path, place, reasoner=Planner(*TITLES)) as bench:
        task = asyncio.create_task(bench.ask("Engines"))
        await asyncio.wait_for(place.waiting.wait(), 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert asyncio.all_tasks() <= before
