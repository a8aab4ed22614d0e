"""What was read of texts, kept for whoever asks again: of many short ones, and of the last few long ones alone."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

_T = TypeVar("_T")
_SHORT, _LONG_ONES = 20_000, 4
"""Characters of a text as passages are; a page may have millions, and what is read of it takes a hundred times as much."""


def keep_readings(most: int) -> Callable[[Callable[[str], _T]], Callable[[str], _T]]:
    """Return a decorator for what reads a text: it keeps what was read of the last `most` short texts, and of few long ones."""

    def decorate(read: Callable[[str], _T]) -> Callable[[str], _T]:
        short, long = lru_cache(maxsize=most)(read), lru_cache(maxsize=_LONG_ONES)(read)

        @wraps(read)
        def kept(text: str) -> _T:
            return short(text) if len(text) <= _SHORT else long(text)

        return kept

    return decorate
