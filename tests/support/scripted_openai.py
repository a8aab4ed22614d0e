"""OpenAI chat completions for scripted replies: the request read, the answer whole or as a stream."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.support.scripted_replies import Reply, Request, dumps


class Counted(NamedTuple):
    """The tokens of one call, and what else the server tells of its use."""

    prompt: int
    cached: int
    completion: int
    reasoning: int = 0
    told: Mapping[str, Any] = {}


def read(body: dict[str, Any]) -> Request:
    """Return a request of /v1/chat/completions in the form of all wires (without number and prompt)."""
    form = body.get("response_format") or {}
    choice = body.get("tool_choice")
    forced = choice["function"]["name"] if isinstance(choice, dict) else ""
    tools = {tool["function"]["name"]: tool["function"].get("parameters") for tool in body.get("tools") or ()}
    described = form.get("json_schema") or {}
    messages = [_message(message) for message in body.get("messages", ())]
    return {
        "api": "openai",
        "model": body.get("model", ""),
        "system": "\n".join(m["text"] for m in messages if m["role"] in ("system", "developer")),
        "messages": messages,
        "tools": list(tools),
        "schema": tools.get(forced) if forced else described.get("schema"),
        "schema_name": forced or described.get("name", ""),
        "forced_tool": forced,
        "stream": bool(body.get("stream")),
        "max_output_tokens": body.get("max_completion_tokens") or body.get("max_tokens"),
    }


def _message(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    calls = [
        {"name": call["function"]["name"], "arguments": call["function"]["arguments"], "id": call.get("id", "")}
        for call in message.get("tool_calls") or ()
    ]
    return {
        "role": message["role"],
        "text": text,
        "tool_calls": calls,
        "tool_call_id": message.get("tool_call_id", ""),
    }


def finish_of(reply: Reply) -> str:
    """Return the finish_reason of a reply."""
    if reply.finish_reason:
        return reply.finish_reason
    return "tool_calls" if reply.tool_calls else "stop"


def _usage(counted: Counted) -> dict[str, Any]:
    return {
        "prompt_tokens": counted.prompt,
        "completion_tokens": counted.completion,
        "total_tokens": counted.prompt + counted.completion,
        "prompt_tokens_details": {"cached_tokens": counted.cached},
        "completion_tokens_details": {"reasoning_tokens": counted.reasoning},
        **counted.told,
    }


def _calls(reply: Reply, number: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.raw()},
        }
        for index, call in enumerate(reply.tool_calls)
    ]


def whole(reply: Reply, request: Request, counted: Counted) -> dict[str, Any]:
    """Return the body of a chat.completion."""
    refused = reply.fault == "refusal"
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refused or (reply.tool_calls and not reply.spoken) else reply.spoken,
        "refusal": reply.spoken if refused else None,
    }
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = _calls(reply, request["number"])
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_of(reply)}
    head = {"id": f"chatcmpl-{request['number']}", "object": "chat.completion", "created": 1_700_000_000}
    return {**head, "model": request["model"], "choices": [choice], "usage": _usage(counted)}


def pieces(reply: Reply, request: Request, counted: Counted, size: int) -> Iterator[bytes]:
    """Yield the events of a stream, text in pieces of `size` characters; the last are usage and [DONE]."""
    head = {"id": f"chatcmpl-{request['number']}", "object": "chat.completion.chunk", "created": 1_700_000_000}

    def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data({**head, "model": request["model"], "choices": [choice]})

    yield event({"role": "assistant", "content": ""})
    for text in _cut(reply.reasoning, size):
        yield event({"reasoning_content": text})
    key = "refusal" if reply.fault == "refusal" else "content"
    for text in _cut(reply.spoken, size):
        yield event({key: text})
    for index, call in enumerate(_calls(reply, request["number"])):
        opening = {"index": index, **call, "function": {"name": call["function"]["name"], "arguments": ""}}
        yield event({"tool_calls": [opening]})
        for text in _cut(call["function"]["arguments"], size):
            yield event({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
    yield event({}, finish_of(reply))
    if (request["body"].get("stream_options") or {}).get("include_usage"):
        yield _data({**head, "model": request["model"], "choices": [], "usage": _usage(counted)})
    yield b"data: [DONE]\n\n"


def error_event(body: dict[str, Any]) -> bytes:
    """Return an error as it comes inside a stream that began with 200."""
    return _data(body)


def _cut(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


def _data(value: object) -> bytes:
    return b"data: " + dumps(value).encode() + b"\n\n"
