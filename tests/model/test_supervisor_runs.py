"""Whole runs of the supervisor over HTTP, rows D2, D4, D5 and D8: side by side, overflow, retries, failures."""

from pathlib import Path
from typing import Any

import pytest

from tests.model.harness import ENGINES, PLAN, assert_presentable, failing, research, served, standing, steps
from tests.support.scripted_provider import RecordedCall, ScriptedProvider
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, passages_in, step_of

SECRET = "upstream exploded at 0xdeadbeef"


class Script:
    """Plays a research; `first` are the supervisor's tool calls of its first turns, which then ends the research."""

    def __init__(self, *first: tuple[Call, ...]) -> None:
        self.play = ScriptedResearcher(sections=PLAN, sentences=4)
        self._turns = first or (tuple(delegation(name) for name in ENGINES),)

    def __call__(self, request: Request) -> Any:
        if step_of(request) != "supervise":
            return self.play(request)
        turn = sum(bool(message["tool_calls"]) for message in request["messages"])
        calls = self._turns[turn] if turn < len(self._turns) else (Call("research_complete", {}),)
        return Reply(tool_calls=calls, text="" if calls else "I know enough.")


def delegation(title: str, topic: str = "") -> Call:
    return Call("conduct_research", {"title": title, "research_topic": topic or f"Find out about {title}."})


def supervise(folder: Path, **settings: Any) -> Any:
    return research(folder, workflow="supervisor", **settings)


def told(provider: ScriptedProvider) -> list[str]:
    """What the supervisor was told by its tools, as its last conversation shows it."""
    last = [call for call in provider.calls if step_of(call.request) == "supervise"][-1]
    return [message["text"] for message in last.request["messages"] if message["role"] == "tool"]


def of_step(provider: ScriptedProvider, step: str) -> list[RecordedCall]:
    return [call for call in provider.calls if step_of(call.request) == step]


def test_d2_delegations_are_researched_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch, Script(), latency_seconds=0.05) as provider:
        ran = supervise(tmp_path)
    assert provider.peak_in_flight >= len(ENGINES)
    assert_presentable(ran)


def test_d2_overflow_is_told_and_carried_out_in_the_next_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    think = Call("think", {"thought": "The one that waits comes next."})
    script = Script(tuple(delegation(name) for name in ENGINES), (think,))
    with served(monkeypatch, script) as provider:
        ran = supervise(tmp_path, max_concurrent_research_units=2)
    assert sum(text.startswith("Not begun: at most 2 delegations") for text in told(provider)) == 1
    assert all(section.content for section in ran.report.sections)
    assert not any("Not researched" in gap.why for gap in ran.report.gaps)
    assert_presentable(ran)


@pytest.mark.parametrize("rounds", [1, 2])
def test_d2_rounds_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounds: int) -> None:
    script = Script(*((delegation(name),) for name in ENGINES))
    with served(monkeypatch, script) as provider:
        ran = supervise(tmp_path, max_researcher_iterations=rounds)
    assert steps(provider)["supervise"] == rounds
    assert [bool(section.content) for section in ran.report.sections] == [n < rounds for n in range(len(ENGINES))]
    assert sum(f"{rounds} rounds" in gap.why for gap in ran.report.gaps) == len(ENGINES) - rounds


def test_d2_an_answer_without_a_tool_call_ends_the_research(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch, Script((delegation("Alpha engine"),), ())) as provider:
        ran = supervise(tmp_path)
    assert steps(provider)["supervise"] == 2
    assert {s.title for s in ran.report.sections if s.content} == {"Alpha engine"}


