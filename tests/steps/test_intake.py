"""Contract row A1 (its data) and the plain code that turns a judgement into an action."""

import asyncio
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from deep_research.data import Clarification, Decision, Message, Question
from deep_research.data.research import NextAction
from deep_research.reasoners.extractive.reasoner import ExtractiveReasoner
from deep_research.settings import Settings
from deep_research.steps.intake import answered, settle, start_anyway

QUESTION = Question(text="tell me about it", language="en")


def _decide(question: Question) -> Decision:
    return asyncio.run(ExtractiveReasoner().decide(question, rounds=0))


def _judged(**fields: Any) -> Decision:
    asking = Clarification(question="What is it?", options=("a", "b"), missing_info="topic")
    return Decision(**{"next_action": "NEED_CLARIFICATION", "confidence": 0.3, "clarification": asking, **fields})


def test_a1_a_decision_has_the_fields_of_the_design() -> None:
    assert set(get_args(NextAction)) == {
        "START_RESEARCH", "NEED_CLARIFICATION", "VERIFY_TOPIC", "CONFIRM_PLAN", "CANNOT_DO",
    }  # fmt: skip
    assert set(Decision.model_fields) >= {
        "next_action", "confidence", "goal", "research_focus", "unknown_terms", "refined_question", "reasoning",
        "verification",
    }  # fmt: skip


@pytest.mark.parametrize("confidence", [-0.01, 1.01])
def test_a1_confidence_is_between_0_and_1(confidence: float) -> None:
    with pytest.raises(ValidationError):
        _judged(confidence=confidence)


def test_a1_an_action_nobody_knows_is_refused() -> None:
    with pytest.raises(ValidationError):
        _judged(next_action="GUESS")


@pytest.mark.parametrize(
    ("judged", "settings", "rounds", "action"),
    [
        ({}, {}, 0, "NEED_CLARIFICATION"),
        ({}, {}, 2, "NEED_CLARIFICATION"),
        ({}, {}, 3, "START_RESEARCH"),
        ({}, {"max_clarification_rounds": 0}, 0, "START_RESEARCH"),
        ({}, {"allow_clarification": False}, 0, "START_RESEARCH"),
        ({"next_action": "START_RESEARCH", "confidence": 0.9}, {}, 0, "START_RESEARCH"),
        ({"next_action": "START_RESEARCH", "confidence": 0.4}, {}, 0, "NEED_CLARIFICATION"),
        ({"next_action": "START_RESEARCH", "confidence": 0.4}, {"confidence_ask": 0.3}, 0, "START_RESEARCH"),
        ({"clarification": None}, {}, 0, "START_RESEARCH"),
        ({"next_action": "CANNOT_DO"}, {"allow_clarification": False}, 0, "CANNOT_DO"),
    ],
)
def test_thresholds_decide(judged: dict[str, Any], settings: dict[str, Any], rounds: int, action: str) -> None:
    assert settle(_judged(**judged), QUESTION, Settings(**settings), rounds=rounds).next_action == action


def test_starting_without_an_answer_states_the_assumption_in_the_readers_language() -> None:
    for language, word in (("en", "literally"), ("zh", "字面"), ("ko", "글자")):
        started = start_anyway(_judged(), Question(text="x", language=language))
        assert started.next_action == "START_RESEARCH"
        assert started.refined_question == "x"
        assert word in started.assumptions[-1]


def test_an_answer_becomes_part_of_the_conversation() -> None:
    once = answered(QUESTION, "What is it?", "KRAS")
    twice = answered(once, "Which aspect?", "resistance")
    assert once.history == (Message(role="assistant", text="What is it?"), Message(role="user", text="KRAS"))
    assert twice.history[:2] == once.history
    assert twice.text == QUESTION.text


@pytest.mark.parametrize(
    ("text", "language", "asks"),
    [
        ("tell me about it", "en", True),
        ("that new target", "en", True),
        ("帮我研究一下", "zh", True),
        ("那个新靶点", "zh", True),
        ("조사해 줘", "ko", True),
        ("그 타깃", "ko", True),
        ("cancer", "en", True),
        ("AI", "en", True),
        ("KRAS G12C resistance", "en", False),
        ("How does speculative decoding work?", "en", False),
        ("RAG 技术的最新进展有哪些？", "zh", False),
        ("PD-1 억제제에 대한 내성", "ko", False),
    ],
)
def test_only_a_question_without_a_topic_is_asked_about(text: str, language: str, asks: bool) -> None:
    decision = _decide(Question(text=text, language=language))
    assert (decision.next_action == "NEED_CLARIFICATION") is asks
    assert (decision.clarification is not None) is asks
    assert bool(decision.goal) is not asks


def test_the_answer_settles_a_question_without_a_topic() -> None:
    decision = _decide(answered(QUESTION, "What is it?", "speculative decoding"))
    assert decision.next_action == "START_RESEARCH"
    assert decision.refined_question == "speculative decoding"


async def test_b1_asking_interrupts_the_graph_and_the_answer_goes_on(tmp_path: Any) -> None:
    from tests.graph.harness import Bench, Shelf  # noqa: PLC0415 - the engine is slow to load

    shelf = Shelf(alpha="# Alpha engine\n\nThe Alpha engine is a rotary engine that turns at 3,000 rpm.")
    async with Bench(tmp_path, shelf, allow_clarification=True, max_review_iterations=0) as bench:
        waiting = await bench.ask("tell me about it")
        assert waiting.interrupts[0]["question"]
        assert "report" not in waiting.state
        assert shelf.asked.total() == 0
        done = await bench.answer("the Alpha engine")
    assert done.interrupts == []
    assert done.report.answered
    assert [message.type for message in done.state["messages"]] == ["ai", "human", "ai"]
