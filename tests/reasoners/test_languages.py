"""Which languages a report is made from: the reader's, then English, a third one only where there is nothing else."""

from deep_research.data import Brief, Section
from deep_research.reasoners.extractive.section_writing import write_section
from deep_research.reasoners.extractive.topic_clusters import themes
from deep_research.text.question_terms import units_for
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
    section = Section(title="RAG", queries=("RAG evaluation 평가",))
    brief = Brief(title=QUESTION, objective="x", language="ko", sections=(section,))
    return write_section(section, brief, all_passages(kept), kept).content


def test_english_fills_up_what_the_readers_language_lacks_and_no_third_language() -> None:
    content = _written(one=CHINESE, two=ENGLISH, three=KOREAN)
    assert "정답 없이" in content
    assert "without reference answers" in content
    assert "参考答案" not in content


def test_a_third_language_is_better_than_nothing() -> None:
    assert "参考答案" in _written(one=CHINESE)


def test_sections_are_not_named_in_a_third_language() -> None:
    kept = library(**{"RAG 的评估": CHINESE, "Measures for RAG systems": ENGLISH})
    hits = all_passages(kept)
    titles = {s.id: s.title for s in kept.sources()}
    found = themes(units_for(QUESTION, "ko", hits), hits, titles, QUESTION, language="ko")
    assert "RAG 的评估" not in found


def test_what_every_page_names_is_no_theme() -> None:
    pages = {
        "Pumpo": "# Pumpo\n\nPumpo is a program for boats that is made in Graz.",
        "Fire walls": "# Fire walls\n\nA fire wall of Pumpo keeps strangers out of the boat.",
        "Rules": "# Rules of a fire wall\n\nPumpo reads the rules of the fire wall when the boat starts.",
    }
    kept = library(**pages)
    hits, titles = all_passages(kept), {s.id: s.title for s in kept.sources()}
    question = "How do I set up a fire wall in Pumpo?"
    found = themes(units_for(question, "en", hits), hits, titles, question, language="en")
    assert found
    assert "Pumpo" not in found