@pytest.mark.parametrize(("failures", "kept"), [(2, True), (3, True), (4, False)])
def test_d4_writing_that_overflows_is_retried_with_less_three_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, kept: bool
) -> None:
    script = Script((delegation("Beta engine"),))
    refused: list[Request] = []

    def overflowing(request: Request) -> Any:
        if step_of(request) == "write_section" and len(refused) < failures:
            refused.append(request)
            return Reply(fault="context_too_long")
        return script(request)

    with served(monkeypatch, overflowing) as provider:
        ran = supervise(tmp_path, compression_target_tokens=500)
    asked = of_step(provider, "write_section")
    shown = [len(passages_in(call.request)) for call in asked]
    assert len(asked) == min(failures + 1, 4)
    assert shown == sorted(shown, reverse=True)
    assert shown[-1] < shown[0]
    assert all("key_findings" in call.request["messages"][-1]["text"] for call in asked), "the instruction stays whole"
    beta = next(section for section in ran.report.sections if section.title == "Beta engine")
    assert "4,500 rpm" in beta.content
    assert any(gap.what == "writing: Beta engine" for gap in ran.report.gaps) != kept
    assert_presentable(ran)


def test_d4_every_source_that_supports_the_findings_is_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch, Script()):
        ran = supervise(tmp_path)
    supporting = {key.split("p")[0] for claim in ran.report.claims if claim.stands for key in claim.passages}
    assert supporting
    assert supporting <= {reference.source for reference in ran.report.references}
    assert supporting <= {source for section in ran.report.sections for source in section.sources}


@pytest.mark.parametrize(("failures", "kept"), [(1, True), (3, True), (4, False)])
def test_d5_a_report_that_overflows_is_trimmed_by_a_tenth_three_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int, kept: bool
) -> None:
    script = Script()
    refused: list[Request] = []

    def overflowing(request: Request) -> Any:
        if step_of(request) == "compose" and len(refused) < failures:
            refused.append(request)
            return Reply(fault="context_too_long")
        return script(request)

    with served(monkeypatch, overflowing) as provider:
        ran = supervise(tmp_path)
    asked = of_step(provider, "compose")
    sizes = [len(call.request["messages"][-1]["text"]) for call in asked]
    assert len(asked) == min(failures + 1, 4)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0]
    assert all("conclusion" in call.request["messages"][-1]["text"] for call in asked), "the instruction stays whole"
    assert any(gap.what == "report" for gap in ran.report.gaps) != kept
    assert all(section.content for section in ran.report.sections), "the sections are the report's own, not trimmed"
    assert_presentable(ran)


@pytest.mark.parametrize("fault", ["content_filter", "server_error"])
def test_d8_a_researcher_whose_calls_all_fail_ends_neither_the_run_nor_its_siblings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    script = Script()
    broken = failing(script, fault, where=lambda r: script.play.section_of(r) == "Beta engine")
    with served(monkeypatch, broken):
        ran = supervise(tmp_path)
    assert_presentable(ran)
    assert [section.title for section in ran.report.sections] == list(ENGINES)
    assert all(section.content for section in ran.report.sections)
    assert any("Beta engine" in gap.what and "without the model" in gap.why for gap in ran.report.gaps)


def test_d8_thoughts_and_unknown_tools_are_answered_and_never_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = (Call("think", {"thought": SECRET}), Call("browse", {"url": SECRET}), Call("conduct_research", "{broken"))
    with served(monkeypatch, Script((*odd, delegation("Alpha engine")))) as provider:
        ran = supervise(tmp_path)
    answers = told(provider)
    assert len(answers) == 4, "every call has its answer"
    assert sum(text.startswith("Not done: ") for text in answers) == 2
    assert "3,000 rpm" in answers[-1]
    assert SECRET not in ran.report.report
    assert not any(SECRET in text for text in standing(ran.report))
    assert_presentable(ran)


def test_d8_a_supervisor_that_fails_half_way_leaves_a_report_of_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Script((delegation("Alpha engine"),))

    def tired(request: Request) -> Any:
        again = step_of(request) == "supervise" and any(message["tool_calls"] for message in request["messages"])
        return Reply(fault="content_filter") if again else script(request)

    with served(monkeypatch, tired):
        ran = supervise(tmp_path)
    assert any(gap.what == "supervision" for gap in ran.report.gaps)
    assert "3,000 rpm" in next(s for s in ran.report.sections if s.title == "Alpha engine").content
    assert_presentable(ran)
