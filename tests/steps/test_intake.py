"""Contract rows A1–A4: the decision as data, and the plain code that turns a judgement into an action."""

from typing import Any

import pytest

from deep_research.conversation.replies import pick_options, split_start, wants_to_skip
from deep_research.data import Clarification, Decision, Message, Question, Section, Template
from deep_research.settings import Settings
from deep_research.steps.intake import answered, settle
from deep_research.steps.plan import _with_focus

QUESTION = Question(text="tell me about it", language="en")
FOCUS = ("mechanism", "evidence", "progress", "resistance")


def _judged(**fields: Any) -> Decision:
    asking = Clarification(question="What is it?", options=("a", "b"), missing_info="topic")
    return Decision(**{"next_action": "NEED_CLARIFICATION", "confidence": 0.3, "clarification": asking, **fields})


def _settled(judged: Decision, *, rounds: int = 0, **settings: Any) -> Decision:
    return settle(judged, QUESTION, Settings(**settings), rounds=rounds)


START, ASK = "START_RESEARCH", "NEED_CLARIFICATION"


def test_a2_an_unknown_term_keeps_a_run_from_starting_unless_nothing_is_ever_asked() -> None:
    judged = _judged(confidence=0.8, goal="g", research_focus=FOCUS, unknown_terms=("XYZ123",), assumptions=("x",))
    assert _settled(judged).next_action == ASK
    sure = _settled(judged.model_copy(update={"confidence": 0.9}))
    assert sure.next_action == START
    assert any("XYZ123" in assumption for assumption in sure.assumptions)


def test_a2_a_refusal_stands_whatever_may_be_asked() -> None:
    assert _settled(_judged(next_action="CANNOT_DO"), allow_clarification=False).next_action == "CANNOT_DO"


def test_a3_who_judges_without_a_question_leaves_it_to_the_program() -> None:
    """The options are then the points that the reasoner itself sees."""
    unsure = _judged(confidence=0.6, goal="GLP-1 agonists", research_focus=FOCUS, clarification=None)
    asked = _settled(unsure).clarification
    assert asked is not None
    assert "GLP-1 agonists" in asked.question
    assert (asked.options, asked.missing_info) == (FOCUS, "focus")
    lost = _settled(_judged(goal="", clarification=None)).clarification
    assert lost is not None
    assert lost.missing_info == "topic"


ASPECTS = ("Latest progress", "How it works", "Comparison of alternatives", "A general overview")
KINDS = (
    "A technology or method",
    "A disease, a drug or a target",
    "Products or companies",
    "An event or a development",
)


@pytest.mark.parametrize(
    ("goal", "asks", "of_template", "options"),
    [
        ("", Clarification(question="What is it?", missing_info="topic"), ("aspect", "focus"), KINDS),
        ("", None, ("topic", "aspect"), ("a boat", "a car")),
        ("engines", Clarification(question="Which years?", missing_info="the years"), None, ASPECTS),
        ("", Clarification(question="Which ship?", missing_info="the ship"), None, ()),
    ],
)
def test_a3_options_are_of_the_kind_that_is_missing(
    goal: str, asks: Clarification | None, of_template: tuple[str, ...] | None, options: tuple[str, ...]
) -> None:
    own = [
        Clarification(question=f"{one}?", options=("a boat", "a car"), missing_info=one) for one in of_template or ()
    ]
    template = Template(name="t", focus=("price", "speed"), clarifications=tuple(own)) if own else None
    judged = _judged(goal=goal, clarification=asks)
    asked = settle(judged, QUESTION, Settings(), rounds=0, template=template).clarification
    assert asked is not None
    assert asked.options == options


@pytest.mark.parametrize(
    "answer",
    ["skip connections in ResNets", "just start with KRAS inhibitors", "the start of World War II", "任何靶点：KRAS",
     "随便选一个靶点：KRAS", "开始于1990年的改革", "研究 KRAS", "시작 시점", "KRAS G12C", "1", "whatever works for JSON parsing"],
)  # fmt: skip
def test_a4_an_answer_that_only_holds_such_a_word_is_an_answer(answer: str) -> None:
    assert not wants_to_skip(answer)


