"""What "it", "它" and "그것" point at: names of the conversation, and never where nothing points."""

import pytest

from deep_research.conversation.coreference import Exchange, meant

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
    found = meant(question, [BETA, REPORT], ENGINES)
    assert (found.question, found.name) == (meaning, "Beta engine")


def test_a_pronoun_is_what_the_answer_speaks_of_where_the_question_named_nothing() -> None:
    assert meant("Who built that one?", [FASTEST, BETA, REPORT], ENGINES).name == "Gamma engine"


def test_without_a_name_a_pronoun_is_the_topic() -> None:
    assert meant("How heavy is it?", [REPORT], ENGINES).name == "engines"
    assert meant("How are they built?", [REPORT], ENGINES).question == "How are they built? (engines)"
    assert meant("Why?", [REPORT], ENGINES) == ("Why? (engines)", "", "")


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
    assert meant(question, [BETA, REPORT], ENGINES) == (question, "", "")


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
    assert meant(question, [ZH], ZH_NAMES).question == meaning


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
    assert meant(question, [KO], KO_NAMES).question == meaning


def test_the_longer_of_two_names_is_meant() -> None:
    before = Exchange("How does the SP-GiST index work?", "An SP-GiST index is a partitioned tree.")
    assert meant("When is it used?", [before], ("GiST", "SP-GiST")).name == "SP-GiST"
