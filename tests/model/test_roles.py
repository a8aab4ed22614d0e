"""Each role of a model has a longest answer of its own."""

from pathlib import Path

import pytest

from tests.model.harness import PLAN, assert_presentable, research, served, steps
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of


def test_d6_each_role_has_its_output_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch) as provider:
        ran = research(tmp_path, write_max_tokens=3000, research_max_tokens=700, report_max_tokens=2500)
    assert_presentable(ran)
    limits = {step_of(call.request): call.request["max_output_tokens"] for call in provider.calls}
    assert limits["write_section"] == 3000
    assert limits["compose"] == 2500
    assert limits["research"] == limits["plan"] == 700


def test_a_role_may_have_a_model_of_another_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch) as provider:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
        ran = research(tmp_path, judge_model="anthropic:claude-judge")
    assert_presentable(ran)
    used = {(step_of(call.request), call.request["model"]) for call in provider.calls}
    assert ("judge", "claude-judge") in used
    assert ("write_section", "scripted") in used
    assert {model for step, model in used if step != "judge"} == {"scripted"}


def test_an_answer_that_stays_malformed_is_really_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same wrong words three times are three requests: the journal does not answer for the model."""
    researcher = ScriptedResearcher(sections=PLAN, sentences=4)

    def script(request: Request) -> Reply:
        return Reply(text="no object") if step_of(request) == "compose" else researcher(request)

    with served(monkeypatch, script) as provider:
        research(tmp_path, max_structured_output_retries=2)
    assert steps(provider)["compose"] == 3
