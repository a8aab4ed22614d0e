"""Faults of model providers: those that change an answer, those that replace it, and how they are drawn.

The bodies of the errors are written after what the vendors really send (type, code and wording).
"""

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tests.support.scripted_replies import Call, Reply, Request, dumps


class Failure(NamedTuple):
    """An HTTP error: status, JSON body and the header Retry-After (seconds) if there is one."""

    status: int
    body: dict[str, Any]
    retry_after: float | None = None


@dataclass(frozen=True)
class FaultPlan:
    """A share of calls that go wrong: one of every `1 / rate`, whatever they ask; the kinds come in turn.

    Below a rate of 1 the third attempt at a call succeeds.
    """

    rate: float
    kinds: tuple[str, ...]
    seed: int = 0
    drawn: "itertools.count[int]" = field(default_factory=itertools.count)

    def draw(self, times_seen: int) -> str:
        """Return the fault of a request, by how often it came before, or ""."""
        if not self.rate or (self.rate < 1 and times_seen % 3 == 2):
            return ""
        every, number = max(1, round(1 / self.rate)), next(self.drawn)
        return self.kinds[number // every % len(self.kinds)] if number % every == self.seed % every else ""


def _in_calls(reply: Reply, change: Callable[[Call], Call], text: str) -> Reply:
    """`reply` with its tool calls changed, or with `text` where it has none."""
    if reply.tool_calls:
        return replace(reply, tool_calls=tuple(change(call) for call in reply.tool_calls))
    return replace(reply, text=text, data=None)


def _invalid_json(reply: Reply) -> Reply:
    said = reply.spoken
    cut = said[: max(1, len(said) * 2 // 3)] if said.startswith("{") else "Here is the answer: {'text': unfinished,"
    return _in_calls(reply, lambda call: call._replace(arguments=call.raw()[:-1] + ",]"), cut.replace('"', "”"))


def _unknown_citation(reply: Reply) -> Reply:
    if reply.tool_calls or reply.data is not None:
        spoken = json.loads(reply.spoken) if reply.data is not None else None
        return replace(reply, data=_cite(spoken)) if reply.data is not None else reply
    return replace(reply, text=_cite(reply.text))


def _cite(value: Any) -> Any:
    """`value` with a passage that does not exist cited at the end of each longer text."""
    if isinstance(value, str):
        return f"{value} [s999p1]" if len(value) > 40 else value
    if isinstance(value, list):
        return [_cite(item) for item in value]
    return {name: _cite(item) for name, item in value.items()} if isinstance(value, dict) else value


CONTENT_FAULTS: dict[str, Callable[[Reply], Reply]] = {
    "invalid_json": _invalid_json,
    "wrong_schema": lambda reply: _in_calls(
        reply, lambda call: call._replace(arguments={"unexpected": [1, 2, 3]}), dumps({"unexpected": [1, 2, 3]})
    ),
    "empty": lambda reply: replace(reply, text="", data=None, tool_calls=(), reasoning=""),
    "refusal": lambda reply: replace(reply, text="I cannot help with that.", data=None, tool_calls=()),
    "think_tags": lambda reply: replace(
        reply, text=f"<think>\nThe user wants {{\"a\": 1}}, so …\n</think>\n\n{reply.spoken}", data=None
    ),
    "harmony": lambda reply: replace(
        reply,
        text="<|channel|>analysis<|message|>The user wants {\"a\": 1}, so …<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{reply.spoken}<|return|>",
        data=None,
    ),
    "unclosed_think": lambda reply: replace(
        reply, text="<think>\nLet me go through the passages one by one. First", data=None, tool_calls=()
    ),
    "reasoning_content": lambda reply: replace(reply, reasoning='First I weigh what {"was": "asked"}.'),
    "unknown_tool": lambda reply: replace(reply, tool_calls=(Call("no_such_tool", '{"query":"x"}'),), text="", data=None),
    "broken_arguments": lambda reply: _in_calls(
        reply, lambda call: call._replace(arguments=call.raw()[:-1] + ' "and": }'), "{'text': 'unquoted: [1, 2"
    ),
    "unknown_citation": _unknown_citation,
    "slow_stream": lambda reply: replace(reply, tokens_per_second=4.0),
}  # fmt: skip
"""Faults that change what is said."""

TRANSPORT_FAULTS = ("cut_stream", "error_in_stream", "timeout", "not_json")
"""Faults below the answer: broken off, an error inside a stream that began with 200, silence, a proxy's web page."""

HTTP_FAULTS = (
    "rate_limited", "insufficient_quota", "server_error", "overloaded", "context_too_long", "too_large", "bad_key", "unknown_model", "not_accepted",
    "content_filter",
)  # fmt: skip
"""Faults that are an HTTP error with the vendor's own body."""

FAULTS = (*CONTENT_FAULTS, *TRANSPORT_FAULTS, *HTTP_FAULTS)
"""The names of all faults."""


def changed(reply: Reply, fault: str) -> Reply:
    """Return `reply` as the fault makes it; faults below the content leave it as it is."""
    change = CONTENT_FAULTS.get(fault)
    return replace(change(reply) if change else reply, fault=fault)


def plan(rate: float, kinds: Sequence[str], seed: int) -> FaultPlan:
    """Return a plan. Raises ValueError for a fault there is none of."""
    unknown = set(kinds) - set(FAULTS)
    if unknown or not kinds:
        raise ValueError(f"unknown faults {sorted(unknown)}; there are: {', '.join(FAULTS)}")
    return FaultPlan(rate, tuple(kinds), seed)


def failure(fault: str, request: Request, tokens: int, limit: int, retry_after: float) -> Failure:
    """Return the vendor's error for a fault; `tokens` and `limit` are named in the error of a long prompt."""
    make = {"anthropic": _anthropic, "ollama": _ollama}.get(request["api"], _openai)
    status, kind, code, message = make(fault, request["model"], tokens, limit)
    waits = retry_after if status in (429, 503) and fault != "insufficient_quota" else None
    if request["api"] == "anthropic":
        body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"}
    elif request["api"] == "ollama":
        body = {"error": message}
    else:
        body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return Failure(status, body, waits)


def _openai(fault: str, model: str, tokens: int, limit: int) -> tuple[int, str, str | None, str]:
    return {
        "rate_limited": (429, "requests", "rate_limit_exceeded", f"Rate limit reached for {model}."),
        "insufficient_quota": (
            429, "insufficient_quota", "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        "overloaded": (503, "server_error", None, "The server is currently overloaded. Please try again later."),
        "context_too_long": (
            400, "invalid_request_error", "context_length_exceeded",
            f"This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens.",
        ),
        "too_large": (413, "", None, "Request Entity Too Large"),
        "bad_key": (401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-***."),
        "unknown_model": (
            404, "invalid_request_error", "model_not_found",
            f"The model `{model}` does not exist or you do not have access to it.",
        ),
        "content_filter": (400, "invalid_request_error", "content_policy_violation", "Your request was rejected."),
        "not_accepted": (400, "invalid_request_error", "decimal_below_min_value", "Invalid 'temperature'."),
    }.get(fault, (500, "server_error", None, "The server had an error while processing your request."))  # fmt: skip


def _anthropic(fault: str, model: str, tokens: int, limit: int) -> tuple[int, str, str | None, str]:
    return {
        "rate_limited": (429, "rate_limit_error", None, "This request would exceed your organization's rate limit."),
        "insufficient_quota": (
            400, "invalid_request_error", None, "Your credit balance is too low to access the Anthropic API.",
        ),
        "overloaded": (529, "overloaded_error", None, "Overloaded"),
        "context_too_long": (
            400, "invalid_request_error", None, f"prompt is too long: {tokens} tokens > {limit} maximum",
        ),
        "bad_key": (401, "authentication_error", None, "invalid x-api-key"),
        "unknown_model": (404, "not_found_error", None, f"model: {model}"),
        "content_filter": (400, "invalid_request_error", None, "Output blocked by content filtering policy"),
    }.get(fault, (500, "api_error", None, "Internal server error"))  # fmt: skip


def _ollama(fault: str, model: str, tokens: int, limit: int) -> tuple[int, str, str | None, str]:
    return {
        "rate_limited": (503, "", None, "server busy, please try again.  maximum pending requests exceeded"),
        "overloaded": (503, "", None, "server busy, please try again.  maximum pending requests exceeded"),
        "context_too_long": (400, "", None, f"input length {tokens} exceeds the context length {limit}"),
        "bad_key": (401, "", None, "unauthorized"),
        "unknown_model": (404, "", None, f"model '{model}' not found"),
    }.get(fault, (500, "", None, "model runner has unexpectedly stopped"))
