"""Find out a server that cuts prompts without a word: it says how many tokens it has read, and there were more."""

import hashlib
from typing import NamedTuple

from deep_research.data import ModelMessage, Usage
from deep_research.text.token_count import estimate_tokens

_LEAST, _SHARE = 1_000, 0.4
"""Of a new part of so many tokens, by our estimate, less is read than this share of it: more than the estimate errs by."""
_LONGER, _WHOLE = 1.3, 0.7
"""Of two prompts, one longer by this factor, the same number of tokens is read, to the token, and of the longer one less
than this share: more than the estimate errs by. A window is the most that is ever read: of what a cache leaves
uncounted, two numbers are alike by chance, and the highest is that of the first prompt."""


class Reading(NamedTuple):
    """What became of a prompt: `is_cut` where only a part of it was probably read; `window` where that is sure, else 0."""

    is_cut: bool
    window: int


class CutPrompts:
    """Keeps what a server has read of the prompts of a run."""

    def __init__(self) -> None:
        self._begun: set[bytes] = set()
        self._most = self._shortest = self._longest = 0

    def note(self, messages: tuple[ModelMessage, ...], total: int, usage: Usage) -> Reading:
        """Take in what was read of `messages`, which have about `total` tokens with all that was sent along.

        Some servers do not count what they have in their cache: what an earlier prompt began with is not missed.
        """
        new = self._new_tokens(messages)
        read = usage.prompt_tokens
        if usage.estimated or not read:
            return Reading(is_cut=False, window=0)
        is_cut = new >= _LEAST and read < new * _SHARE
        if read > self._most:
            self._most, self._shortest, self._longest = read, total, total
        if read < self._most:
            return Reading(is_cut, 0)
        self._shortest, self._longest = min(self._shortest, total), max(self._longest, total)
        is_sure = self._longest >= max(_LEAST, self._shortest * _LONGER) and read < self._longest * _WHOLE
        return Reading(is_cut, read if is_sure else 0)

    def _new_tokens(self, messages: tuple[ModelMessage, ...]) -> int:
        """Return about how many tokens stand behind the messages that an earlier prompt began with."""
        chain, tokens = hashlib.sha256(), 0
        for message in messages:
            chain.update(f"{message.role} {message.tool_calls} {message.text}".encode("utf-8", "replace"))
            if (key := chain.digest()) not in self._begun:
                tokens += estimate_tokens(message.text)
                self._begun.add(key)
        return tokens
