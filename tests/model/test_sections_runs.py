"""Whole runs of the default workflow over HTTP, rows B4–B6, B8, B9 and B12."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from deep_research.api import build_deep_research_graph, run_deep_research
from deep_research.cli.main import run as command
from deep_research.events import Discovered, Planned, Searched, SectionStarted
from tests.model.harness import ENGINES, PLAN, QUESTION, assert_presentable, research, served, steps
from tests.runs.running import Ran, engines
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, passages_in, step_of


def researched(ran: Ran) -> list[str]:
    """The searches made by researchers, not those that look around before the plan."""
    return [event.query for event in ran.of(Searched) if event.section]


def lines_between(report: str, start: str, end: str) -> str:
    """The part of a report between two of its headings."""
    return report.partition(f"\n## {start}\n")[2].partition(f"\n## {end}\n")[0]


def test_b4_a_list_question_is_looked_around_for_first_and_planned_from_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch, ScriptedResearcher(query_type="list", output_format="list", sentences=3)) as provider:
        ran = research(tmp_path, "Which kinds of engines are there?")
    (found,) = ran.of(Discovered)
    assert {"Alpha engine", "Beta engine", "Gamma engine"} <= set(found.entities)
    assert {section.title for section in ran.report.sections} >= set(ENGINES)
    order = [step_of(call.request) for call in provider.calls]
    assert order.index("entities") < order.index("plan") < order.index("write_section")
    assert_presentable(ran)


def test_b5_a_plan_of_the_model_is_kept_to_seven_independent_sections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {f"Part {n} of engines": [f"engine {n}"] for n in range(1, 11)}
    with served(monkeypatch, ScriptedResearcher(sections=many, sentences=1)):
        ran = research(tmp_path, max_review_iterations=0)
    (planned,) = ran.of(Planned)
    assert len(planned.sections) == len(set(planned.sections)) == 7


class Greedy:
    """Its researchers search one thing after the other and never say that they are done."""

    def __init__(self, at_once: int) -> None:
        self._play = ScriptedResearcher(sections=PLAN, sentences=3)
        self._at_once = at_once
        self._made = 0

    def __call__(self, request: Request) -> Any:
        if step_of(request) != "research":
            return self._play(request)
        self._made += self._at_once
        wanted = [f"engine {n}" for n in range(self._made - self._at_once, self._made)]
        return Reply(tool_calls=tuple(Call("search", {"query": query, "source": ""}) for query in wanted))


@pytest.mark.parametrize(("limit", "at_once"), [(3, 1), (5, 2), (10, 4)])
def test_b6_a_researcher_makes_at_most_so_many_tool_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, at_once: int
) -> None:
    with served(monkeypatch, Greedy(at_once)):
        ran = research(tmp_path, max_tool_calls_per_researcher=limit, max_review_iterations=0, depth="deep")
    assert len(researched(ran)) == limit * len(ran.of(SectionStarted)) == limit * len(ENGINES)
    assert_presentable(ran)


def test_b6_thinking_searches_nowhere_and_research_complete_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = ScriptedResearcher(sections=PLAN, sentences=3)

    def thinking(request: Request) -> Any:
        reply = play(request)
        thought = any(call["name"] == "think" for m in request["messages"] for call in m["tool_calls"])
        if step_of(request) == "research" and not thought:
            return Reply(tool_calls=(Call("think", {"thought": "I know of 7919 engines."}),))
        return reply

    with served(monkeypatch, thinking) as provider:
        ran = research(tmp_path, max_review_iterations=0)
    assert set(researched(ran)) == {query for queries in PLAN.values() for query in queries}
    assert steps(provider)["research"] == 2 * len(ENGINES), (
        "one turn that thinks, one that ends it; the searches of the plan are made without asking"
    )
    assert "I know of 7919" not in ran.report.report
    for section in ran.report.sections:
        assert section.content
        assert section.sources
        assert section.key_findings


def test_b8_the_report_has_its_parts_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch):
        report = research(tmp_path).report
    headings = ["Abstract", *ENGINES, "Conclusion and outlook", "References"]
    places = [report.report.index(f"\n## {heading}\n") for heading in headings]
    assert all(a < b for a, b in pairwise(places))
    assert report.report.startswith("# ")
    for section in report.sections:
        assert section.content in report.report
    cited = {source for section in report.sections for source in section.sources}
    assert cited <= {reference.source for reference in report.references}


def test_b8_a_report_is_composed_from_the_sections_and_what_they_cite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch) as provider:
        report = research(tmp_path).report
    (call,) = [call for call in provider.calls if step_of(call.request) == "compose"]
    cited = {key for claim in report.claims if claim.stands for key in claim.passages}
    assert {shown.id for shown in passages_in(call.request)} <= cited
    assert "7919" not in call.request["messages"][-1]["text"], "what was cut is not summed up"
    assert lines_between(
        report.report, "Abstract", "Key findings" if "## Key findings" in report.report else ENGINES[0]
    )


async def test_b9_configurable_reaches_the_model_and_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch) as provider:
        graph = build_deep_research_graph(model_provider="compatible", model_name="scripted")
        values = {
            "max_tool_calls_per_researcher": 3,
            "max_review_iterations": 0,
            "docs": [str(engines(tmp_path / "n"))],
        }
        result = await run_deep_research(QUESTION, graph, {"configurable": values})
    assert result
    assert {call.request["model"] for call in provider.calls} == {"scripted"}
    turns = [c for c in provider.calls if step_of(c.request) == "research"]
    assert turns
    assert all("Calls left for this section: 1;" in call.request["prompt"] for call in turns)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("decide", {"question": "engines"}, "next_action"),
        ("analyze", {"question": QUESTION}, "query_type"),
        ("plan", {"question": QUESTION}, "sections"),
        (
            "review",
            {"question": QUESTION, "sections": [{"title": "Alpha engine", "content": "It turns."}]},
            "is_sufficient",
        ),
    ],
)
def test_b12_one_command_runs_one_node_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    given: dict[str, Any],
    said: str,
) -> None:
    path = tmp_path / "input.json"
    path.write_text(json.dumps(given), "utf-8")
    with served(monkeypatch) as provider:
        code = command(["step", name, "--input", str(path), "--json", "-p", "compatible", "--model", "scripted"])
    assert code == 0
    assert said in capsys.readouterr().out
    assert steps(provider) == {name: 1}


def test_a_researcher_that_has_made_a_batch_of_calls_is_not_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch, Greedy(4)) as provider:
        ran = research(tmp_path, max_tool_calls_per_researcher=10, max_review_iterations=0)
    asked = [call for call in provider.calls if step_of(call.request) == "research"]
    assert len(asked) == len(ran.of(SectionStarted)) == len(ENGINES)
    assert_presentable(ran)


def test_the_outline_of_a_deep_report_is_revised_once_by_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {"Alpha engine": ["Alpha engine"], "Beta engine": ["Beta engine"], "Gamma engine": ["Gamma engine"]}
    merged = {"Piston and rotary engines": ["Alpha engine", "Beta engine"], "Gamma engine": ["Gamma engine"]}
    script = ScriptedResearcher(sections=first, sentences=4, revised=merged)
    with served(monkeypatch, script) as provider:
        ran = research(tmp_path, depth="deep", max_review_iterations=0)
    (revision,) = [call.request for call in provider.calls if step_of(call.request) == "revise_plan"]
    assert "<passage" in revision["prompt"]
    assert [event.sections for event in ran.of(Planned)] == [tuple(first), tuple(merged)]
    assert [section.title for section in ran.report.sections] == list(merged)
    searched = [event for event in ran.of(Searched) if event.query == "Beta engine"]
    assert [event.reused for event in searched][:2] == [False, True], (
        "what the outline was revised by is not searched again"
    )
    assert_presentable(ran)


def test_the_outline_of_other_reports_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch, ScriptedResearcher(sections=PLAN, sentences=4, revised={"Else": ["else"]})) as provider:
        ran = research(tmp_path)
    assert "revise_plan" not in {step_of(call.request) for call in provider.calls}
    assert [section.title for section in ran.report.sections] == list(PLAN)


def test_b7_what_a_last_review_faults_in_a_sentence_reaches_the_writer_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = ScriptedResearcher(sections=PLAN, sentences=3, slips=False)

    def doubting(request: Request) -> Any:
        """Fault the first sentence of every section."""
        last = request["messages"][-1]["text"]
        if step_of(request) == "review_section":
            sentence = re.search(r"<section[^>]*>\n(.+?)\s*\[s", last)
            fault = [f"“{sentence[1]}” goes too far"] if sentence else []
            return Reply(data={"status": "sufficient", "score": 7, "missing": [], "queries": [], "faults": fault})
        return play(request)

    with served(monkeypatch, doubting) as provider:
        ran = research(tmp_path)
    (asked,) = [call.request["messages"][-1]["text"] for call in provider.calls if step_of(call.request) == "compose"]
    assert all(f"- {title}: “" in asked for title in ENGINES)
    assert asked.count("” goes too far") == len(ENGINES)
    assert_presentable(ran)
