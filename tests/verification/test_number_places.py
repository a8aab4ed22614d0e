"""Numbers are looked for beside digits only; what is found is what a search of every character finds."""

import re
from collections.abc import Iterator

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deep_research.verification import numbers
from deep_research.verification.dates import DATES

_PIECES = (
    "5 12 2024 1,000 3.5 1 000 000 0 20 90 - – $ US$ EUR usd % . , ; : / _ # ( ) \n GPT v A x version versions The In"
    " Python Llama of the May march Sept september and 3rd 1990s 世纪 年代 年 5月 million bn k M mg third Twenty hundred"
    " 제 三 百 at 10.1000/a www. https:// a@b.c é"
).split(" ")
_TEXTS = st.lists(st.sampled_from([*_PIECES, " ", " "]), max_size=30).map("".join)


@given(_TEXTS)
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_found_beside_digits_is_what_is_found_everywhere(text: str) -> None:
    for pattern in (numbers._AMOUNT, DATES, *(pattern for pattern, _ in numbers._EXTRACTORS)):
        assert _spans(numbers._find(pattern, text)) == _spans(pattern.finditer(text)), pattern.pattern[:40]
    assert _spans(numbers._find_others(text)) == _spans(numbers._NOT_NUMBERS.finditer(text))


def _spans(found: Iterator[re.Match[str]]) -> list[tuple[int, int]]:
    return [match.span() for match in found]
