"""What "it", "它" and "그것" point at: names of the conversation, and never where nothing points."""

import pytest

from deep_research.conversation.coreference import Exchange, resolve, resolve_in_history
from deep_research.i18n.language import detect
from tests.intake.harness import assistant, extractively, user

ENGINES = ("Alpha engine", "Beta engine", "Gamma engine")
REPORT = Exchange("Which kinds of engines are there?")
BETA = Exchange("How fast is the Beta engine?", "The Beta engine turns at 4,500 rpm, the Gamma engine faster.")
FASTEST = Exchange(
    "Which one is the fastest?",
    "The Gamma engine turns at 21,000 rpm.\nThe Gamma engine is faster than the Beta engine.",
)
ZH_NAMES = ("甲型发动机", "乙型发动机")
ZH = Exchange("甲型发动机的转速是多少？", "甲型发动机每分钟3000转。")
KO_NAMES = ("알파 엔진", "베타 엔진")
KO = Exchange("알파 엔진은 얼마나 빠른가요?", "알파 엔진은 분당 3000회 회전한다.")


@pytest.mark.parametrize(
    ("question", "meaning"),
    [
        ("Who built it?", "Who built Beta engine?"),
        ("How heavy is that one?", "How heavy is Beta engine?"),
        ("Where was that engine made?", "Where was Beta engine made?"),
        ("What is its weight?", "What is Beta engine’s weight?"),
    ],
)
def test_a_pronoun_is_what_the_question_before_named(question: str, meaning: str) -> None:
    found = resolve(question, [BETA, REPORT], ENGINES)
    assert (found.question, found.referent) == (meaning, "Beta engine")


def test_a_pronoun_is_what_the_answer_speaks_of_where_the_question_named_nothing() -> None:
    assert resolve("Who built that one?", [FASTEST, BETA, REPORT], ENGINES).referent == "Gamma engine"


def test_without_a_name_a_pronoun_is_the_topic() -> None:
    assert resolve("How heavy is it?", [REPORT], ENGINES).referent == "engines"
    assert resolve("How are they built?", [REPORT], ENGINES).question == "How are they built? (engines)"
    assert resolve("Why?", [REPORT], ENGINES) == ("Why? (engines)", "", "engines")


@pytest.mark.parametrize(
    "question",
    [
        "How heavy is the Gamma engine?",
        "Which engines were built this year?",
        "Is it possible to run engines without oil?",
        "What does the claim that engines burn oil rest on?",
        "其他发动机有多重？",
        "그래도 엔진은 무겁나요?",
    ],
)
def test_a_question_that_points_at_nothing_stays_as_it_is(question: str) -> None:
    assert resolve(question, [BETA, REPORT], ENGINES) == (question, "", "")


@pytest.mark.parametrize(
    ("question", "meaning"),
    [
        ("它由谁制造？", "甲型发动机由谁制造？"),
        ("那个多重？", "甲型发动机多重？"),
        ("那个发动机多重？", "甲型发动机多重？"),
        ("该发动机由谁制造？", "甲型发动机由谁制造？"),
    ],
)
def test_chinese(question: str, meaning: str) -> None:
    assert resolve(question, [ZH], ZH_NAMES).question == meaning


@pytest.mark.parametrize(
    ("question", "meaning"),
    [
        ("그것은 누가 만들었나요?", "알파 엔진은 누가 만들었나요?"),
        ("그것을 누가 썼나요?", "알파 엔진을 누가 썼나요?"),
        ("그건 어디서 만들었나요?", "알파 엔진은 어디서 만들었나요?"),
        ("그 엔진은 언제 만들어졌나요?", "알파 엔진은 언제 만들어졌나요?"),
    ],
)
def test_korean_with_the_particle_that_fits(question: str, meaning: str) -> None:
    assert resolve(question, [KO], KO_NAMES).question == meaning


def test_the_longer_of_two_names_is_resolve() -> None:
    before = Exchange("How does the SP-GiST index work?", "An SP-GiST index is a partitioned tree.")
    assert resolve("When is it used?", [before], ("GiST", "SP-GiST")).referent == "SP-GiST"


