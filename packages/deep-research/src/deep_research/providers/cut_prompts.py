"""Find out a server that cuts prompts without a word: it says how many tokens it has read, and there were more."""

import hashlib
from typing import NamedTuple

from deep_research.data import ModelMessage, Usage
from deep_research.text.token_count import estimate_tokens

_LEAST, _SHARE = 1_000, 0.4
"""Of a new part of so many tokens, by our estimate, less is read than this share of it: more than the estimate errs by."""
_SAME, _LEAST_WINDOW, _GROWTH, _WHOLE = 3, 256, 1.1, 0.7
"""So many prompts, each longer than the last by this factor, of which the same number of tokens is read, to the token,
and less than this share: that number is the window. What a cache leaves uncounted is not the same each time."""


class Reading(NamedTuple):
    """What became of a prompt: `is_cut` where only a part of it was probably read; `window` where that is sure, else 0."""

    is_cut: bool
    window: int


class CutPrompts:
    """Keeps what a server has read of the prompts of a run."""

    def __init__(self) -> None:
        self._begun: set[bytes] = set()
        self._read: dict[int, list[int]] = {}

    def note(self, messages: tuple[ModelMessage, ...], total: int, usage: Usage) -> Reading:
        """Take in what was read of `messages`, which have about `total` tokens with all that was sent along.

        Some servers do not count what they have in their cache: what an earlier prompt began with is not missed.
        """
        new = self._new_tokens(messages)
        read = usage.prompt_tokens
        if usage.estimated or not read:
            return Reading(is_cut=False, window=0)
        is_cut = new >= _LEAST and read < new * _SHARE
        if read < _LEAST_WINDOW or read > total * _WHOLE:
            return Reading(is_cut, 0)
        totals = self._read.setdefault(read, [])
        if not totals or total > totals[-1] * _GROWTH:
            totals.append(total)
        return Reading(is_cut, read if len(totals) >= _SAME else 0)

    def _new_tokens(self, messages: tuple[ModelMessage, ...]) -> int:
        """Return about how many tokens stand behind the messages that an earlier prompt began with."""
        chain, tokens = hashlib.sha256(), 0
        for message in messages:
            chain.update(f"{message.role} {message.tool_calls} {message.text}".encode("utf-8", "replace"))
            if (key := chain.digest()) not in self._begun:
                tokens += estimate_tokens(message.text)
                self._begun.add(key)
        return tokens
