"""Contract row A5: a name nobody knows is searched for before the decision; what it means reaches the plan."""

from pathlib import Path
from typing import Any

import pytest

from deep_research.data import Brief, Passage, Question
from deep_research.text.question_terms import codes
from tests.graph.harness import Bench, Planner, Shelf
from tests.intake.harness import Judge, finderly, start, with_model

MEANING = "STATUS6 is a gene of the zebrafish that codes for a kinase."
KNOWN = {"status": f"# Zebrafish genes\n\nGenes have names. {MEANING} It was described in 2011."}
IN_LANGUAGES = ["STATUS6 基因", "STATUS6 유전자"]


def _unsure(**more: Any) -> dict[str, Any]:
    return dict(start("STATUS6", confidence=0.8, next_action="VERIFY_TOPIC", unknown_terms=["STATUS6"], **more))


@pytest.mark.parametrize("text", IN_LANGUAGES)
def test_a5_what_was_found_goes_to_the_model_verbatim_and_it_decides_again(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf(**KNOWN)
    judge = Judge({text: [_unsure(), start("the gene STATUS6 of the zebrafish", confidence=0.8)]})
    decision = with_model(monkeypatch, judge, text, shelf)
    assert decision.next_action == "START_RESEARCH"
    assert [(t.term, t.meaning, t.title) for t in decision.terms] == [("STATUS6", MEANING, "Zebrafish genes")]
    assert any("STATUS6" in said and "Zebrafish genes" in said for said in decision.assumptions)
    first, second = judge.prompts
    assert second.startswith(first)
    assert f'<source title="Zebrafish genes">\n{MEANING}\n</source>' in second


@pytest.mark.parametrize("text", IN_LANGUAGES)
def test_a5_what_was_not_found_is_said_when_the_user_is_asked(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(name="zoo", other="# Other\n\nNothing about it.")
    judge = Judge({text: [_unsure(), _unsure(question="STAT6?", options=["STAT6", "STATH"])]})
    with_options = with_model(monkeypatch, judge, text, shelf)
    assert '"STATUS6" was not found anywhere.' in judge.prompts[1]
    for decision in (with_options, finderly(text, shelf)):
        assert decision.next_action == "NEED_CLARIFICATION"
        asked = decision.clarification
        assert asked is not None
        assert "STATUS6" in asked.question
        assert "zoo" in asked.question
        assert len(asked.options) >= 2
    assert with_options.clarification is not None
    assert with_options.clarification.options[:2] == ("STAT6", "STATH")


def test_a5_of_many_unknown_terms_those_that_are_not_looked_up_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    many = ["STATUS6", "STATUS7", "STATUS8", "STATUS9", "STATUS10"]
    judge = Judge({"the genes": [_unsure() | {"unknown_terms": many}, start("the genes", confidence=0.8)]})
    decision = with_model(monkeypatch, judge, "the genes", Shelf(**KNOWN))
    said = " ".join([*decision.assumptions, *decision.unknown_terms])
    assert [term for term in many if term not in said] == []


@pytest.mark.parametrize("text", IN_LANGUAGES)
def test_a5_where_nothing_may_be_asked_the_assumption_says_it(text: str) -> None:
    shelf = Shelf(other="# Other\n\nNothing about it.")
    decision = finderly(text, shelf, allow_clarification=False)
    assert decision.next_action == "START_RESEARCH"
    assert any("STATUS6" in said and "shelf" in said for said in decision.assumptions)


def test_a5_a_search_that_did_not_happen_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge({"STATUS6 gene": [_unsure(), _unsure()]})
    assert with_model(monkeypatch, judge, "STATUS6 gene").next_action == "START_RESEARCH"
    assert '"STATUS6" could not be looked up.' in judge.prompts[1]
    decision = finderly("STATUS6 gene")
    assert decision.next_action == "START_RESEARCH"
    assert any("STATUS6" in said for said in decision.assumptions)


@pytest.mark.parametrize(
    "text", ["How does HTTP2 differ from HTTP1 in speed?", "STATUS6 和 JAK3 在斑马鱼免疫中的作用是什么？"]
)
def test_a5_a_code_beside_other_words_is_only_an_assumption(text: str) -> None:
    decision = finderly(text, Shelf(other="# Other\n\nNothing about it."))
    assert decision.next_action == "START_RESEARCH"
    assert all(any(code in said for said in decision.assumptions) for code in codes(text))


class Remembering(Planner):
    """Plans one section and remembers what it was shown."""

    shown: tuple[Passage, ...] = ()

    async def plan(self, question: Question, *args: Any, **kwargs: Any) -> Brief:
        self.shown = tuple(args[3])
        return await super().plan(question, *args, **kwargs)


async def test_a5_the_meaning_reaches_the_planner_the_brief_and_the_report(tmp_path: Path) -> None:
    reasoner = Remembering("STATUS6")
    async with Bench(tmp_path, Shelf(**KNOWN), reasoner=reasoner, max_review_iterations=0) as bench:
        trace = await bench.ask("STATUS6 gene")
    assert MEANING in reasoner.shown[0].text
    assert [(term.term, term.meaning) for term in trace.state["brief"].terms] == [("STATUS6", MEANING)]
    assert MEANING in trace.state["research_brief"]
    assert "Zebrafish genes" in trace.report.assumptions[0]
    assert trace.report.assumptions[0].rstrip(".") in trace.report.report
