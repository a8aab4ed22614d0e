"""Unicode normalization in linear time (UAX #15, Stream-Safe Text Format)."""

import re
import unicodedata
from functools import cache
from typing import Literal

_MOST_MARKS = 30
"""Marks on one letter that are kept; far more than any language needs (UAX #15, section 13)."""
_LAST_MARK = 0x20000
_BECOME_MARKS = "\u0f73\u0f75\u0f81\uff9e\uff9f"
"""Marks once they are decomposed, of Tibetan and of half the width."""


def normalized(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """Return a text in a normal form; of a run of combining marks the first thirty.

    Sorting a run takes the square of its length in one call, beside which no thread goes on.
    """
    return text if text.isascii() else unicodedata.normalize(form, _long_runs().sub(r"\1", text))


@cache
def _long_runs() -> re.Pattern[str]:
    marks = "".join(sign for sign in map(chr, range(0x300, _LAST_MARK)) if unicodedata.combining(sign))
    return re.compile(f"([{marks}{_BECOME_MARKS}]{{{_MOST_MARKS}}})[{marks}{_BECOME_MARKS}]+")
