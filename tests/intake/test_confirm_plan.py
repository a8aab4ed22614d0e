"""Contract row A6 in the graphs: the plan is shown, confirmed, changed, planned anew or rejected, in every workflow."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Asked, Brief, Decision, PlanEdit, Question
from deep_research.events import Planned
from deep_research.graph.plan_nodes import MAX_PLAN_ROUNDS
from deep_research.runs.steering_inbox import sections_of
from tests.graph.harness import ENGINES, Bench, Planner, Shelf, Trace
from tests.model.harness import PLAN, served
from tests.runs.running import begin, engines, go_on
from tests.support.scripted_researcher import ScriptedResearcher, step_of

TITLES = ("Alpha engine", "Beta engine", "Gamma engine")
WORKFLOWS = ("sections", "supervisor", "loop")


def _shelf() -> Shelf:
    price = "# Prices\n\nThe price of the Alpha engine is 900 euros. Prices fell in 2019."
    return Shelf(**ENGINES, price=price)


class Careful(Planner):
    """Plans as told and finds that much depends on it; reads no answer to its plan."""

    def __init__(self, *titles: str, action: Any = "CONFIRM_PLAN") -> None:
        super().__init__(*titles)
        self.action = action

    async def decide(self, question: Question, **more: Any) -> Decision:
        judged = await super().decide(question, **more)
        return judged.model_copy(update={"next_action": self.action})

    async def read_plan_edits(self, answer: str, brief: Brief) -> Sequence[PlanEdit]:
        return ()


def _bench(folder: Path, workflow: str = "sections", **settings: Any) -> Bench:
    made = {"confirm_plan": True, "workflow": workflow, "max_review_iterations": 0, "max_iterations": 1, **settings}
    return Bench(folder, _shelf(), reasoner=Careful(*TITLES, action="START_RESEARCH"), **made)


def _shown(trace: Trace) -> list[str]:
    (value,) = trace.interrupts
    assert value["kind"] == "plan"
    assert value["question"]
    return [section["title"] for section in value["plan"]["sections"]]


def _written(trace: Trace) -> list[str]:
    return [section.title for section in trace.report.sections]


@pytest.mark.parametrize("workflow", WORKFLOWS)
async def test_a6_changes_are_shown_again_until_confirmed_and_never_planned_over(workflow: str, tmp_path: Path) -> None:
    async with _bench(tmp_path, workflow) as bench:
        waiting = await bench.ask("engines")
        assert _shown(waiting) == list(TITLES)
        assert {"title", "objective"} <= waiting.interrupts[0]["plan"].keys()
        assert "report" not in waiting.state
        assert _shown(await bench.answer("drop 2")) == ["Alpha engine", "Gamma engine"]
        assert _shown(await bench.answer("添加：Prices — price of the Alpha engine")) == [
            "Alpha engine",
            "Gamma engine",
            "Prices",
        ]
        assert _shown(await bench.answer("이동 3 1")) == ["Prices", "Alpha engine", "Gamma engine"]
        done = await bench.answer("확인")
    assert _written(done) == ["Prices", "Alpha engine", "Gamma engine"]
    assert bench.context.reasoner.plans == 1  # type: ignore[attr-defined]
    assert done.of(Planned)[-1].sections == ("Prices", "Alpha engine", "Gamma engine")


async def test_a6_what_nobody_can_read_is_asked_back_and_undoes_nothing(tmp_path: Path) -> None:
    async with Bench(tmp_path, _shelf(), confirm_plan=True, max_review_iterations=0) as bench:
        titles = _shown(await bench.ask("How heavy is the Beta engine? Who built the Alpha engine?"))
        after = await bench.answer("drop 9; drop 1")
        assert _shown(after) == titles[1:]
        assert "drop 9" in after.interrupts[0]["question"]
        again = await bench.answer("a little brighter, perhaps")
    assert _shown(again) == titles[1:]
    assert "a little brighter" in again.interrupts[0]["question"]
    assert "drop 9" not in again.interrupts[0]["question"]


def test_a6_a_model_reads_an_answer_and_code_changes_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edits = [{"change": "add", "text": "Prices", "detail": "what they cost"}, {"change": "drop", "sections": [9]}]
    asked: list[Asked] = []

    def answer(what: Asked) -> str:
        asked.append(what)
        return ("drop 2", "money matters most to me", "yes")[len(asked) - 1]

    with served(monkeypatch, ScriptedResearcher(sections=PLAN, edits=edits)) as provider:
        made = {
            "model_provider": "compatible",
            "model_name": "scripted",
            "confirm_plan": True,
            "max_review_iterations": 0,
        }
        ran = go_on(begin("engines", home=tmp_path / "home", docs=[engines(tmp_path / "docs")], **made), answer=answer)
    first, _, *rest = list(PLAN)
    shown = [[s.title for s in one.brief.sections] for one in asked if one.brief]
    assert shown == [list(PLAN), [first, *rest], [first, *rest, "Prices"]]
    assert "no section 9" in asked[2].question
    steps = [step for step in map(step_of, (call.request for call in provider.calls)) if "plan" in step]
    assert steps == ["plan", "edit_plan"]
    assert [section.title for section in ran.report.sections] == [first, *rest, "Prices"]


def test_a6_the_sections_of_a_run_are_those_of_its_plan_as_it_stands(tmp_path: Path) -> None:
    listed: list[list[str]] = []

    def answer(_: Asked) -> str:
        listed.append(sections_of(ran.folder))
        return ("rename 1: Speed\nadd: Prices", "yes")[len(listed) - 1]

    made = {"confirm_plan": True, "model_provider": "finder"}
    ran = begin("Alpha engine? Beta engine?", home=tmp_path / "home", docs=[engines(tmp_path / "docs")], **made)
    go_on(ran, answer=answer)
    (first, *rest), edited = listed
    assert edited == sections_of(ran.folder) == ["Speed", *rest, "Prices"]
    assert first not in edited


async def test_a6_who_never_confirms_is_not_researched_for(tmp_path: Path) -> None:
    async with _bench(tmp_path) as bench:
        done = await bench.ask("engines")
        for _ in range(MAX_PLAN_ROUNDS):
            assert done.interrupts
            done = await bench.answer("more")
    assert done.interrupts == []
    assert "report" not in done.state


@pytest.mark.parametrize("shown", [True, False])
async def test_a6_a_reasoner_may_have_the_plan_confirmed_only_where_it_is_allowed(shown: bool, tmp_path: Path) -> None:
    made = {"reasoner": Careful(*TITLES), "max_review_iterations": 0, "allow_clarification": shown}
    async with Bench(tmp_path, _shelf(), **made) as bench:
        trace = await bench.ask("the Alpha and the Beta engine")
    assert bool(trace.interrupts) is shown
    assert ("report" in trace.state) is not shown
    if shown:
        assert trace.interrupts[0]["required"] is False
