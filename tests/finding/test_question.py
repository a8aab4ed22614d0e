"""How a question is read: its parts, the things it compares, the words that are looked for."""

import pytest

from deep_research.finding.question import read_question
from deep_research.finding.words import COMMON, read_words, terms_of


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What limits subprocess.run, and what happens to the child?", 2),
        ("How do I replicate a table? What is not replicated?", 2),
        ("How does mod_rewrite differ from mod_alias, and when should we use which?", 1),
        ("Compare DROP with TRUNCATE. Which port does the server use?", 2),
    ],
)
def test_parts(question: str, parts: int) -> None:
    assert len(read_question(question).parts) == parts


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("How does mod_rewrite differ from mod_alias, and when should we use which?", ("mod_rewrite", "mod_alias")),
        (
            "Compare pg_dump, pg_basebackup and continuous archiving for backing up a 500 GB database. Which should we use?",
            ("pg_dump", "pg_basebackup", "continuous archiving"),
        ),
        ("GiST と GIN の違いは？", ("GiST", "GIN")),
    ],
)
def test_things_compared(question: str, things: tuple[str, ...]) -> None:
    assert read_question(question).parts[0].things == things


def test_a_later_part_keeps_the_words_of_the_first() -> None:
    second = read_question("What limits subprocess.run, and what happens to the child?").parts[1]
    assert [word.text for word in second.words if word.worth > 0.5] == ["child"]
    assert "subprocess.run" in [word.text for word in second.context]


def test_what_is_told_before_a_question_says_what_it_is_about() -> None:
    (part,) = read_question("The data file is huge. How do I shrink it?").parts
    assert [word.text for word in part.words if word.worth > 0.5] == ["shrink"]
    assert {"data", "file"} <= {word.text for word in part.context}


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("アカウントの鍵を変えるにはどうすればいいですか？", "ja", ["アカウント", "鍵", "変"]),
        ("같은 로직을 재사용하는 방법은?", "ko", ["로직", "재사용하"]),
    ],
)
def test_what_is_a_word(question: str, language: str, expected: list[str]) -> None:
    assert [word.text for word in read_words(question, language) if word.worth > COMMON] == expected


@pytest.mark.parametrize(
    ("word", "language", "text", "is_there"),
    [
        ("변경해야", "ko", "설정을 변경합니다", True),
        ("변경해야", "ko", "지금 해야 합니다", False),  # an ending alone is none of it
        ("変", "ja", "鍵を変更する", True),
    ],
)
def test_a_word_is_known_by_its_stem(word: str, language: str, text: str, is_there: bool) -> None:
    (read,) = read_words(word, language)
    assert (read.share(terms_of(text)) > 0) == is_there


def test_a_long_question_is_cut() -> None:
    asked = read_question(" ".join(f"term{n}" for n in range(500)))
    assert sum(len(part.words) for part in asked.parts) == 60
    assert asked.is_cut
    assert not read_question("What is a pump?").is_cut
