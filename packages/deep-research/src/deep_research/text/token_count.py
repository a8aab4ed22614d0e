"""Token counts where no provider gave one, and lists cut to a budget."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from claimcheck.language import CJK
from claimcheck.lexicon import compile_on_use

_CJK = compile_on_use(f"[{CJK}]")
_T = TypeVar("_T")


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of `text`, at four Latin or 1.5 CJK characters each."""
    cjk = 0 if text.isascii() else len(_CJK.findall(text))
    return (len(text) - cjk) // 4 + (cjk * 2 + 2) // 3 + 1


def take_within_budget(items: Iterable[tuple[_T, str]], budget: int) -> Iterator[_T]:
    """Yield the items in order while their texts fit `budget` tokens; at least one."""
    used = 0
    for count, (item, text) in enumerate(items):
        used += estimate_tokens(text)
        if used > budget and count:
            return
        yield item
