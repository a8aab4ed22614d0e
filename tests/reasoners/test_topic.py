"""Whether passages answer a question: half of what it asks, in one passage, in whatever language."""

import pytest

from deep_research.text.question_terms import coverage, is_answered, specific, units, without_furniture
from deep_research.text.tokens import content_terms

PENGUINS = "How do penguins survive the Antarctic winter?"


def _terms(*texts: str) -> list[frozenset[str]]:
    return [frozenset(content_terms(text)) for text in texts]


@pytest.mark.parametrize(
    ("question", "language", "passage"),
    [
        (PENGUINS, "en", "Penguins huddle together to survive the winter on the Antarctic ice."),
        ("企鹅如何在南极越冬？", "zh", "企鹅在南极挤在一起，度过寒冷的越冬时期。"),
        ("펭귄은 남극의 겨울을 어떻게 보내나요?", "ko", "펭귄은 남극의 겨울에 서로 모여 체온을 유지한다."),
        ("SQLiteのWALモードの仕組みを教えてください", "ja", "SQLite appends changes to the WAL."),
        ("Explain how autovacuum works", "en", "The autovacuum daemon removes dead rows."),
        ("How does GLP-1 work?", "en", "GLP-1 slows the emptying of the stomach."),
    ],
)
def test_a_passage_about_the_question_answers_it(question: str, language: str, passage: str) -> None:
    assert is_answered(units(question, language, ["en"]), _terms(passage))


@pytest.mark.parametrize(
    ("question", "language", "passages"),
    [
        (PENGUINS, "en", ["Committed data survive a crash.", "Cuba stays on summer time this winter."]),
        ("What are the side effects of ibuprofen in children?", "en", ["Side effects on child tables are usual."]),
        ("What is the boiling point of sulfuric acid?", "en", ["At this point an amino acid is exchanged."]),
        ("企鹅如何在南极越冬？", "zh", ["事务在提交之后不会丢失。", "The commit survives a crash."]),
        ("펭귄은 남극의 겨울을 어떻게 보내나요?", "ko", ["트랜잭션은 커밋된 뒤에 사라지지 않는다."]),
    ],
)
def test_stray_words_of_a_question_do_not_answer_it(question: str, language: str, passages: list[str]) -> None:
    assert not is_answered(units(question, language, ["en"]), _terms(*passages))


def test_the_words_must_stand_in_one_passage() -> None:
    scattered = ["Penguins are birds.", "The Antarctic is a continent.", "In winter it is cold."]
    assert not is_answered(units(PENGUINS, "en"), _terms(*scattered))
    assert is_answered(units(PENGUINS, "en"), _terms(" ".join(scattered)))


def test_a_question_is_covered_in_translation_both_ways() -> None:
    english = _terms("Speculative decoding lets a small model propose tokens.")
    chinese = _terms("投机解码让小模型先提出若干词元。")
    assert is_answered(units("投机解码是如何工作的？", "zh", ["en"]), english)
    assert is_answered(units("How does speculative decoding work?", "en", ["zh"]), chinese)
    assert not is_answered(units("How does speculative decoding work?", "en"), chinese)


def test_words_of_every_question_are_no_units() -> None:
    assert units("Explain how it works", "en") == []
    assert units("有哪些方法？", "zh") == []
    assert units("어떤 종류가 있나요?", "ko") == []


def test_a_word_on_every_page_tells_less_than_a_rare_one() -> None:
    said = _terms("Acme locks", "Acme vacuum", "Acme tables", "Acme logs")
    asked = units("How does vacuum work in Acme?", "en")
    weighed = specific(asked, said)
    assert coverage(weighed, said[1]) > 2 * coverage(weighed, said[0])


def test_furniture_is_taken_out_of_english_queries_only() -> None:
    assert without_furniture("Explain how autovacuum works in PostgreSQL") == "how autovacuum in PostgreSQL"
    assert without_furniture("请解释自动清理") == "请解释自动清理"
    assert without_furniture("compare") == "compare"
    assert without_furniture("Compare", alone=True) == ""
