"""Whole runs with a model: what a result holds, in each workflow, language and wire; nothing is asked twice."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deep_research.api import Run
from deep_research.data import Report
from deep_research.events import (
    Planned,
    ReportPiece,
    ReportReady,
    Revised,
    Searched,
    SectionStarted,
    SectionWritten,
    StageStarted,
    Verified,
)
from tests.model.harness import (
    ENGINES,
    PLAN,
    Scene,
    assert_presentable,
    failing,
    of_step,
    research,
    served,
    steps,
)
from tests.runs.running import Ran
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import SLIP, ScriptedResearcher, passages_in, step_of


def _is_whole(ran: Ran) -> Report:
    assert_presentable(ran)
    report = ran.report
    assert report.answered
    assert len(report.references) >= 3
    assert all(reference.quote for reference in report.references)
    assert all(claim.stands for claim in report.claims if claim.passages)
    assert [problem.outcome for problem in report.problems] == ["revised"]
    assert [edit.old for edit in report.edits if SLIP in edit.old]
    assert SLIP not in report.report
    return report


@pytest.mark.parametrize("workflow", ["sections", "loop", "supervisor"])
def test_each_workflow_comes_to_a_verified_report(scene: Scene, workflow: str) -> None:
    ran = scene.research(workflow=workflow)
    report = _is_whole(ran)
    assert (report.workflow, report.reasoner.kind) == (workflow, "model")
    assert [section.title for section in report.sections] == list(ENGINES)
    assert all("[s" in section.notes and section.key_findings and section.searched for section in report.sections)
    assert {event.section for event in ran.of(SectionStarted)} == set(ENGINES)
    assert all(event.content for event in ran.of(SectionWritten))
    order = list(dict.fromkeys(step_of(call.request) for call in scene.provider.calls))
    middle = {"sections": ["review_section", "review"], "loop": ["review"], "supervisor": []}[workflow]
    lead = ["supervise"] if workflow == "supervisor" else []
    assert order[:-3] == ["decide", "plan", *lead, "research", *middle, "write"]
    assert set(order[-3:]) == {"judge", "examine", "revise"}, "judge and verifier side by side"
    assert [event.stage for event in ran.of(StageStarted)][-2:] == ["report", "verify"]
    assert [(e.problems, e.round) for e in ran.of(Verified)] == [(1, 1), (0, 2)]
    assert [(e.edits, e.failed) for e in ran.of(Revised)] == [(1, 0)]
    assert scene.provider.duplicates == 0
    spent = report.ledger
    assert (spent.model_calls, spent.prompt_tokens) == (len(scene.provider.calls), scene.provider.prompt_tokens)
    assert spent.cached_tokens == scene.provider.cached_tokens


def test_a_quick_answer_is_one_researcher_and_the_same_writer_and_verifier(scene: Scene) -> None:
    ran = scene.quickly()
    report = _is_whole(ran)
    assert len(report.sections) == 1
    assert set(steps(scene.provider)) == {"research", "write", "judge", "examine", "revise"}


class Unsure(ScriptedResearcher):
    """Does not know a name of the question."""

    def _decide(self, request: Request) -> dict[str, Any]:
        return {**super()._decide(request), "unknown_terms": ["Alpha engine"]}


def test_a5_each_researcher_is_told_what_a_name_means(scene: Scene) -> None:
    with scene.served(Unsure(sections=PLAN)) as provider:
        research(scene.folder)
    begun = [
        "".join(m["text"] for m in c.request["messages"]) for c in provider.calls if step_of(c.request) == "research"
    ]
    assert begun
    assert all(re.search(r'Alpha engine: <source title="[^"]+">\[s\d+p\d+\] .*Alpha engine', told) for told in begun)


class Terse(ScriptedResearcher):
    """Writes no more than the opening, so that most of what the notes cite stays out."""

    def _write(self, request: Request) -> Reply:
        return Reply(text="\n\n".join(super()._write(request).text.split("\n\n")[:2]))


def test_b8_sources_of_the_sections_that_the_writer_leaves_out_are_listed(scene: Scene) -> None:
    report = scene.research(Terse(sections=PLAN)).report
    of_sections = {key for section in report.sections for key in section.sources}
    left_out = of_sections - {reference.source for reference in report.references}
    assert left_out
    listed = report.report.partition("that the report does not cite**")[2].partition("\n## ")[0]
    assert listed.count("\n- ") == len(left_out)
    assert all(report.sources[key].title in listed for key in left_out)


def test_the_report_is_streamed_while_it_is_written(scene: Scene) -> None:
    ran = scene.research()
    kinds = [type(event) for event in ran.events]
    pieces = ran.of(ReportPiece)
    (written,) = of_step(scene.provider, "write")
    assert written.reply is not None
    assert len(pieces) > 3
    assert "".join(piece.text for piece in pieces) == written.reply.text
    assert (
        max(n for n, kind in enumerate(kinds) if kind is ReportPiece) < kinds.index(Verified) < kinds.index(ReportReady)
    )
    assert not any("report_piece" in line for line in ran.folder.events.read_text("utf-8").splitlines()), "never kept"


@pytest.mark.parametrize("wire", ["anthropic", "ollama", "openai"])
def test_other_wires_bring_the_same(scene: Scene, wire: str) -> None:
    name = {"anthropic": "claude-sonnet-5", "openai": "gpt-5.4-mini", "ollama": "scripted"}[wire]
    with scene.served(wire=wire, models=(name,)) as provider:
        ran = research(scene.folder, wire=wire, model_name=name)
    _is_whole(ran)
    assert provider.duplicates == 0


def test_c1_the_plan_of_a_loop_is_kept_to_five_sections(scene: Scene) -> None:
    many = {f"Part {n} of engines": [f"engine {n}"] for n in range(1, 11)}
    ran = scene.research(ScriptedResearcher(sections=many, sentences=1), max_review_iterations=0, workflow="loop")
    (planned,) = ran.of(Planned)
    assert len(ran.report.sections) == 5
    assert set(planned.sections) >= {section.title for section in ran.report.sections}


def test_each_role_has_its_model_and_its_longest_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {f"{role}_model": f"{role}-one" for role in ("research", "write", "report")}
    settings |= {"research_max_tokens": 700, "report_max_tokens": 2500, "judge_model": "anthropic:claude-judge"}
    with served(monkeypatch) as provider:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
        ran = research(tmp_path, **settings)
    used = {step_of(call.request): call.request["model"] for call in provider.calls}
    assert used.pop("notes", "write-one") == "write-one"
    assert used == {
        **dict.fromkeys(("decide", "plan", "research"), "research-one"),
        **dict.fromkeys(("write", "revise"), "report-one"),
        **dict.fromkeys(("review_section", "review", "judge", "examine"), "claude-judge"),
    }
    asked = {step_of(call.request): call.request["max_output_tokens"] for call in provider.calls}
    assert (asked["research"], asked["plan"], asked["write"]) == (700, 700, 2500)
    assert sum(ran.report.reasoner.calls.values()) == len(provider.calls)
    assert_presentable(ran)


def test_the_judge_sees_the_cited_passages(scene: Scene) -> None:
    ran = scene.research()
    for call in of_step(scene.provider, "judge"):
        shown = {passage.id for passage in passages_in(call.request)}
        assert shown == {key for claim in ran.report.claims for key in claim.passages}


def test_a_follow_up_is_answered_from_what_was_read_and_verified(scene: Scene) -> None:
    with scene.served() as provider:
        ran = research(scene.folder)
        asked, searched = len(provider.calls), ran.report.ledger.searches
        answer = asyncio.run(Run(ran.folder, ran.home).follow_up("How heavy is the Beta engine?"))
    assert (answer.status, answer.found_in) == ("finished", "library")
    report = answer.report
    assert report is not None
    assert any(claim.stands for claim in report.claims)
    assert SLIP not in report.report
    assert report.ledger.model_calls == len(provider.calls) - asked
    assert report.ledger.searches == 0 < searched
    assert provider.duplicates == 0
    assert {step_of(call.request) for call in provider.calls[asked:]} >= {"decide", "write", "judge"}


def test_a_section_whose_model_calls_all_fail_costs_only_itself(scene: Scene) -> None:
    researcher = ScriptedResearcher(sections=PLAN, sentences=4)
    script = failing(researcher, "content_filter", where=lambda r: researcher.section_of(r) == "Beta engine")
    ran = scene.research(script)
    assert_presentable(ran)
    assert all("rpm" in section.notes for section in ran.report.sections), "it is done without the model"
    assert any("Beta engine" in gap.what and "without_model" in gap.codes for gap in ran.report.gaps)


@pytest.mark.parametrize(("sent_back", "limit", "reviews"), [(1, 5, 2), (9, 3, 3)])
def test_c1_sufficient_evidence_or_the_limit_ends_a_loop(
    scene: Scene, sent_back: int, limit: int, reviews: int
) -> None:
    script = ScriptedResearcher(sections=PLAN, sentences=1, slips=False, retry=["Beta engine"] * sent_back)
    ran = scene.research(script, workflow="loop", max_iterations=limit)
    assert steps(scene.provider)["review"] == reviews
    searched = [event.query for event in ran.of(Searched)]
    assert len(searched) == len(set(searched))
    more = {query.rpartition(" in detail ")[2] for query in searched if " in detail " in query}
    assert more == {str(n) for n in range(1, reviews)}
    assert [c for c in of_step(scene.provider, "research") if "more on Beta engine" in c.request["prompt"]]
    assert_presentable(ran)


class Planner(ScriptedResearcher):
    """A scripted researcher that gives these plans, one after the other: titles, each with what it is about."""

    def __init__(self, *plans: list[tuple[str, str]], **more: Any) -> None:
        super().__init__(**more)
        self.plans = list(plans)

    def _plan(self, request: Request) -> dict[str, Any]:
        titles = self.plans.pop(0) if len(self.plans) > 1 else self.plans[0]
        sections = [{"title": t, "description": about, "queries": [f"{t} {about}"]} for t, about in titles]
        return {"title": "Engines", "objective": "Answer.", "scope": "", "sections": sections}


THREE = [("Alpha engine", "speed"), ("Beta engine", "speed"), ("Gamma engine", "speed")]


@pytest.mark.parametrize(
    ("plans", "titles", "workflow"),
    [([THREE[:1], THREE], 3, "sections"), ([THREE[:2]], 2, "loop")],
)
def test_b5_a_plan_of_too_few_sections_is_asked_for_once_more(
    plans: list[Any], titles: int, workflow: str, scene: Scene
) -> None:
    report = scene.research(Planner(*plans), workflow=workflow).report
    assert [section.title for section in report.sections] == [title for title, _ in THREE[:titles]]
    assert steps(scene.provider)["plan"] == 2


def test_b5_sections_with_one_title_are_told_apart(scene: Scene) -> None:
    same = [("Alpha engine", "speed"), ("Alpha engine", "weight"), ("Alpha engine", "speed"), ("Beta engine", "speed")]
    report = scene.research(Planner(same)).report
    assert [section.title for section in report.sections] == ["Alpha engine", "Alpha engine (2)", "Beta engine"]


def test_c3_a_finding_that_names_no_passage_that_exists_is_none(scene: Scene) -> None:
    play = ScriptedResearcher(sections=PLAN, sentences=4)
    made_up = "- This was never read anywhere, by anybody. [s999p1]\n"

    def script(request: Request) -> Any:
        reply = play(request)
        at = reply.text.find("\n- ") if step_of(request) in ("research", "notes") and not reply.tool_calls else -1
        return replace(reply, text=f"{reply.text[: at + 1]}{made_up}{reply.text[at + 1 :]}") if at >= 0 else reply

    report = scene.research(script, workflow="loop").report
    assert any("[s999p1]" in section.notes for section in report.sections)
    found = [finding for section in report.sections for finding in section.key_findings]
    assert found
    assert not [finding for finding in found if "[s999p1]" in finding]
