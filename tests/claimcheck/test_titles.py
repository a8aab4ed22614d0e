"""Titles and headings say nothing that no passage says."""

import pytest

from deep_research.claimcheck.titles import MOST_CHARS, founded_headings, founded_title, is_founded, plain_title

EVIDENCE = "The Alpha engine by Rolf Maier turns at 3,000 rpm and weighs 85 kg since 1999. GPT-4 is a model."


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("  ## **The** engine  ", "The** engine"),
        ("The engine [s1p1][s77p7]", "The engine"),
        ("See [the page](http://evil.example/) now", "See the page now"),
        ("Two\nlines\tof it", "Two lines of it"),
        ("`code` and more", "code` and more"),
    ],
)
def test_plain_titles(title: str, plain: str) -> None:
    assert plain_title(title) == plain


def test_a_long_title_is_cut_at_a_word() -> None:
    cut = plain_title("word " * 100)
    assert len(cut) <= MOST_CHARS + 1
    assert cut.endswith("word…")


@pytest.mark.parametrize(
    ("title", "founded"),
    [
        ("How fast the engine turns", "How fast the engine turns"),
        ("The engine turns at 3,000 rpm", "The engine turns at 3,000 rpm"),
        ("The engine turns at 99,999 rpm", "Part"),
        ("Speed: it turns at 99,999 rpm", "Speed"),
        ("5 ways to save fuel since 2020", "5 ways to save fuel since 2020"),
        ("20 ways to save fuel", "20 ways to save fuel"),
        ("Save fuel: 21 ways", "Save fuel"),
        (": 99,999 rpm", "Part"),
        ("99,999 rpm: the speed", "Part"),
        ("Weight, 99 kg", "Weight"),
        ("速度：99,999 rpm", "速度"),
        ("It turns in 2031 at 21 stops", "Part"),
        ("", "Part"),
    ],
)
def test_planned_titles(title: str, founded: str) -> None:
    assert founded_title(title, EVIDENCE, "Part") == founded


@pytest.mark.parametrize(
    "heading", ["Weight of 85 kg", "What GPT-4 is", "Speed And Weight", "Built by Rolf Maier", "速度"]
)
def test_headings_that_stay(heading: str) -> None:
    assert is_founded(heading, EVIDENCE)


def test_a_heading_of_a_hundred_characters_stays() -> None:
    assert is_founded(
        "what is known of the speed, the weight and the use of the engine on rivers, lakes and open seas", ""
    )


@pytest.mark.parametrize("heading", ["Weight of 99 kg", "Why GPT-5 is better", "Built by Anna Holm in time", "x " * 90])
def test_headings_that_go(heading: str) -> None:
    assert not is_founded(heading, EVIDENCE)


def test_the_text_below_a_heading_stays() -> None:
    text = "Before.\n\n### It weighs 99 kg\n\nText.\n\n```\n# 99 kg\n```\n\n### Weight of 85 kg\n\nEnd."
    assert founded_headings(text, [EVIDENCE]) == "Before.\n\nText.\n\n```\n# 99 kg\n```\n\n### Weight of 85 kg\n\nEnd."
