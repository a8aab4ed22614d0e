"""Quotations must be there word for word; verbatim stretches are found with their offsets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deep_research.verification.quotations import find_verbatim, is_verbatim, quotations, quotations_occur


def test_quotation_marks_of_many_languages() -> None:
    text = 'He said “one” and "two", 「三」『四』 «five», and a 5" pipe.'
    assert [q.text for q in quotations(text)] == ["one", "two", "三", "四", "five"]
    assert all(text[q.start : q.end] == q.text for q in quotations(text))


@pytest.mark.parametrize(
    "claim",
    [
        "It says “the quick brown fox”.",
        'It says "the quick … fox."',
        "It says “[T]he quick brown fox,” they say.",
        "它说“敏捷的狐狸”。",
    ],
)
def test_honest_quotations(claim: str) -> None:
    assert quotations_occur(claim, "Here the  quick\nbrown fox runs. 这是敏捷的\n狐狸。").ok


@pytest.mark.parametrize(
    "claim", ["It says “the quick red fox”.", "It says “fox … quick”.", "It says “he quick”.", "它说“敏捷的熊”。"]
)
def test_misquotations(claim: str) -> None:
    found = quotations_occur(claim, "Here the quick brown fox runs. 这是敏捷的狐狸。")
    assert not found.ok
    assert found.missing


def test_a_near_miss_is_called_so() -> None:
    found = quotations_occur("“the quick brown foxes jump”", "the quick brown fox jumped over")
    assert found.near


def test_offsets_are_those_of_the_text() -> None:
    text = "a  The “quick”\n fox – ran. b"
    span = find_verbatim('the "quick" fox - ran.', text)
    assert span is not None
    assert text[slice(*span)] == "The “quick”\n fox – ran."


def test_half_a_word_is_not_verbatim() -> None:
    assert not is_verbatim("he quick", "the quick")
    assert not is_verbatim("", "the quick")


@given(st.text(alphabet="ab 中文。.\n", min_size=1), st.data())
def test_every_line_of_a_text_is_verbatim_in_it(text: str, data: st.DataObject) -> None:
    lines = [line for line in text.split("\n") if line.strip()]
    if lines:
        assert is_verbatim(data.draw(st.sampled_from(lines)), text)
