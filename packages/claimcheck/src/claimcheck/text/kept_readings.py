"""Cached readings of texts: many of short texts, few of long ones."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

_T = TypeVar("_T")
_SHORT, _LONG_ONES = 20_000, 4
"""Characters of a text as passages are; a page may have millions, and what is read of it takes a hundred times as much."""


def keep_readings(most: int) -> Callable[[Callable[[str], _T]], Callable[[str], _T]]:
    """Return a decorator that caches the readings of `most` short and few long texts."""

    def decorate(read: Callable[[str], _T]) -> Callable[[str], _T]:
        short, long = lru_cache(maxsize=most)(read), lru_cache(maxsize=_LONG_ONES)(read)
        return wraps(read)(lambda text: short(text) if len(text) <= _SHORT else long(text))

    return decorate