TABLE = [
    ("What is speculative decoding?", "What are its limits?", "What are speculative decoding’s limits?"),
    ("Tell me about the GiST index", "When should it be used?", "When should GiST index be used?"),
    ("How does speculative decoding work?", "When should it be used?", "When should speculative decoding be used?"),
    (
        "What is speculative decoding?",
        "How much faster does it make inference?",
        "How much faster does speculative decoding make inference?",
    ),
    ("How does sotorasib work?", "What about its side effects?", "What about sotorasib’s side effects?"),
    ("How does sotorasib work?", "What are the risks of that drug?", "What are the risks of sotorasib?"),
    ("How do vaccines work?", "Are they safe?", "Are they safe? (vaccines)"),
    ("What is speculative decoding?", "tell me about it", "tell me about speculative decoding"),
    ("什么是投机解码？", "它的缺点是什么？", "投机解码的缺点是什么？"),
    ("什么是投机解码？", "其缺点是什么？", "投机解码的缺点是什么？"),
    ("什么是投机解码？", "这种方法有什么缺点？", "投机解码有什么缺点？"),
    ("세마글루타이드는 어떻게 작용하나요?", "그 약의 부작용은?", "세마글루타이드의 부작용은?"),
    ("세마글루타이드는 어떻게 작용하나요?", "그 부작용은?", "세마글루타이드의 부작용은?"),
    ("세마글루타이드는 어떻게 작용하나요?", "그것은 안전한가요?", "세마글루타이드는 안전한가요?"),
    ("投機的デコーディングとは何ですか？", "その欠点は何ですか？", "投機的デコーディングの欠点は何ですか？"),
    ("投機的デコーディングとは何ですか？", "それはいつ使うべきですか？", "投機的デコーディングはいつ使うべきですか？"),
]
"""What was asked before, what is asked, what it means."""


@pytest.mark.parametrize(("before", "question", "meaning"), TABLE)
def test_history_and_follow_ups_understand_a_question_alike(before: str, question: str, meaning: str) -> None:
    history = [user(before), assistant("…")]
    decision = extractively(question, history=history)
    assert decision.next_action == "START_RESEARCH"
    assert decision.refined_question == meaning
    assert resolve(question, [Exchange(before)], []).question == meaning
    followed = resolve(question, [Exchange(before)], []).assumption(detect(question))
    assert decision.assumptions[:1] == (followed,)
    assert followed


@pytest.mark.parametrize(
    "question",
    [
        "How does PagedAttention work and what are its limits?",
        "How does IT security work?",
        "What are the limits of quantization?",
        "Is it true that drugs are dear?",
        "Does Aspirin lose its effect?",
        "量化是什么？它的缺点是什么？",
        "其他方法有哪些？",
    ],
)
def test_a_question_that_names_what_it_is_about_is_not_bent_to_the_conversation(question: str) -> None:
    history = [user("What is speculative decoding?"), assistant("…")]
    assert resolve_in_history(question, history).question == question


def test_a_question_of_the_history_is_itself_resolved_first() -> None:
    history = [
        user("What is speculative decoding?"),
        assistant("…"),
        user("How fast does it make inference?"),
        assistant("…"),
    ]
    found = resolve_in_history("When should it be used?", history)
    assert found.question == "When should speculative decoding be used?"


def test_a_yes_is_no_topic() -> None:
    found = resolve_in_history(
        "Why?", [user("What is speculative decoding?"), assistant("Shall I?"), user("yes, please")]
    )
    assert found.question == "Why? (speculative decoding)"


def test_a_message_without_a_topic_is_about_what_was_spoken_of() -> None:
    decision = extractively("帮我研究一下", history=[user("什么是投机解码？"), assistant("…")])
    assert "投机解码" in decision.refined_question
    assert "投机解码" in decision.assumptions[0]


@pytest.mark.parametrize(
    ("question", "pointer"),
    [("What are its limits?", "its"), ("它的缺点是什么？", "它"), ("그 약의 부작용은?", "그 약"), ("この薬の副作用は？", "この薬")],
)  # fmt: skip
def test_what_points_at_nothing_is_asked_back(question: str, pointer: str) -> None:
    decision = extractively(question)
    assert decision.next_action == "NEED_CLARIFICATION"
    assert decision.clarification is not None
    assert pointer in decision.clarification.question


@pytest.mark.parametrize(
    ("question", "answer", "meaning"),
    [("What are its limits?", "PagedAttention", "What are PagedAttention’s limits?"), ("它的缺点是什么？", "量化", "量化的缺点是什么？")],
)  # fmt: skip
def test_the_answer_takes_the_place_of_what_pointed(question: str, answer: str, meaning: str) -> None:
    decision = extractively(question, history=[assistant("Which?"), user(answer)], rounds=1)
    assert decision.refined_question == meaning