@pytest.mark.parametrize(
    ("message", "topic"),
    [("cancer, just start", "cancer"), ("Cancer. Don't ask me anything, just start.", "Cancer."), ("just start: cancer", "cancer"),
     ("cancer treatment - do not ask", "cancer treatment"), ("癌症, 直接开始研究", "癌症"), ("直接开始研究：癌症", "癌症"),
     ("암 치료, 바로 시작해", "암 치료"), ("암 치료. 묻지 말고 바로 시작해", "암 치료."), ("癌、質問は不要です", "癌"),
     ("cancer just start", "cancer"), ("癌症直接开始研究", "癌症"), ("암 그냥 바로 시작해줘", "암"), ("암, 묻지 말고 시작해", "암"), ("cancer, don't ask just start", "cancer"), ("癌症，别问我直接开始研究", "癌症"), ("がん、聞かないで始めてください", "がん")],
)  # fmt: skip
def test_who_says_not_to_ask_is_not_asked_and_the_wish_is_not_searched_for(message: str, topic: str) -> None:
    assert split_start(message) == (topic, True)
    unclear = _judged(clarification=None, goal="")
    assert settle(unclear, Question(text=message, language="en"), Settings(), rounds=0).next_action == START
    assert settle(unclear, Question(text=topic, language="en"), Settings(), rounds=0).next_action != START


@pytest.mark.parametrize(
    "answer",
    ["B, just start", "B，直接开始研究", "B, 그냥 바로 시작해", "그냥 바로 시작해줘", "바로 연구를 시작해 주세요"],
)
def test_a4_an_answer_that_says_to_start_ends_the_questions(answer: str) -> None:
    question = answered(Question(text="engines", language="en"), "Which?", answer)
    unclear = _judged(clarification=None, goal="")
    assert settle(unclear, question, Settings(), rounds=1).next_action == START
    later = question.model_copy(update={"history": (*question.history, Message(role="assistant", text="A report."))})
    assert settle(unclear, later, Settings(), rounds=0).next_action != START


@pytest.mark.parametrize(
    "message", ["Rust, Go and Zig: which is safest?", "just start", "TiDB、研究、全部", "Redis, continue"]
)
def test_a_message_of_names_is_taken_as_it_is(message: str) -> None:
    assert split_start(message) == (message, False)


@pytest.mark.parametrize(
    "answer", ["I don't want to answer that", "don't ask, start", "대답하기 싫어요", "None of these, just go ahead", "答えたくないです"]
)  # fmt: skip
def test_a4_who_will_not_answer_is_not_asked_again(answer: str) -> None:
    assert wants_to_skip(answer)


@pytest.mark.parametrize(
    ("answer", "means"),
    [("2", "b"), ("B", "b"), ("b)", "b"), ("(C)", "c"), ("option 3", "c"), ("1, 3", "a; c"), ("1 and 2", "a; b"), ("第2个", "b"),
     ("2번", "b"), ("4", "4"), ("none of these, but d", "none of these, but d"), (" d ", "d"), ("B, just start", "b, just start"), ("2번, 바로 시작해", "b, 바로 시작해")],
)  # fmt: skip
def test_a3_an_option_is_chosen_by_number_or_letter_and_free_text_stays(answer: str, means: str) -> None:
    assert pick_options(answer, ["a", "b", "c"]) == means


def test_a12_each_focus_point_has_a_query_of_its_own() -> None:
    sections = [
        Section(title="Clinical results", queries=("XYZ efficacy and safety",)),
        Section(title="Price", queries=("p",)),
    ]
    planned = _with_focus(sections, ["efficacy", "safety", "cost"], Question(text="Is XYZ a good drug?", language="en"))
    made = [query for section in planned for query in section.focus]
    assert len(set(made)) == len(made) == 3
    assert made[0] == "XYZ efficacy and safety"
