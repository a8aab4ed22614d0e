"""OpenAI's chat completions: our messages written in it, and its answers read, whole or from a stream."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from deep_research.data import ModelMessage, Usage
from deep_research.providers.answers import Heard, RawCall, word
from deep_research.providers.wire import WireFailure


def written(message: ModelMessage, system_role: str = "system") -> dict[str, Any]:
    """Return a message in OpenAI's form."""
    sent: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role == "system":
        sent["role"] = system_role
    if message.role == "tool":
        sent["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        # Arguments that were broken go back as an empty object: servers refuse what is no JSON.
        sent["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments or {}, ensure_ascii=False)},
            }
            for call in message.tool_calls
        ]
    return sent


def is_strict(schema: Any) -> bool:
    """Return whether a schema is of the strict kind: all properties required, nothing else allowed (OpenAI)."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if "properties" in schema:
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(schema["properties"]):
            return False
    return all(is_strict(part) for part in schema.values())


def read(data: Mapping[str, Any], request_id: str = "") -> Heard:
    """Return what a chat.completion says. Raises WireFailure for an error inside a 200."""
    _raise_error(data)
    choices = data.get("choices") or [{}]
    choice = choices[0]
    message = choice.get("message") or {}
    calls = [call for call in message.get("tool_calls") or () if call.get("function")]
    return Heard(
        text=_text(message.get("content")),
        reasoning=message.get("reasoning_content") or message.get("reasoning") or "",
        calls=tuple(_raw_call(call) for call in calls),
        finish=choice.get("finish_reason") or "",
        refusal=message.get("refusal") or "",
        usage=_usage(data.get("usage")),
        model=word(data.get("model")),
        request_id=request_id or word(data.get("request_id")) or word(data.get("id")),
    )


async def listen(events: AsyncIterator[Mapping[str, Any]]) -> Heard:
    """Return what a stream of chunks says. Raises WireFailure when it is cut or carries an error."""
    assembly = _Assembly()
    async for event in events:
        assembly.add(event)
    return read(assembly.whole())


class _Assembly:
    """Puts the chunks of a stream together as if they had come in one piece."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._parts: dict[str, list[str]] = {}
        self._calls: list[dict[str, Any]] = []
        self._at: dict[int, int] = {}
        self._finish = ""
        self._usage: Any = None
        self._ended = False

    def add(self, event: Mapping[str, Any]) -> None:
        """Take in one event; the first error ends it."""
        if "done" in event and len(event) == 1:
            self._ended = True
            return
        _raise_error(event)
        self._head = self._head or {name: event.get(name) for name in ("id", "model")}
        self._usage = event.get("usage") or self._usage
        for choice in (event.get("choices") or ())[:1]:
            self._take(choice.get("delta") or {})
            self._finish = choice.get("finish_reason") or self._finish

    def _take(self, delta: Mapping[str, Any]) -> None:
        for name in ("content", "reasoning_content", "reasoning", "refusal"):
            if delta.get(name):
                self._parts.setdefault(name, []).append(_text(delta[name]))
        for part in delta.get("tool_calls") or ():
            call = self._call(part)
            function = part.get("function") or {}
            call["id"] = call["id"] or part.get("id") or ""
            call["name"] = call["name"] or function.get("name") or ""
            call["arguments"].append(_as_text(function.get("arguments")))

    def _call(self, part: Mapping[str, Any]) -> dict[str, Any]:
        """The call that a part belongs to: `index` decides, a new id under a known index begins another call."""
        index = part.get("index")
        key = len(self._calls) - 1 if index is None and not part.get("id") else index
        at = self._at.get(key, -1) if key is not None else -1
        new_id = bool(part.get("id")) and at >= 0 and self._calls[at]["id"] not in ("", part["id"])
        if at < 0 or new_id:
            at = len(self._calls)
            self._calls.append({"id": "", "name": "", "arguments": []})
            self._at[at if key is None else key] = at
        return self._calls[at]

    def whole(self) -> dict[str, Any]:
        """Return the chat.completion. Raises WireFailure when the stream broke off before its end."""
        if not self._ended and not self._finish:
            raise WireFailure("cut", body="the stream ended without a finish_reason")
        message: dict[str, Any] = {name: "".join(parts) for name, parts in self._parts.items()}
        message["tool_calls"] = [
            {"id": call["id"], "function": {"name": call["name"], "arguments": "".join(call["arguments"])}}
            for call in self._calls
        ]
        choice = {"message": message, "finish_reason": self._finish}
        return {**self._head, "choices": [choice], "usage": self._usage}


def _raise_error(data: Mapping[str, Any]) -> None:
    error = data.get("error")
    if not error:
        return
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) else 0
    raise WireFailure("", status=status, body=dict(data))


def _raw_call(call: Mapping[str, Any]) -> RawCall:
    function = call["function"]
    return RawCall(id=word(call.get("id")), name=function.get("name") or "", raw=_as_text(function.get("arguments")))


def _as_text(arguments: Any) -> str:
    """Arguments are text; some servers send the object itself."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def _text(content: Any) -> str:
    """Content is text, or a list of parts of which the texts count."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content or ""


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, Mapping) or not usage.get("prompt_tokens"):
        return None
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    return Usage(
        prompt_tokens=usage["prompt_tokens"],
        cached_tokens=prompt.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0,
        cache_write_tokens=prompt.get("cache_write_tokens") or 0,
        completion_tokens=usage.get("completion_tokens") or 0,
        reasoning_tokens=completion.get("reasoning_tokens") or 0,
    )
