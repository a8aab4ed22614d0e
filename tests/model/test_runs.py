"""Whole runs with a model: languages, roles, sections, the wires, nothing asked twice."""

import re
from pathlib import Path

import pytest

from deep_research.i18n.language import language_name
from tests.model.harness import (
    ENGINES,
    PLAN,
    QUESTION,
    assert_presentable,
    chinese,
    failing,
    korean,
    research,
    served,
    standing,
    steps,
)
from tests.support.scripted_researcher import ScriptedResearcher, step_of


@pytest.mark.parametrize("wire", ["compatible", "anthropic"])
def test_a_run_writes_every_planned_section_from_passages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wire: str
) -> None:
    with served(monkeypatch, wire=wire) as provider:
        ran = research(tmp_path, wire=wire, **({"model_name": "claude-sonnet-5"} if wire == "anthropic" else {}))
    assert_presentable(ran)
    assert [section.title for section in ran.report.sections] == list(ENGINES)
    assert all(section.content for section in ran.report.sections)
    assert ran.report.reasoner.kind == "model"
    assert provider.duplicates == 0
    assert ran.report.ledger.model_calls == len(provider.calls)
    assert ran.report.ledger.prompt_tokens == provider.prompt_tokens


def test_what_no_passage_says_is_cut_or_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch) as provider:
        ran = research(tmp_path)
    assert "7919" in "".join(m["text"] for call in provider.calls for m in call.request["messages"])
    assert not any("7919" in section.content for section in ran.report.sections)
    # The judge proposes what to say instead, so that nobody is asked again.
    assert steps(provider)["rewrite"] == 0


@pytest.mark.parametrize(
    ("question", "notes", "language"),
    [("甲型发动机和乙型发动机有什么区别？", chinese, "zh"), ("알파 엔진과 베타 엔진은 어떻게 다른가요?", korean, "ko")],
)
def test_a_question_is_answered_in_its_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str, notes: object, language: str
) -> None:
    with served(monkeypatch, ScriptedResearcher(sentences=4)) as provider:
        ran = research(tmp_path, question, docs=[notes(tmp_path / "notes")])  # type: ignore[operator]
    assert_presentable(ran)
    assert ran.report.language == language
    assert standing(ran.report)
    named = f"Write in {language_name(language)}"
    asked = [call for call in provider.calls if step_of(call.request) == "write_section"]
    assert asked
    assert all(named in call.request["system"] for call in asked)


def test_each_role_has_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    roles = {f"{role}_model": f"{role}-one" for role in ("research", "read", "write", "review", "report", "judge")}
    with served(monkeypatch) as provider:
        ran = research(tmp_path, **roles)
    used = {step_of(call.request): call.request["model"] for call in provider.calls}
    assert used == {
        "decide": "research-one",
        "analyze": "research-one",
        "plan": "research-one",
        "research": "research-one",
        "write_section": "write-one",
        "judge": "judge-one",
        "review_section": "review-one",
        "review": "review-one",
        "compose": "report-one",
    }
    assert dict(ran.report.reasoner.models) == {
        role: f"{role}-one" for role in ("research", "write", "review", "report", "judge")
    }
    assert sum(ran.report.reasoner.calls.values()) == len(provider.calls)


def test_a_weak_section_goes_out_again_with_the_review_s_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch, ScriptedResearcher(sections=PLAN, sentences=4, retry=["Beta engine"])) as provider:
        ran = research(tmp_path, depth="deep")
    again = [c for c in provider.calls if c.request["tools"] and "more on Beta engine" in c.request["prompt"]]
    assert again
    assert provider.duplicates == 0
    assert_presentable(ran)


def test_the_judge_sees_the_cited_passages_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch) as provider:
        research(tmp_path)
    judged = [call.request["prompt"] for call in provider.calls if step_of(call.request) == "judge"]
    assert judged
    for prompt in judged:
        shown = set(re.findall(r'<passage id="(s\d+p\d+)"', prompt))
        cited = set(re.findall(r"\[(s\d+p\d+)\]", prompt.rsplit("</passage>", 1)[1]))
        assert shown == cited


@pytest.mark.parametrize("question", [QUESTION, "Which machine suits the pumping station of the island?"])
def test_a_section_whose_model_calls_all_fail_is_done_without_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """By its own words, be the question in others than the sources."""
    researcher = ScriptedResearcher(sections=PLAN, sentences=4)
    script = failing(researcher, "content_filter", where=lambda r: researcher.section_of(r) == "Beta engine")
    with served(monkeypatch, script):
        ran = research(tmp_path, question)
    assert_presentable(ran)
    without = {gap.what for gap in ran.report.gaps if "without the model" in gap.why}
    assert without == {"research: Beta engine", "writing: Beta engine", "review: Beta engine"}
    beta = next(section for section in ran.report.sections if section.title == "Beta engine")
    assert "4,500 rpm" in beta.content


def test_sections_that_no_model_could_review_stay_as_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviews = ("review", "review_section", "judge")
    researcher = ScriptedResearcher(sections=PLAN, sentences=4)
    script = failing(researcher, "content_filter", where=lambda request: step_of(request) in reviews)
    with served(monkeypatch, script) as provider:
        ran = research(tmp_path)
    assert_presentable(ran)
    assert steps(provider)["write_section"] == len(PLAN)
    assert all(review.score == 5 for review in ran.report.reviews)
    assert {gap.what for gap in ran.report.gaps if "without the model" in gap.why} >= {"review"}
    assert not [gap for gap in ran.report.gaps if {"review_open", "section_empty"} & {*gap.codes}]
    assert "Researched and written by scripted" in ran.report.report
