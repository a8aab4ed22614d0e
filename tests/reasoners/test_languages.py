"""Which languages a section is made from: the reader's, then English, a third one only where there is nothing else."""

from deep_research.data import Brief, Section
from deep_research.reasoners.extractive.section_writing import write_section
from tests.reasoners.libraries import all_passages, library

CHINESE = "# RAG 的评估\n\nRAGAS 在没有参考答案的情况下评估 RAG 系统，并提出了三个评估指标。"
ENGLISH = (
    "# Measures for RAG systems\n\n"
    "RAGAS evaluates RAG systems without reference answers and proposes three measures of the quality of an answer."
)
KOREAN = "# RAG 평가\n\nRAGAS는 정답 없이 RAG 시스템을 평가하며 세 가지 지표를 제안했다."
QUESTION = "RAG 시스템은 어떻게 평가하나요?"


def _written(**texts: str) -> str:
    kept = library(**texts)
    section = Section(title="답변", queries=(QUESTION,))
    brief = Brief(title=QUESTION, objective="x", language="ko", sections=(section,))
    return write_section(section, brief, all_passages(kept), kept).content


def test_the_readers_language_comes_first_and_no_third_language() -> None:
    content = _written(one=CHINESE, two=ENGLISH, three=KOREAN)
    assert content.index("정답 없이") < 100
    assert "参考答案" not in content


def test_english_is_quoted_where_the_readers_language_has_nothing() -> None:
    assert "without reference answers" in _written(one=CHINESE, two=ENGLISH)


def test_a_third_language_is_better_than_nothing() -> None:
    assert "参考答案" in _written(one=CHINESE)
