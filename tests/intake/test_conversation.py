"""Contract rows A4, A7 and A8 in whole runs: rounds of questions, refusals, what was said before, runs that end early."""

from pathlib import Path
from typing import Any

import pytest

from claimcheck.language import detect
from deep_research.data import Asked, Message
from deep_research.errors import Declined
from deep_research.events import RunDeclined, Understood
from deep_research.i18n.catalog import phrase
from tests.intake.harness import Judge, ask, assistant, finderly, start, user, with_model
from tests.model.harness import PLAN, served
from tests.runs.running import Ran, begin, engines, go_on
from tests.support.scripted_researcher import step_of

SPOKEN = {
    "zh": ("帮我研究一下", "Alpha engine 发动机"),
    "ko": ("조사해 줘", "Alpha engine 엔진"),
}


def _run(folder: Path, question: str, answers: list[str], **settings: Any) -> tuple[Ran, list[Asked]]:
    """A run whose questions are answered one after the other."""
    asked: list[Asked] = []

    def answer(what: Asked) -> str:
        asked.append(what)
        return answers[len(asked) - 1]

    made = {"allow_clarification": True, "max_review_iterations": 0, **settings}
    ran = begin(question, home=folder / "home", docs=[engines(folder / "docs")], **made)
    return go_on(ran, answer=answer), asked


@pytest.mark.parametrize(
    ("said", "topic"), [("cancer treatment, just start", "cancer treatment"), ("암, 묻지 말고 시작해", "암")]
)
def test_a4_who_says_not_to_ask_about_a_wide_topic_is_told_what_was_assumed(said: str, topic: str) -> None:
    decision = finderly(said)
    assert (decision.next_action, decision.refined_question) == ("START_RESEARCH", topic)
    assert decision.assumptions == (phrase("assumed_default", detect(said), question=topic),)


@pytest.mark.parametrize(
    ("missing", "messages"),
    [
        ("referent", ("that new drug", "那个新药", "그 신약", "that cheap new phone", "那个便宜的手机", "그 새로운 약", "あの安い携帯電話")),
        ("aspect", ("cancer", "癌", "암", "药", "약")),
        ("topic", ("I want to know more", "那", "그")),
    ],
)  # fmt: skip
def test_a13_what_is_missing_is_the_same_in_every_language(missing: str, messages: tuple[str, ...]) -> None:
    asked = {text: said.missing_info if (said := finderly(text).clarification) else "" for text in messages}
    assert asked == dict.fromkeys(messages, missing)


@pytest.mark.parametrize("language", SPOKEN)
def test_a4_an_answer_settles_it_and_the_user_is_told_what_will_be_researched(language: str, tmp_path: Path) -> None:
    question, answer = SPOKEN[language]
    ran, asked = _run(tmp_path, question, [answer])
    assert [one.kind for one in asked] == ["clarify"]
    assert asked[0].missing_info in ("topic", "referent")
    (told,) = ran.of(Understood)
    assert told.question == answer
    assert answer in told.verification
    assert ran.report.answered


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("cancer", "no"),
        ("cancer", "yes"),
        ("癌症", "不用了，谢谢"),
        ("암", "아니요, 괜찮아요"),
    ],
)
def test_a4_a_bare_no_starts_with_what_was_assumed(question: str, answer: str, tmp_path: Path) -> None:
    ran, asked = _run(tmp_path, question, [answer])
    assert len(asked) == 1
    (told,) = ran.of(Understood)
    assert (told.question, told.assumptions) == (
        question,
        (phrase("assumed_default", detect(question), question=question),),
    )


@pytest.mark.parametrize("said", ["just start", "直接开始", "请直接开始", "그냥 시작해 줘", "바로 시작해"])
def test_a13_who_only_says_to_start_is_asked_for_the_topic_or_means_the_one_before(said: str) -> None:
    asked = finderly(said).clarification
    assert asked is not None
    assert asked.missing_info == "topic"
    decision = finderly(said, history=[user("speculative decoding"), assistant("Which aspect?")])
    assert (decision.next_action, decision.refined_question) == ("START_RESEARCH", "speculative decoding")


def test_a4_who_only_says_to_start_is_not_asked_again_by_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge({"直接开始": ask("哪个方面？", "a", "b", goal="癌症")})
    decision = with_model(monkeypatch, judge, "直接开始", history=[user("癌症"), assistant("哪个方面？")])
    assert decision.next_action == "START_RESEARCH"


@pytest.mark.parametrize(
    ("question", "answers", "refined"),
    [
        ("帮我研究一下", ["B", "Alpha engine 发动机"], "Alpha engine 发动机"),
        ("the gene STATUS6", ["1", "Alpha engine"], "the gene STATUS6 Alpha engine"),
    ],
)
def test_a4_an_option_that_names_nothing_yet_leads_to_the_next_question(
    question: str, answers: list[str], refined: str, tmp_path: Path
) -> None:
    ran, asked = _run(tmp_path, question, answers)
    assert len(asked) == len(answers)
    assert ran.of(Understood)[0].question == refined


def test_a7_what_nothing_can_answer_ends_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    question, reason = "Book me a flight", "I cannot book."
    judge = Judge({question: start("a flight", next_action="CANNOT_DO", reasoning=reason)}, sections=PLAN)
    made = {"model_provider": "compatible", "model_name": "scripted"}
    with served(monkeypatch, judge) as provider:
        ran = begin(question, home=tmp_path / "home", docs=[engines(tmp_path / "docs")], **made)
        for _ in range(2):  # the second time there is nothing left to do
            with pytest.raises(Declined) as ended:
                go_on(ran)
            assert ended.value.message == reason
            assert ended.value.by == "program"
    assert [step for step in map(step_of, (c.request for c in provider.calls)) if step != "analyze"] == ["decide"]
    assert ran.of(RunDeclined)[0].reason == reason
    assert ran.folder.load().status == "declined"
    assert ran.folder.load().error == reason


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("Alpha X100 发动机是什么？", "那个模型有多重？"),
        ("Alpha X100 엔진은 무엇인가요?", "그 모델은 얼마나 무거운가요?"),
        ("Alpha X100 엔진은 분당 몇 회 회전하나요?", "그것은 누가 만들었나요?"),
    ],
)
def test_a8_a_pointer_inside_a_question_is_resolved_and_said(before: str, question: str) -> None:
    decision = finderly(question, history=[user(before), assistant("…")])
    assert decision.next_action == "START_RESEARCH"
    assert "X100" in decision.refined_question
    assert any("X100" in said for said in decision.assumptions)


@pytest.mark.parametrize(
    ("history", "question", "topic"),
    [
        ([user("speculative decoding in language models"), assistant("Done.")], "tell me more about it", "speculative decoding"),
        ([user("KRAS G12C?"), user("what about GLP-1 agonists?")], "that drug", "GLP-1"),
        ([user("speculative decoding"), assistant("What exactly should be researched?")], "that method", "speculative decoding"),
    ],
)  # fmt: skip
def test_a8_the_last_message_that_names_a_topic_counts(history: list[Message], question: str, topic: str) -> None:
    assert topic in finderly(question, history=history).refined_question


def test_a8_a_question_that_points_at_nothing_is_not_mixed_with_what_was_said_before() -> None:
    decision = finderly("How does RAG work?", history=[user("KRAS G12C"), assistant("…")])
    assert decision.refined_question == "How does RAG work?"
    assert decision.assumptions == ()
