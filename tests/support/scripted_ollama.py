"""Ollama's /api/chat for scripted replies: the request read, the answer whole or as lines of JSON."""

from collections.abc import Iterator
from typing import Any

from tests.support.scripted_anthropic import parsed_arguments
from tests.support.scripted_openai import Counted
from tests.support.scripted_replies import Reply, Request, dumps


def read(body: dict[str, Any]) -> Request:
    """Return a request of /api/chat in the form of all wires (without number and prompt)."""
    form = body.get("format")
    messages = [
        {
            "role": sent["role"],
            "text": sent.get("content") or "",
            "tool_calls": [
                {"name": call["function"]["name"], "arguments": dumps(call["function"]["arguments"]), "id": ""}
                for call in sent.get("tool_calls") or ()
            ],
            "tool_call_id": sent.get("tool_name", ""),
        }
        for sent in body.get("messages", ())
    ]
    return {
        "api": "ollama",
        "model": body.get("model", ""),
        "system": "\n".join(m["text"] for m in messages if m["role"] == "system"),
        "messages": messages,
        "tools": [tool["function"]["name"] for tool in body.get("tools") or ()],
        "schema": form if isinstance(form, dict) else None,
        "schema_name": "",
        "forced_tool": "",
        "stream": body.get("stream", True),
        "max_output_tokens": (body.get("options") or {}).get("num_predict"),
    }


def whole(reply: Reply, request: Request, counted: Counted) -> dict[str, Any]:
    """Return the body of an answer; arguments are objects and calls have no ids, as Ollama sends them."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.spoken}
    if reply.reasoning:
        message["thinking"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = [
            {"function": {"name": call.name, "arguments": parsed_arguments(call.raw())}} for call in reply.tool_calls
        ]
    return {
        "model": request["model"],
        "created_at": "2026-01-01T00:00:00Z",
        "message": message,
        "done": True,
        "done_reason": reply.finish_reason or "stop",
        "total_duration": 1,
        "prompt_eval_count": counted.prompt,
        "eval_count": counted.completion,
    }


def pieces(reply: Reply, request: Request, counted: Counted, size: int) -> Iterator[bytes]:
    """Yield the lines of a stream, text in pieces of `size` characters."""
    last = whole(reply, request, counted)
    said = last["message"]
    head = {"model": request["model"], "created_at": last["created_at"], "done": False}
    for key in ("thinking", "content"):
        for at in range(0, len(said.get(key, "")), size):
            message = {"role": "assistant", "content": "", key: said[key][at : at + size]}
            yield _line({**head, "message": message})
    for call in said.get("tool_calls", ()):
        yield _line({**head, "message": {"role": "assistant", "content": "", "tool_calls": [call]}})
    yield _line(last | {"message": {"role": "assistant", "content": ""}})


def error_event(body: dict[str, Any]) -> bytes:
    """Return an error as it comes inside a stream that began with 200."""
    return _line(body)


def _line(value: object) -> bytes:
    return dumps(value).encode() + b"\n"
