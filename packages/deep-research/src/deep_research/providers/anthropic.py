"""Anthropic's messages: content blocks, thinking, prompt cache."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from deep_research.data import ModelMessage, ModelRequest, Usage
from deep_research.providers.answer_parsing import (
    LONG_ANSWER_TOKENS,
    MOST_CALLS,
    Heard,
    RawCall,
    answer_limit,
    in_words,
    means_for,
    thinks,
)
from deep_research.providers.base_model import Sent, WiredModel
from deep_research.providers.http_wire import WireFailure, in_form
from deep_research.providers.server_manner import Manner
from deep_research.providers.token_stream import is_streamed, pass_on

VERSION = "2023-06-01"
"""The version of the API in the header anthropic-version."""

_PATH = "/v1/messages"
# Structured outputs take no bounds: platform.claude.com/docs/en/build-with-claude/structured-outputs
_BOUNDS = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems"
    " uniqueItems minProperties maxProperties".split()
)


class AnthropicModel(WiredModel):
    """A chat model behind Anthropic's wire."""

    async def _ask(self, sent: Sent) -> Heard:
        request_id = ""
        if sent.body.get("stream"):
            async with aclosing(self._wire.stream(_PATH, sent.body)) as events:
                with in_form():
                    data = await _assemble(events, forced=sent.body.get("tool_choice", {}).get("type") == "tool")
        else:
            data, headers = await self._wire.post(_PATH, sent.body)
            request_id = headers.get("request-id", "")
        with in_form():
            return _read(data, request_id)

    def _body(self, request: ModelRequest, manner: Manner) -> dict[str, Any]:
        family = manner.applied(self.family)
        # With thinking on, turns with tool calls must carry their signed thoughts, which we do not keep.
        thinking = thinks(request, family, enabled=self._thinking) and not any(m.tool_calls for m in request.messages)
        limit = answer_limit(request, family, manner, thinking=thinking)
        cached = {} if "cache_control" in manner.refused else {"cache_control": {"type": "ephemeral"}}
        body: dict[str, Any] = {"model": self.model, "max_tokens": limit}
        means = means_for(request, family, thinking=thinking)
        asked = in_words(request) if means in ("json", "text") else request
        if system := "\n\n".join(message.text for message in asked.messages if message.role == "system"):
            body["system"] = [{"type": "text", "text": system, **cached}]
        body["messages"] = _messages([message for message in asked.messages if message.role != "system"])
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in request.tools
            ]
            body["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": not request.parallel_tool_calls}
        if request.temperature is not None and family.temperature and not thinking:
            body["temperature"] = request.temperature
        body |= family.thinking_on if thinking else family.thinking_off
        _ask_for_schema(body, request, means)
        if body["messages"] and request.tools:
            # Writing to the cache costs extra; it pays where the next request repeats this one.
            body["messages"][-1]["content"][-1].update(cached)
        if family.stream_only or limit > LONG_ANSWER_TOKENS or is_streamed():
            body["stream"] = True
        return manner.without_refused(body) | {"max_tokens": limit}


def _messages(messages: list[ModelMessage]) -> list[dict[str, Any]]:
    """Convert messages to Anthropic's form: roles alternate, tool results are blocks.

    The blocks are the user's.
    """
    sent: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if sent and sent[-1]["role"] == role:
            sent[-1]["content"] += blocks
        elif blocks:
            sent.append({"role": role, "content": blocks})
    return sent


def _blocks(message: ModelMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        text = message.text or "(nothing)"
        return [{"type": "tool_result", "tool_use_id": message.tool_call_id, "content": text}]
    # A text block must not be empty or blank.
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text.strip() else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments or {}}
        for call in message.tool_calls
    ]
    return blocks + calls


def _ask_for_schema(body: dict[str, Any], request: ModelRequest, means: str | None) -> None:
    if means == "native":
        body["output_config"] = {"format": {"type": "json_schema", "schema": _unbounded(request.schema_)}}
    elif means == "tool":
        tool = {"name": request.schema_name, "description": "Gives the answer.", "input_schema": request.schema_}
        body["tools"] = [tool]
        body["tool_choice"] = {"type": "tool", "name": request.schema_name}


def _unbounded(schema: Any, *, names: bool = False) -> Any:
    """Return a schema without bounds; with `names` its keys are property names.

    Properties may be called as bounds are.
    """
    if isinstance(schema, list):
        return [_unbounded(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _unbounded(value, names=key in ("properties", "$defs") and not names)
        for key, value in schema.items()
        if names or key not in _BOUNDS
    }


def _read(data: Mapping[str, Any], request_id: str) -> Heard:
    if data.get("type") == "error":
        raise WireFailure("", body=dict(data))
    blocks = data.get("content") or ()
    calls = [block for block in blocks if block.get("type") == "tool_use"][:MOST_CALLS]
    return Heard(
        text="".join(block.get("text") or "" for block in blocks if block.get("type") == "text"),
        reasoning="\n".join(block.get("thinking") or "" for block in blocks if block.get("type") == "thinking"),
        calls=tuple(
            RawCall(id=c.get("id"), name=c.get("name"), raw=c.get("partial_json") or c.get("input")) for c in calls
        ),
        finish=data.get("stop_reason", ""),
        usage=_usage(data.get("usage") or {}),
        model=data.get("model", ""),
        request_id=request_id or data.get("id", ""),
    )


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    if "input_tokens" not in usage:
        return None
    used = Usage(
        cached_tokens=usage.get("cache_read_input_tokens", 0),
        cache_write_tokens=usage.get("cache_creation_input_tokens", 0),
        completion_tokens=usage.get("output_tokens", 0),
        prompt_tokens=usage["input_tokens"],
    )
    return used.model_copy(update={"prompt_tokens": used.prompt_tokens + used.cached_tokens + used.cache_write_tokens})


async def _assemble(events: AsyncIterator[Mapping[str, Any]], *, forced: bool = False) -> dict[str, Any]:
    """Build the message of an event stream; raise WireFailure if cut or erroneous."""
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    try:
        async for event in events:
            kind = event.get("type")
            if kind == "error":
                raise WireFailure("", body=dict(event))
            if kind == "message_start":
                message.update(event["message"])
            elif kind == "content_block_start":
                blocks[event["index"]] = dict(event["content_block"])
            elif kind == "content_block_delta":
                delta = event["delta"]
                _extend(blocks.setdefault(event["index"], {}), delta)
                await pass_on(str(delta.get("partial_json" if forced else "text") or ""))
            elif kind == "message_delta":
                message["stop_reason"] = event["delta"].get("stop_reason")
                given = {name: value for name, value in (event.get("usage") or {}).items() if value is not None}
                message["usage"] = {**(message.get("usage") or {}), **given}
        if not message.get("stop_reason"):
            raise WireFailure("cut", body="the stream ended without a stop_reason")
    except WireFailure as failure:
        failure.usage = _usage(message.get("usage") or {})
        raise
    content: list[dict[str, Any]] = []
    for index in sorted(blocks):
        parts = blocks[index].pop("parts", {})
        content.append(blocks[index] | {name: "".join(said) for name, said in parts.items()})
    return message | {"content": content}


def _extend(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    field = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}.get(delta["type"])
    if field:
        block.setdefault("parts", {}).setdefault(field, [block.get(field) or ""]).append(delta.get(field) or "")
