"""Texts that together do not fit a model: trimmed to its window, then by a tenth a time."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from deep_research.errors import ContextTooLong
from deep_research.text.budget import estimate_tokens

_R = TypeVar("_R")
_RETRIES = 3
_CITED = re.compile(r"(?<=\])(?=\s)|\n")
_SAID = re.compile(r"(?<=[.!?。！？])(?=\s)")


async def fitted(texts: Sequence[str], window: int, make: Callable[[Sequence[str]], Awaitable[_R]]) -> _R:
    """Return `make(texts)`; where that proves too long, of the texts trimmed to `window` tokens together, and
    then by 10 % a time, three times in all (contract row D5).

    Raises ContextTooLong when it is too long even then.
    """
    budget = min(window, sum(map(estimate_tokens, texts)) * 9 // 10)
    shown = texts
    for _ in range(_RETRIES):
        try:
            return await make(shown)
        except ContextTooLong:
            shown = trimmed(texts, budget)
            budget = budget * 9 // 10
    return await make(shown)


def trimmed(texts: Sequence[str], budget: int) -> list[str]:
    """Return the beginnings of `texts`, each cut in the same proportion after a whole sentence with its ids."""
    total = sum(map(estimate_tokens, texts))
    return list(texts) if total <= budget else [_beginning(text, budget / total) for text in texts]


def _beginning(text: str, share: float) -> str:
    limit = int(len(text) * max(share, 0.0))
    whole = _CITED if "]" in text else _SAID  # a sentence without its ids could not be cited
    ends = [match.start() for match in whole.finditer(text, 0, limit + 1) if match.start() <= limit]
    return text[: ends[-1]].rstrip() if ends else ""
