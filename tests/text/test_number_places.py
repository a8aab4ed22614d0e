"""Numbers are looked for beside digits only; what is found is what a search of every character finds."""

import random
import re
from collections.abc import Iterator

import pytest
from deep_research.text.units import DATES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deep_research.text import quantities as numbers

_PIECES = (
    "5 12 2024 1,000 3.5 1 000 000 0 20 90 - – $ US$ EUR usd % . , ; : / _ # ( ) \n GPT v A x version versions The In"
    " Python Llama of the May march Sept september and 3rd 1990s 世纪 年代 年 5月 million bn k M mg third Twenty hundred"
    " 제 三 百 at 10.1000/a www. https:// a@b.c é"
).split(" ")
_TEXTS = st.lists(st.sampled_from([*_PIECES, " ", " "]), max_size=30).map("".join)


_SENTENCES = (
    "In March 2024, 5 of 12 sites (about 42%) cost US$ 3.5 million each, -20% against May 1999; see arXiv: 1234.5678.",
    "Versions 3.11.2 and GPT-4 ran at 10,000 rpm; the 3rd took 1 000 000 s, a.b@c.de 7, and x_5 or #12 none of $40.",
    "The In Python 3.12 and version 2.0 of 5 May 2021 and September 3 need 1/2 L, 14:30 h, 20–30 kg and the 1990s.",
    "2021年5月に3万人、約12%、第3回、1990年代；20世紀80年代，5 000元。약 30개, 3월 5일.",
)


def _all_texts() -> list[str]:
    """Return sentences with many kinds of numbers, and texts of their pieces in any order."""
    chance = random.Random(20261123)
    return [*_SENTENCES, *("".join(chance.choices([*_PIECES, " ", " "], k=14)) for _ in range(150))]


@pytest.mark.parametrize("text", _all_texts())
def test_a_number_is_found_wherever_it_stands(text: str) -> None:
    _assert_all_are_found(text)


@given(_TEXTS)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_found_beside_digits_is_what_is_found_everywhere(text: str) -> None:
    _assert_all_are_found(text)


def _assert_all_are_found(text: str) -> None:
    for pattern in (numbers._AMOUNT, DATES, *(pattern for pattern, _ in numbers._EXTRACTORS)):
        assert _spans(numbers._find(pattern, text)) == _spans(pattern.finditer(text)), pattern.pattern[:40]
    assert _spans(numbers.find_others(text)) == _spans(
        found for found in numbers._NOT_NUMBERS.finditer(text) if _counts(found)
    )


def _spans(found: Iterator[re.Match[str]]) -> list[tuple[int, int]]:
    return [match.span() for match in found]


def _counts(found: re.Match[str]) -> bool:
    return not found["of"] or numbers._may_have_versions(found["of"].lower())
