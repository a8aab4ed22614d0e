"""Invariants 1–3 from outside: whatever a place or a reasoner does, the report holds only what can be checked."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Composition, Document, Found, SectionDraft, Verdict
from deep_research.errors import Blocked, MalformedOutput, RateLimited, SourceError, StoreError, Unreachable, Unreadable
from deep_research.events import GapFound
from tests.graph.harness import Bench, Broken, Planner, Shelf, Trace, Writer, ask

NOTES = {
    "alpha": "# Alpha engine\n\nThe Alpha engine is a rotary engine that turns at 3,000 rpm. "
    "The Alpha engine was built in 1999 by Rolf Maier in Graz. It weighs 85 kg.",
    "beta": "# Beta engine\n\nThe Beta engine is a piston engine that turns at 4,500 rpm. "
    "The Beta engine was built in 2004 by Anna Holm in Bergen.",
}
TITLES = ("Alpha engine", "Beta engine")
SECRET = "traceback 0xdeadbeef upstream exploded"


def _content(trace: Trace) -> str:
    return "\n".join([*(section.content for section in trace.report.sections), *(c.text for c in trace.report.claims)])


@pytest.mark.parametrize("kind", [SourceError, Unreachable, RateLimited, Blocked, Unreadable])
def test_a_place_that_fails_is_a_gap_and_the_other_still_answers(tmp_path: Path, kind: type[SourceError]) -> None:
    trace = ask(tmp_path, "Engines", Broken(kind(SECRET)), Shelf(**NOTES), reasoner=Planner(*TITLES))
    assert [s.status for s in trace.report.sections] == ["completed", "completed"]
    assert "3,000 rpm" in trace.report.sections[0].content
    assert any(gap.why == SECRET and gap.source == "broken" for gap in trace.report.gaps)
    assert SECRET not in _content(trace)
    assert any(event.why == SECRET for event in trace.of(GapFound))


def test_a_place_with_a_defect_is_a_gap_without_its_inner_text(tmp_path: Path) -> None:
    trace = ask(tmp_path, "Engines", Broken(ZeroDivisionError(SECRET)), Shelf(**NOTES), reasoner=Planner(*TITLES))
    assert "3,000 rpm" in trace.report.sections[0].content
    assert any("ZeroDivisionError" in gap.why for gap in trace.report.gaps)
    assert SECRET not in trace.report.report


@pytest.mark.parametrize("question", ["Which engines are there?", "How does the Alpha engine work?", "Alpha vs Beta"])
def test_every_place_failing_gives_a_report_of_gaps(tmp_path: Path, question: str) -> None:
    trace = ask(tmp_path, question, Broken(Unreachable(SECRET)), Broken(KeyError("x"), name="other"))
    assert not trace.report.answered
    assert trace.report.references == ()
    assert {gap.source for gap in trace.report.gaps} >= {"broken", "other"}
    assert SECRET not in _content(trace)


def test_a_page_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    class Torn(Shelf):
        async def read(self, found: Found) -> Document:
            if found.key.endswith("beta"):
                raise Unreadable(SECRET)
            return await super().read(found)

    trace = ask(tmp_path, "Engines", Torn(**NOTES), reasoner=Planner(*TITLES), max_review_iterations=0)
    alpha, beta = trace.report.sections
    assert "3,000 rpm" in alpha.content
    assert "4,500 rpm" not in beta.content
    assert any(gap.what == "Beta engine" and gap.why == SECRET for gap in trace.report.gaps)
    assert SECRET not in _content(trace)


@pytest.mark.parametrize("stage", ["next_actions", "write_section"])
@pytest.mark.parametrize("error", [MalformedOutput(SECRET), RuntimeError(SECRET)])
def test_a_researcher_that_fails_leaves_its_siblings_alone(tmp_path: Path, stage: str, error: Exception) -> None:
    class Half(Planner):
        async def next_actions(self, section: Any, *args: Any) -> Any:
            self._fail("next_actions", section)
            return await super().next_actions(section, *args)

        async def write_section(self, section: Any, *args: Any) -> Any:
            self._fail("write_section", section)
            return await super().write_section(section, *args)

        def _fail(self, where: str, section: Any) -> None:
            if where == stage and section.title == "Beta engine":
                raise error

    trace = ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=Half(*TITLES), max_review_iterations=0)
    alpha, beta = trace.report.sections
    assert alpha.status == "completed"
    assert "3,000 rpm" in alpha.content
    assert (beta.status, beta.content) == ("failed", "")
    assert any(gap.what == "Beta engine" for gap in trace.report.gaps)
    assert SECRET not in _content(trace)


def test_a_composition_that_fails_leaves_the_sections(tmp_path: Path) -> None:
    class Mute(Planner):
        async def compose(self, *args: Any) -> Composition:
            raise MalformedOutput(SECRET)

    trace = ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=Mute(*TITLES))
    assert "3,000 rpm" in trace.report.report
    assert any(gap.what == "abstract" for gap in trace.report.gaps)


def test_a_judge_that_fails_leaves_claims_unverified_never_contradicted(tmp_path: Path) -> None:
    class Judge(Writer):
        async def judge(self, claims: Any, library: Any, question: str = "") -> Any:
            raise MalformedOutput(SECRET)

    reasoner = Judge("Alpha engine", draft="A rotary engine, the Alpha engine turns at 3,000 rpm. [{p}]")
    trace = ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=reasoner, max_review_iterations=0)
    assert {claim.verdict.kind for claim in trace.report.claims} <= {"supported", "unverified"}
    assert any(gap.why == SECRET for gap in trace.report.gaps)


def test_a_full_disk_ends_the_run_instead_of_becoming_a_gap(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        ask(tmp_path, "Engines", Broken(StoreError("full")), Shelf(**NOTES), reasoner=Planner(*TITLES))


HOSTILE = {
    "an id that does not exist": "The Alpha engine is steered by a crew of nine pilots. [s77p3]",
    "no citation at all": "The Alpha engine is steered by a crew of nine pilots.",
    "a number changed": "The Alpha engine is a rotary engine that turns at 3,500 rpm. [{p}]",
    "a unit changed": "The Alpha engine weighs 85 tonnes. [{p}]",
    "a year changed": "The Alpha engine was built in 1989 by Rolf Maier in Graz. [{p}]",
    "a name swapped": "The Alpha engine was built in 1999 by Anna Holm in Graz. [{p}]",
    "a quotation invented": 'Rolf Maier called it "the finest engine that was ever made on this earth". [{p}]',
    "an address instead of an id": "The Alpha engine is steered by nine pilots. [https://example.org/a]",
    "a number instead of an id": "The Alpha engine is steered by nine pilots. [1]",
    "the text of an error": "Error: 503 Service Unavailable, upstream connect error. [{p}]",
    "negated": "The Alpha engine is not a rotary engine and does not turn at 3,000 rpm. [{p}]",
}
TRUE = "The Alpha engine is a rotary engine that turns at 3,000 rpm. [{p}]"


@pytest.mark.parametrize("how", sorted(HOSTILE))
def test_what_a_hostile_reasoner_writes_is_cut_and_kept_with_its_reason(tmp_path: Path, how: str) -> None:
    lie = HOSTILE[how]
    said = lie.split(" [")[0]
    reasoner = Writer("Alpha engine", draft=f"{TRUE} {lie}", findings=(lie,))
    trace = ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=reasoner, max_review_iterations=0)
    (section,) = trace.report.sections
    assert "3,000 rpm" in section.content
    assert said not in section.content
    assert not any(said in finding for finding in section.key_findings)
    judged = [claim for claim in trace.report.claims if claim.text.rstrip(".") in said or said in claim.text]
    assert judged
    assert all(not claim.stands and claim.verdict.reason for claim in judged)
    assert judged[0].text not in trace.report.report
    assert "cut" in trace.report.report.split("How this was checked")[1]
    assert "s77" not in trace.report.sources


def test_a_hostile_composition_is_checked_like_a_section(tmp_path: Path) -> None:
    lie = "The Alpha engine turns at 9,999 rpm."

    class Composer(Planner):
        async def compose(self, *args: Any) -> Composition:
            return Composition(abstract=f"{lie} [s1p1]", conclusion=f"{lie} [s99p9]")

    trace = ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=Composer(*TITLES), max_review_iterations=0)
    assert lie not in trace.report.report
    judged = [claim for claim in trace.report.claims if claim.text == lie]
    assert judged
    assert not any(claim.stands for claim in judged)


def test_a_wrong_citation_of_a_true_sentence_is_put_right(tmp_path: Path) -> None:
    class Confused(Planner):
        async def write_section(self, section: Any, brief: Any, passages: Any, library: Any) -> SectionDraft:
            wrong = next(p.id for p in library.passages("s1") + library.passages("s2") if "Beta engine" in p.text)
            return SectionDraft(content=TRUE.replace("{p}", wrong))

    trace = ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=Confused("Engine"), max_review_iterations=0)
    (claim,) = [claim for claim in trace.report.claims if claim.section]
    assert claim.stands
    assert "3,000 rpm" in trace.report.passages[claim.passages[0]].text


def test_a_judge_cannot_overrule_the_mechanical_checks(tmp_path: Path) -> None:
    class Flatterer(Writer):
        async def judge(self, claims: Any, library: Any, question: str = "") -> Any:
            return [Verdict(kind="supported", reason="looks fine to me") for _ in claims]

    lie = "The Alpha engine is a rotary engine that turns at 3,500 rpm."
    reasoner = Flatterer("Alpha engine", draft=f"{lie} [{{p}}]")
    trace = ask(tmp_path, "Engines", Shelf(**NOTES), reasoner=reasoner, max_review_iterations=0)
    assert lie not in trace.report.sections[0].content


async def test_cancelling_leaves_nothing_running(tmp_path: Path) -> None:
    class Slow(Shelf):
        waiting = asyncio.Event()

        async def search(self, query: str, *, limit: int) -> Any:
            self.waiting.set()
            await asyncio.Event().wait()

    place = Slow(**NOTES)
    place.waiting = asyncio.Event()
    before = asyncio.all_tasks()
    async with Bench(tmp_path, place, reasoner=Planner(*TITLES)) as bench:
        task = asyncio.create_task(bench.ask("Engines"))
        await asyncio.wait_for(place.waiting.wait(), 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert asyncio.all_tasks() <= before
