"""What a question asks: its parts, what it tells beside them, what it turns down."""

import pytest

from deep_research.text.question_parts import asks_for_choice, question_parts, turned_down, with_topics

LONG = (
    "I am an administrator who is about to take over a server. Please explain how backups work, how I can see which "
    "queries are slow, and finally what I have to do to upgrade. I would like to see the names, because we need them."
)


def test_what_is_told_about_the_one_who_asks_is_no_part() -> None:
    parts, context = question_parts(LONG, "en")
    assert parts == (
        "Please explain how backups work",
        "how I can see which queries are slow",
        "what I have to do to upgrade",
    )
    assert context.startswith("I am an administrator")
    assert context.endswith("because we need them.")


def test_a_sentence_that_only_tells_is_the_question_where_nothing_else_is_asked() -> None:
    told = "I am someone who wants a list of backup tools."
    assert question_parts(told, "en").parts == (told,)


def test_a_wish_to_know_asks() -> None:
    assert question_parts("I would like to know how backups work. It is urgent.", "en").parts == (
        "I would like to know how backups work",
    )


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("When should I use SQLite instead of a client/server database?", "a client/server database"),
        ("什么时候用 SQLite 而不是客户端数据库？", "客户端数据库"),
        ("언제 MySQL 대신 SQLite를 사용해야 하나요?", "MySQL"),
        ("いつ MySQL ではなく SQLite を使うべきですか", "MySQL"),
        ("When was SQLite written?", ""),
    ],
)
def test_what_is_turned_down_is_known(question: str, other: str) -> None:
    assert turned_down(question).strip() == other


@pytest.mark.parametrize(
    ("question", "is_choice"),
    [
        ("When should I use a hash index?", True),
        ("各适用于什么场景？", True),
        ("언제 해시 인덱스를 사용하나요?", True),
        ("いつハッシュ索引を使いますか", True),
        ("When was the hash index written?", False),
    ],
)
def test_a_question_for_the_uses_of_a_thing_is_known(question: str, is_choice: bool) -> None:
    assert asks_for_choice(question) is is_choice


def test_a_sentence_ends_behind_a_quotation() -> None:
    told = "Our writers get 'database is locked'. Which settings help?"
    assert question_parts(told, "en") == (("Which settings help",), "Our writers get 'database is locked'")


def test_what_is_gained_is_gained_by_what_was_named_before() -> None:
    asked = question_parts("Should we switch to WAL mode, what do we gain and what does it cost us?", "en")
    assert list(with_topics(asked).values()) == ["", "WAL mode", "WAL mode"]
