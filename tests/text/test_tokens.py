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


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (
            "C++, C# and F# on .NET or ASP.NET",
            ["c++", "c#", "and", "f#", "on", ".net", "net", "or", "asp.net", "asp", "net"],
        ),
        ("with Node.js", ["with", "node.js", "node", "js"]),
        ("It ends. Next, “quoted”; (bracketed)!", ["it", "end", "next", "quot", "bracket"]),
        ("RAG技术的进展", ["rag", "技术", "术的", "的进", "进展"]),
        ("고양이", ["고양"]),
        ("나", ["나"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Москва", ["москва"]),
    ],
)
def test_words_of_every_script_are_cut_alike(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("RAG技术有哪些进展？", ["rag", "技术", "进展"]),
        ("如何训练模型", ["训练", "练模", "模型"]),
        ("什么是注意力", ["是注", "注意", "意力"]),
        ("特徴は何ですか", content_terms("特徴は")),
        ("幾何学", ["幾何", "何学"]),
        ("한국어의 문법은 무엇인가요?", ["한국", "국어", "문법"]),
        ("What is the use of an index?", ["index"]),
        ("don't", []),
        ("", []),
        ("\x00 ... -- ++ '' __", []),
    ],
)
def test_words_of_questions_and_particles_are_no_content(text: str, terms: list[str]) -> None:
    assert content_terms(text) == terms


def test_stop_words_are_kept_by_tokenize_and_whole_words_by_the_index() -> None:
    assert set(tokenize("What is the use of an index?")) & STOP_WORDS
    assert index_terms("한국어의") == ["한국", "국어", "한국어"]
