import unicodedata

import pytest

from claimcheck.text.normal_forms import normalized
from claimcheck.text.tokens import content_terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("e-mail", "email"),
        ("state-of-the-art", "state of the art"),
        ("Ångström", "angstrom"),
        ("ﬁnding", "find"),
        ("asyncio.gather()", "gather"),
        ("ｶﾀｶﾅ", "カタカナ"),
    ],
)
def test_two_ways_of_writing_share_a_term(one: str, other: str) -> None:
    assert set(content_terms(one)) & set(content_terms(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++", "C"), ("3.14", "14"), ("й", "и"), ("が", "か"), ("GPT-4", "GPT-3.5x")],
)
def test_different_things_have_a_term_of_their_own(one: str, other: str) -> None:
    assert set(content_terms(one)) - set(content_terms(other))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("RAG技术有哪些进展？", ["rag", "技术", "进展"]),
        ("特徴は何ですか", content_terms("特徴は")),
        ("幾何学", ["幾何", "何学"]),
        ("한국어의 문법은 무엇인가요?", ["한국", "국어", "문법"]),
        ("What is the use of an index?", ["index"]),
        ("\x00 ... -- ++ '' __", []),
    ],
)
def test_words_of_questions_and_particles_are_no_content(text: str, terms: list[str]) -> None:
    assert content_terms(text) == terms


def test_whatever_becomes_a_mark_is_cut_where_there_are_thousands() -> None:
    become = [
        sign for sign in map(chr, range(0x110000)) if unicodedata.combining(unicodedata.normalize("NFKD", sign)[0])
    ]
    assert [sign for sign in become if len(normalized("NFKC", "a" + sign * 200)) > 100] == []
