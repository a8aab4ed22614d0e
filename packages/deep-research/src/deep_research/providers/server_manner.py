"""Learn from refusals how a server wants to be asked for a model, each just once.

A manner only ever grows narrower, and what a refusal teaches is read from the request that was refused. So calls in
flight side by side may learn the same thing twice, and never undo what a neighbour has learnt.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from deep_research.data import ModelMessage, Usage
from deep_research.providers.http_wire import WireFailure
from deep_research.providers.model_families import Family
from deep_research.providers.provider_failures import (
    BAD_REQUEST,
    DOWN,
    UNKNOWN_MODEL,
    error_body,
    meaning_of,
    output_limit,
)
from deep_research.text.token_count import estimate_tokens

_LEAST_SHARE, _LEAST_ROOM = 8, 256
"""An answer gets no less than this fraction of a window, and so many tokens: what leaves less room is too long."""

_NEVER = frozenset({"model", "messages", "system", "options"})
_KEPT = _NEVER | {"max_tokens", "max_completion_tokens"}
"""What cannot be left out, and what even the plainest request has."""
_JSON = r"json[_ ]?(?:schema|object|mode)|structured[_ ]outputs?|grammar"
_TOOLS = r"\btools?\b|tool[_ ]?(?:use|call|choice|config)|function[_ ]call|--enable-auto-tool-choice|--jinja|roles must alternate"
TOOL_MESSAGES = "tool_messages"
"""Calls and their results in a request that offers no tools: Bedrock and gateways to it refuse them."""
_HINTS: Mapping[str, str] = {
    "response_format": _JSON,
    "output_config": _JSON,
    "tool_choice": r"tool choice|forced? (?:tool|function)",
    "tools": _TOOLS,
    TOOL_MESSAGES: _TOOLS,
    "role": r"(?:system|developer)\W{0,3}(?:role|message|prompt)|role\W.{0,40}(?:system|developer)|roles must alternate",
    "stream": r"streaming",
    "think": r"thinking",
    "thinking": r"thinking",
    "reasoning_effort": r"effort|reasoning",
    "cache_control": r"prompt caching",
    "max_tokens": r"max[_ ]?\w* ?tokens",
    "max_completion_tokens": r"max[_ ]?\w* ?tokens",
}
"""Words that mean a parameter where its name does not occur."""
_PARTS = ("role", "cache_control", TOOL_MESSAGES)
"""What is learnt about beside parameters: a role of the system, marks for a cache, calls of tools that are not offered."""
_WHOLE = "whole"
"""The refusal of an answer in one piece."""


class Manner(NamedTuple):
    """What is known about a server and a model; `refused` are rejected parameters.

    `most_output` and `window` are tokens (0: not known); at `cut` it cuts prompts without a word. `room` those that its thoughts need beside the answer,
    `path` is the number of the beginning of paths that it answers at.
    """

    refused: frozenset[str] = frozenset()
    most_output: int = 0
    window: int = 0
    room: int = 0
    path: int = 0
    cut: int = 0

    def applied(self, family: Family) -> Family:
        """Return the facts about a family as this server lets them be."""
        structured = family.structured
        if structured == "native" and self.refused & {"json_schema", "response_format", "output_config", "format"}:
            structured = "json"
        if structured == "tool" and self.refused & {"tool_choice", "tools"}:
            structured = "json"
        if structured == "json" and "response_format" in self.refused:
            structured = "text"
        change: dict[str, Any] = {"structured": structured}
        if family.output_parameter in self.refused:
            other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
            change["output_parameter"] = other[family.output_parameter]
        if self.most_output:
            change["output_tokens"] = min(family.output_tokens, self.most_output)
        if _WHOLE in self.refused:
            change["stream_only"] = True
        return family.model_copy(update=change)

    def without_refused(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a request without the parameters that the server does not take."""
        return {name: value for name, value in body.items() if name not in self.refused}

    def limit_within(self, limit: int, prompt: int) -> int:
        """Return the output limit that the window leaves after `prompt` tokens.

        Where it leaves too little, `limit` stays.
        """
        left = self.window - prompt * 11 // 10
        return min(limit, left) if left >= max(_LEAST_ROOM, self.window // _LEAST_SHARE) else limit

    def refusing(self, names: frozenset[str]) -> "Manner":
        """Return it with further parameters that are not taken."""
        return self._replace(refused=self.refused | names)


def learnt_from(failure: WireFailure, body: Mapping[str, Any], manner: Manner, provider: str) -> Manner:
    """Return the manner with what the refusal of `body` teaches; else the same one.

    The words count, whatever the status: llama.cpp refuses with 500 and OpenRouter with 404 what others do with 400.
    """
    said = error_body(failure.body)
    meaning, numbers = meaning_of(failure, said, provider)
    if window := numbers.get("window", 0):
        return manner._replace(window=min(manner.window or window, window))
    if failure.reason or meaning not in (BAD_REQUEST, DOWN, UNKNOWN_MODEL):
        return manner
    if (most := output_limit(said.message)) >= 16:
        asked = max(body.get("max_tokens") or 0, body.get("max_completion_tokens") or 0)
        if most < asked:
            return manner._replace(most_output=min(manner.most_output or most, most))
    return manner.refusing(_refused(f"{said.param} {said.message}", body))


def plainest(body: Mapping[str, Any], manner: Manner) -> Manner:
    """Return the manner in which `body` would have words of the user alone."""
    return manner.refusing(frozenset(body) - _KEPT | {name for name in _PARTS if has_part(body, name)})


def _refused(said: str, body: Mapping[str, Any]) -> frozenset[str]:
    """Return the parameter of `body` that an error names first, or else hints at."""
    if "stream" not in body and re.search(r"\bstream(?:ing)?\b", said):
        return frozenset({_WHOLE})
    names = [name for name in (*body, *_PARTS) if name not in _NEVER and has_part(body, name)]
    own = {name: rf"\b{name}\b" for name in names if name != "role"}  # each message has a role
    for patterns in (own, _HINTS):
        places = {name: re.search(patterns[name], said, re.IGNORECASE) for name in names if name in patterns}
        found = [(match.start(), name) for name, match in places.items() if match]
        if found:
            name = min(found)[1]
            # A server without schemas may still have its JSON mode.
            is_schema = name == "response_format" and body[name]["type"] == "json_schema"
            is_kind = is_schema and ("type" in said or "schema" in said)
            return frozenset({"json_schema" if is_kind else name})
    return frozenset()


def has_part(body: Mapping[str, Any], name: str) -> bool:
    """Return whether a request has a parameter or one of `_PARTS`."""
    if name == "role":
        return any(message.get("role") == "system" for message in body["messages"])
    if name == "cache_control":
        return '"cache_control"' in json.dumps(body)
    if name == TOOL_MESSAGES:
        return "tools" not in body and any(map(_is_of_tools, body["messages"]))
    return name in body


def _is_of_tools(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    types = {block.get("type") for block in content} if isinstance(content, list) else set[str]()
    return bool(message.get("tool_calls") or message["role"] == "tool" or types & {"tool_use", "tool_result"})


_LEAST_NEW, _SHARE = 1_000, 0.4
"""Of a new part of so many tokens, by our estimate, less is read than this share of it: more than the estimate errs by. A
server that says that it has read fewer does not count: no model's window is so small."""
_LONGER, _READ_SHARE = 1.3, 0.7
"""Of two prompts, one longer by this factor, the same number of tokens is read, to the token, and of the longer one less
than this share: more than the estimate errs by. A window is the most that is ever read: of what a cache leaves
uncounted, two numbers are alike by chance, and the highest is that of the first prompt."""


class Reading(NamedTuple):
    """What became of a prompt: probably cut (`is_cut`), and a sure `window` or 0."""

    is_cut: bool
    window: int


class CutPrompts:
    """A detector of servers that cut prompts silently, by the tokens they report."""

    def __init__(self) -> None:
        self._begun: set[bytes] = set()
        self._most = self._shortest = self._longest = 0

    def note(self, messages: tuple[ModelMessage, ...], total: int, usage: Usage) -> Reading:
        """Record what was read of `messages` and all sent along, about `total` tokens.

        Some servers do not count what they have in their cache: what an earlier prompt began with is not missed.
        """
        new = self._new_tokens(messages)
        read = usage.prompt_tokens
        if usage.estimated or read < _LEAST_NEW:
            return Reading(is_cut=False, window=0)
        is_cut = new >= _LEAST_NEW and read < new * _SHARE
        if read > self._most:
            self._most, self._shortest, self._longest = read, total, total
        if read < self._most:
            return Reading(is_cut, 0)
        self._shortest, self._longest = min(self._shortest, total), max(self._longest, total)
        is_sure = self._longest >= max(_LEAST_NEW, self._shortest * _LONGER) and read < self._longest * _READ_SHARE
        return Reading(is_cut, read if is_sure else 0)

    def _new_tokens(self, messages: tuple[ModelMessage, ...]) -> int:
        """Return about how many tokens follow the messages shared with an earlier prompt."""
        chain, tokens = hashlib.sha256(), 0
        for message in messages:
            chain.update(f"{message.role} {message.tool_calls} {message.text}".encode("utf-8", "replace"))
            if (key := chain.digest()) not in self._begun:
                tokens += estimate_tokens(message.text)
                self._begun.add(key)
        return tokens
