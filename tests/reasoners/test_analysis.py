"""Contract row B3: the kind of a question and the form of its answer, in three languages."""

import asyncio
import re
from pathlib import Path

import pytest

from deep_research.data import QueryAnalysis, Question
from deep_research.i18n.language import detect
from deep_research.reasoners.extractive.extractive_reasoner import ExtractiveReasoner
from deep_research.reasoners.extractive.question_analysis import topic_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "questions.md"
_ROW = re.compile(r"^\| (en|zh|ko) \| (\w+) \| (.+) \|$", re.MULTILINE)


def analyze(text: str) -> QueryAnalysis:
    """What the extractive reasoner makes of a question."""
    return asyncio.run(ExtractiveReasoner().analyze(Question(text=text, language=detect(text))))


# The document that fixes the four types gives the first example of each.
TYPES = [
    ("有哪些开源 LLM？", "list"),
    ("GPT-4 和 Claude 3 的区别", "comparison"),
    ("详细解释 Transformer 注意力机制", "deep_dive"),
    ("LLM 的最新进展", "general"),
    ("Which vector databases are there?", "list"),
    ("List the index types of PostgreSQL.", "list"),
    ("What are the types of heat pump?", "list"),
    ("Compare heat pumps and gas boilers for old houses", "comparison"),
    ("Rust vs Go", "comparison"),
    ("What is the difference between TCP and UDP?", "comparison"),
    ("Explain how a heat pump works", "deep_dive"),
    ("Why do leaves turn red in autumn?", "deep_dive"),
    ("Latest developments in sodium batteries", "general"),
    ("对比 Llama 3 和 GPT-4 的技术架构", "comparison"),
    ("太阳能电池有哪些类型？", "list"),
    ("热泵的工作原理是什么？", "deep_dive"),
    ("钠电池的最新进展", "general"),
    ("태양전지의 종류에는 어떤 것이 있나요?", "list"),
    ("열펌프와 가스보일러의 차이는 무엇인가요?", "comparison"),
    ("열펌프의 작동 원리를 설명해 주세요", "deep_dive"),
    ("나트륨 전지의 최신 동향", "general"),
]


@pytest.mark.parametrize(("question", "kind"), TYPES)
def test_b3_query_types(question: str, kind: str) -> None:
    found = analyze(question)
    assert found.query_type == kind
    assert found.needs_discovery == (kind == "list")
    assert found.reasoning


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Rust vs Go", "table"),
        ("GPT-4 和 Claude 3 的区别", "table"),
        ("열펌프와 가스보일러의 차이", "table"),
        ("What index types does PostgreSQL offer and when should each be used?", "table"),
        ("Which vector databases are there?", "list"),
        ("有哪些开源 LLM？", "list"),
        ("Explain how a heat pump works", "prose"),
        ("Summarise heat pumps in a table", "table"),
        ("Compare heat pumps and boilers, as a table", "table"),
        ("How do I detach a partition of a table?", "prose"),
        ("Should we partition the table by time?", "prose"),
        ("用表格介绍热泵", "table"),
        ("열펌프를 표로 정리해 주세요", "table"),
    ],
)
def test_b3_output_formats(question: str, form: str) -> None:
    assert analyze(question).output_format == form


@pytest.mark.parametrize(
    ("question", "target"),
    [
        ("What index types does PostgreSQL offer?", "index types"),
        ("Which vector databases are there?", "vector databases"),
        ("List the index types of PostgreSQL.", "index types of PostgreSQL"),
        ("有哪些开源 LLM？", "开源 LLM"),
    ],
)
def test_b3_discovery_target(question: str, target: str) -> None:
    assert analyze(question).discovery_target == target


@pytest.mark.parametrize(
    ("question", "subjects"),
    [
        ("Rust vs Go", ("Rust", "Go")),
        ("Compare asyncio, threading and multiprocessing in Python", ("asyncio", "threading", "multiprocessing")),
        ("GPT-4 和 Claude 3 的区别", ("GPT-4", "Claude 3")),
        ("열펌프와 가스보일러의 차이", ("열펌프", "가스보일러")),
        ("Python 中的装饰器和上下文管理器有什么区别？", ("装饰器", "上下文管理器")),
        ("Python에서 데코레이터와 컨텍스트 관리자의 차이", ("데코레이터", "컨텍스트 관리자")),
        ("sotorasib 和 adagrasib 的疗效和安全性有什么不同？", ("sotorasib", "adagrasib")),
        ("git rebase와 git merge는 어떻게 다른가요?", ("git rebase", "git merge")),
        ("スレッドとプロセスはどう違いますか", ("スレッド", "プロセス")),
        ("不同的索引类型有哪些？", ()),
    ],
)
def test_b3_subjects_of_a_comparison(question: str, subjects: tuple[str, ...]) -> None:
    assert analyze(question).subjects == subjects


def _examples() -> list[tuple[str, str, str]]:
    return _ROW.findall(EXAMPLES.read_text("utf-8"))


def test_the_example_questions_cover_every_language_and_type() -> None:
    rows = _examples()
    assert {language for language, _, _ in rows} == {"en", "zh", "ko"}
    for language in ("en", "zh", "ko"):
        assert {kind for tongue, kind, _ in rows if tongue == language} == {
            "list",
            "comparison",
            "deep_dive",
            "general",
        }


def test_b3_most_example_questions_are_of_the_type_their_table_says() -> None:
    wrong = [
        (kind, analyze(text).query_type, text) for _, kind, text in _examples() if analyze(text).query_type != kind
    ]
    assert len(wrong) <= 4, wrong


@pytest.mark.parametrize(
    "question",
    [
        "sotorasib 和 adagrasib 的疗效和安全性有什么不同？",
        "sotorasib와 adagrasib의 효능과 안전성 차이",
        "sotorasibとadagrasibの有効性と安全性の違い",
    ],
)
def test_what_is_said_of_things_to_compare_is_a_point_and_no_thing(question: str) -> None:
    topic = topic_of(question)
    assert topic.subjects == ("sotorasib", "adagrasib")
    assert len(topic.facets) == 2


@pytest.mark.parametrize(
    ("question", "subjects"),
    [
        ("パッケージの「推奨」と「提案」の違いは何ですか？", ("推奨", "提案")),
        ("패키지의 '추천'과 '제안'은 어떻게 다른가요?", ("추천", "제안")),
        ("软件包依赖关系里的“推荐”和“建议”有什么区别？", ("推荐", "建议")),
    ],
)
def test_quoted_names_are_compared_whatever_stands_before_them(question: str, subjects: tuple[str, ...]) -> None:
    assert topic_of(question).subjects == subjects
