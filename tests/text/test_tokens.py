import pytest

from claimcheck.text.tokens import STOP_WORDS, content_terms, index_terms, tokenize


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("e-mail", "email"),
        ("state-of-the-art", "state of the art"),
        ("Ångström", "angstrom"),
        ("ﬁnding", "find"),
        ("Love's", "love"),
        ("asyncio.gather()", "gather"),
        ("indexes", "index"),
        ("ｶﾀｶﾅ", "カタカナ"),
    ],
)
def test_two_ways_of_writing_share_a_term(one: str, other: str) -> None:
    assert set(content_terms(one)) & set(content_terms(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++", "C"), ("C#", "C++"), ("3.14", "14"), ("1,000", "1"), ("й", "и"), ("が", "か"), ("GPT-4", "GPT-3.5x")],
)
def test_different_things_have_a_term_of_their_own(one: str, other: str) -> None:
    assert set(content_terms(one)) - set(content_terms(other))


def test_names_of_languages_stay_whole() -> None:
    assert tokenize("C++, C# and F# on .NET or ASP.NET with Node.js") == [
        "c++", "c#", "and", "f#", "on", ".net", "net", "or", "asp.net", "asp", "net", "with", "node.js", "node", "js",
    ]  # fmt: skip


def test_a_sentence_end_is_not_a_part_of_the_word() -> None:
    assert tokenize("It ends. Next, “quoted”; (bracketed)!") == ["it", "end", "next", "quot", "bracket"]


def test_chinese_gives_bigrams_without_question_words() -> None:
    assert tokenize("RAG技术的进展") == ["rag", "技术", "术的", "的进", "进展"]
    assert content_terms("RAG技术有哪些进展？") == ["rag", "技术", "进展"]
    assert content_terms("如何训练模型") == ["训练", "练模", "模型"]
    assert content_terms("什么是注意力") == ["是注", "注意", "意力"]


def test_japanese_question_words_go_and_geometry_stays() -> None:
    assert content_terms("特徴は何ですか") == content_terms("特徴は")
    assert content_terms("幾何学") == ["幾何", "何学"]


def test_korean_words_lose_their_particle_only() -> None:
    assert content_terms("한국어의 문법은 무엇인가요?") == ["한국", "국어", "문법"]
    assert index_terms("한국어의") == ["한국", "국어", "한국어"]
    assert tokenize("고양이") == ["고양"]
    assert tokenize("나") == ["나"]


def test_scripts_without_spaces_and_with_combining_vowels() -> None:
    assert tokenize("ภาษาไทย")[:2] == ["ภา", "าษ"]
    assert tokenize("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    assert tokenize("Москва") == ["москва"]


def test_stop_words_are_kept_by_tokenize_and_dropped_from_content() -> None:
    text = "What is the use of an index?"
    assert set(tokenize(text)) & STOP_WORDS
    assert content_terms(text) == ["index"]
    assert content_terms("don't") == []
    assert not content_terms("")
    assert not content_terms("\x00 ... -- ++ '' __")


def test_a_long_run_takes_linear_time() -> None:
    assert len(tokenize("字" * 100_000)) == 99_999
    assert tokenize("a-" * 50_000)
    assert tokenize("." * 100_000) == []
