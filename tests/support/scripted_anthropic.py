"""Anthropic messages for scripted replies: the request read, the answer whole or as a stream of events."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.scripted_openai import Counted
from tests.support.scripted_replies import Reply, Request, dumps


def read(body: dict[str, Any]) -> Request:
    """Return a request of /v1/messages in the form of all wires (without number and prompt)."""
    choice = body.get("tool_choice") or {}
    forced = choice.get("name", "") if choice.get("type") == "tool" else ""
    tools = {tool["name"]: tool.get("input_schema") for tool in body.get("tools") or ()}
    form = (body.get("output_config") or {}).get("format") or {}
    return {
        "api": "anthropic",
        "model": body.get("model", ""),
        "system": _text(body.get("system") or ""),
        "messages": [message for sent in body.get("messages", ()) for message in _messages(sent)],
        "tools": list(tools),
        "schema": tools.get(forced) if forced else form.get("schema"),
        "schema_name": forced,
        "forced_tool": forced,
        "stream": bool(body.get("stream")),
        "max_output_tokens": body.get("max_tokens"),
    }


def _text(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if block.get("type") == "text")


def _messages(sent: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One message of theirs may be several of ours: each tool result is one."""
    content = sent["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks:
        if block["type"] == "tool_result":
            text = _text(block.get("content") or "")
            yield {"role": "tool", "text": text, "tool_calls": [], "tool_call_id": block["tool_use_id"]}
    calls = [
        {"name": block["name"], "arguments": dumps(block["input"]), "id": block["id"]}
        for block in blocks
        if block["type"] == "tool_use"
    ]
    if text := _text(blocks):
        yield {"role": sent["role"], "text": text, "tool_calls": calls, "tool_call_id": ""}
    elif calls:
        yield {"role": sent["role"], "text": "", "tool_calls": calls, "tool_call_id": ""}


def _stop_reason(reply: Reply) -> str:
    if reply.fault == "refusal":
        return "refusal"
    given = {"length": "max_tokens", "stop": "end_turn", "tool_calls": "tool_use"}
    if reply.finish_reason:
        return given.get(reply.finish_reason, reply.finish_reason)
    return "tool_use" if reply.tool_calls else "end_turn"


def _usage(counted: Counted) -> dict[str, Any]:
    return {
        "input_tokens": counted.prompt - counted.cached,
        "cache_read_input_tokens": counted.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": counted.completion,
        "service_tier": "standard",
    }


def parsed_arguments(raw: str) -> Any:
    """Return arguments as an object; broken ones stay text."""
    try:
        return json.loads(raw)
    except ValueError:
        return raw


def _blocks(reply: Reply, number: int) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.reasoning:
        blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": "c2NyaXB0ZWQ="})
    if reply.spoken:
        blocks.append({"type": "text", "text": reply.spoken, "citations": None})
    for index, call in enumerate(reply.tool_calls):
        block = {
            "type": "tool_use",
            "id": f"toolu_{number}_{index}",
            "name": call.name,
            "input": parsed_arguments(call.raw()),
        }
        blocks.append(block)
    return blocks


def whole(reply: Reply, request: Request, counted: Counted) -> dict[str, Any]:
    """Return the body of a message."""
    return {
        "id": f"msg_{request['number']}",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": _blocks(reply, request["number"]),
        "stop_reason": _stop_reason(reply),
        "stop_sequence": None,
        "usage": _usage(counted),
    }


def pieces(reply: Reply, request: Request, counted: Counted, size: int) -> Iterator[bytes]:
    """Yield the events of a stream, text in pieces of `size` characters."""
    opening = whole(reply, request, counted) | {"content": [], "stop_reason": None}
    opening["usage"] = opening["usage"] | {"output_tokens": 1}
    yield _event("message_start", message=opening)
    yield _event("ping")
    for index, block in enumerate(_blocks(reply, request["number"])):
        yield from _block_events(index, block, reply, size)
    delta = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage=_usage(counted))
    yield _event("message_stop")


def _block_events(index: int, block: dict[str, Any], reply: Reply, size: int) -> Iterator[bytes]:
    key, kind = {
        "thinking": ("thinking", "thinking_delta"),
        "text": ("text", "text_delta"),
        "tool_use": ("input", "input_json_delta"),
    }[block["type"]]
    said = block[key]
    if block["type"] == "tool_use":
        said = said if isinstance(said, str) else dumps(said)
    yield _event("content_block_start", index=index, content_block=block | {key: {} if key == "input" else ""})
    field = "partial_json" if key == "input" else key
    for at in range(0, len(said), size):
        yield _event("content_block_delta", index=index, delta={"type": kind, field: said[at : at + size]})
    if key == "thinking":
        signature = {"type": "signature_delta", "signature": block["signature"]}
        yield _event("content_block_delta", index=index, delta=signature)
    yield _event("content_block_stop", index=index)


def error_event(body: dict[str, Any]) -> bytes:
    """Return an error as it comes inside a stream that began with 200."""
    return f"event: error\ndata: {dumps(body)}\n\n".encode()


def _event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {dumps({'type': kind, **fields})}\n\n".encode()
