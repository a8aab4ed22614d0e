"""Whole runs over HTTP, rows B13, D1 and D3: the quick answer, the supervisor's way, and a researcher's tools."""

from pathlib import Path
from typing import Any

import pytest

from tests.model.harness import ENGINES, PLAN, assert_presentable, research, served, steps
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of


class Fumbling(ScriptedResearcher):
    """After the searches of the plan makes three calls of which two cannot be carried out."""

    def __call__(self, request: Request) -> Any:
        called = [call["name"] for message in request["messages"] for call in message["tool_calls"]]
        if step_of(request) != "research" or "read" in called:
            return super().__call__(request)
        name = self.section_of(request)
        return Reply(
            tool_calls=(
                Call("search", {"query": f"{name} speed weight", "source": ""}),
                Call("read", {"source": "s999"}),
                Call("open_the_pod_bay_doors", {"now": True}),
            )
        )


def test_b13_a_quick_answer_is_one_researcher_with_the_same_tools_and_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch) as provider:
        ran = research(tmp_path, "How fast does the Alpha engine turn?", workflow="quick")
    made = steps(provider)
    assert made["write_section"] == 1
    assert not made.keys() & {"decide", "plan", "review", "review_section", "compose"}
    assert len(ran.report.sections) == 1
    assert any(claim.stands and claim.passages for claim in ran.report.claims)
    assert_presentable(ran)


def test_d1_brief_then_supervisor_and_its_tools_then_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch) as provider:
        ran = research(tmp_path, workflow="supervisor")
    order = [step_of(call.request) for call in provider.calls]
    assert order.index("plan") < order.index("supervise") < order.index("write_section") < order.index("compose")
    supervised = [call.request for call in provider.calls if step_of(call.request) == "supervise"]
    offered = set(supervised[0]["tools"])
    assert offered == {"conduct_research", "research_complete", "think"}
    assert len(supervised) > 1
    assert {section.title for section in ran.report.sections if section.content} == set(ENGINES)
    assert_presentable(ran)


def test_d3_tools_run_together_and_one_that_fails_tells_the_model_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch, Fumbling(sections=PLAN, sentences=4)) as provider:
        ran = research(tmp_path, workflow="supervisor")
    second = next(
        call.request
        for call in provider.calls
        if step_of(call.request) == "research" and "s999" in call.request["prompt"]
    )
    *found, unread, unknown = (message["text"] for message in second["messages"] if message["role"] == "tool")
    assert "<passage" in found[0]
    assert unread == "There is no source s999 in the library."
    assert "there is no tool named open_the_pod_bay_doors" in unknown
    assert "pod_bay" not in ran.report.report
    assert_presentable(ran)


@pytest.mark.parametrize("most", [1, 2])
def test_d3_the_calls_of_a_researcher_are_limited(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch) as provider:
        ran = research(tmp_path, workflow="supervisor", max_react_tool_calls=most)
    shown = [
        sum(message["role"] == "tool" for message in call.request["messages"])
        for call in provider.calls
        if step_of(call.request) == "research"
    ]
    assert max(shown, default=0) <= most
    looked_around = 2
    assert ran.report.ledger.searches <= most * len(ENGINES) + looked_around
    assert_presentable(ran)
