"""Chat completions as OpenAI defined and many servers speak them."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from deep_research.data import ModelAnswer, ModelMessage, ModelRequest, Usage
from deep_research.providers.answer_parsing import (
    LONG_ANSWER_TOKENS,
    MOST_CALLS,
    UNMARKED,
    Heard,
    RawCall,
    answer_limit,
    as_text,
    in_words,
    means_for,
    thinks,
    understood,
    word,
)
from deep_research.providers.base_model import Sent, WiredModel
from deep_research.providers.http_wire import WHOLE, WireFailure, in_form
from deep_research.providers.provider_failures import error_body
from deep_research.providers.server_manner import Manner
from deep_research.providers.token_stream import is_streamed, pass_on
from deep_research.text.model_json import parse_object


def written(message: ModelMessage) -> dict[str, Any]:
    """Return a message in OpenAI's form."""
    sent: dict[str, Any] = {"role": message.role, "content": message.text}
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
    """Return whether a schema is strict: all properties required, no others (OpenAI)."""
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
    """Read a chat.completion; raise WireFailure for an error inside a 200."""
    _raise_error(data)
    choices = data.get("choices") or [{}]
    choice = choices[0]
    message = choice.get("message") or {}
    calls = (message.get("tool_calls") or ())[:MOST_CALLS]
    return Heard(
        text=_text(message.get("content")),
        reasoning=message.get("reasoning_content") or message.get("reasoning") or "",
        calls=tuple(
            RawCall(id=call.get("id"), name=function.get("name"), raw=function.get("arguments"))
            for call in calls
            if (function := call.get("function"))
        ),
        finish=choice.get("finish_reason", ""),
        refusal=message.get("refusal", ""),
        usage=_usage(data.get("usage")),
        model=data.get("model", ""),
        request_id=request_id or word(data.get("request_id")) or word(data.get("id")),
    )


async def listen(events: AsyncIterator[Mapping[str, Any]], *, forced: bool = False) -> Heard:
    """Read a stream of chunks; raise WireFailure if it is cut or carries an error."""
    assembly = _Assembly()
    try:
        async for event in events:
            await pass_on(assembly.add(event, forced=forced))
        return read(assembly.whole())
    except WireFailure as failure:
        failure.usage = _usage(assembly.usage)
        raise


class _Assembly:
    """Puts the chunks of a stream together as if they had come in one piece."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._parts: dict[str, list[str]] = {}
        self._calls: list[dict[str, Any]] = []
        self._at: dict[Any, dict[str, Any]] = {}
        self._finish = ""
        self.usage: Any = None
        self._ended = self._is_whole = False

    def add(self, event: Mapping[str, Any], *, forced: bool) -> str:
        """Take in an event and return its text, or a `forced` call's arguments.

        A forced call is an answer by schema. Errors in the event end the stream.
        """
        self._ended |= "done" in event and len(event) == 1
        self._is_whole |= event is WHOLE
        self.usage = event.get("usage") or self.usage
        _raise_error(event)
        self._head = self._head or {name: event.get(name) for name in ("id", "model")}
        choice = ((event.get("choices") or ())[:1] or [{}])[0]
        self._finish = choice.get("finish_reason") or self._finish
        delta, arguments = choice.get("delta") or {}, ""
        for name in ("content", "reasoning_content", "reasoning", "refusal"):
            if delta.get(name):
                self._parts.setdefault(name, []).append(_text(delta[name]))
        for part in delta.get("tool_calls") or ():
            function = part.get("function") or {}
            call = self._call(part, function.get("name") or "")
            call["id"] = call["id"] or part.get("id") or ""
            call["name"] = call["name"] or function.get("name") or ""
            call["arguments"].append(as_text(function.get("arguments")))
            arguments += call["arguments"][-1]
        return arguments if forced else _text(delta.get("content"))

    def _call(self, part: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Return the call that a part belongs to: by `index`, else id, else the last one.

        A new id begins another; where there is neither so does a `name`, unless it only comes again amid the arguments.
        """
        index, given = part.get("index"), part.get("id") or ""
        key = given if index is None else index
        if call := self._at.get(key):
            again = name == call["name"] and not "".join(call["arguments"][-1:]).rstrip().endswith("}")
            if call["id"] in ("", given) if given else key != "" or not name or again:
                return call
        made: dict[str, Any] = {"id": "", "name": "", "arguments": []}
        if len(self._calls) < MOST_CALLS:
            self._calls.append(made)
            self._at[key] = made
        self._at[""] = made
        return made

    def whole(self) -> dict[str, Any]:
        """Return the chat.completion; an orderly end of stream needs no end mark.

        Raises WireFailure when the stream broke off before its end.
        """
        if not self._ended and not self._finish:
            if not self._is_whole or not (self._parts.get("content") or self._calls):
                raise WireFailure("cut", body="the stream ended without a finish_reason")
            self._finish = UNMARKED
        message: dict[str, Any] = {name: "".join(parts) for name, parts in self._parts.items()}
        message["tool_calls"] = [
            {"id": call["id"], "function": {"name": call["name"], "arguments": "".join(call["arguments"])}}
            for call in self._calls
        ]
        choice = {"message": message, "finish_reason": self._finish}
        return {**self._head, "choices": [choice], "usage": self.usage}


def _raise_error(data: Mapping[str, Any]) -> None:
    error = data.get("error")
    if not error:
        return
    code = error.get("code") if isinstance(error, Mapping) else None
    failure = WireFailure("", status=code if isinstance(code, int) else 0, body=dict(data))
    failure.usage = _usage(data.get("usage"))
    raise failure


def _text(content: Any) -> str:
    """Content is text, or a list of parts of which the texts count."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    return Usage(
        prompt_tokens=usage.get("prompt_tokens", 0),
        cached_tokens=prompt.get("cached_tokens") or usage.get("prompt_cache_hit_tokens", 0),
        cache_write_tokens=prompt.get("cache_write_tokens", 0),
        completion_tokens=usage.get("completion_tokens", 0),
        reasoning_tokens=completion.get("reasoning_tokens", 0),
        cost_usd=_told_usd(usage),
    )


def _told_usd(usage: Mapping[str, Any]) -> float | None:
    """Return the cost that a server states; None if paid with the user's own key."""
    told = None if usage.get("is_byok") else usage.get("cost")
    return float(told) if isinstance(told, int | float) and 0 <= told < _MOST_USD else None


_MOST_USD = 10_000
"""A server that states a higher price of one call, or none that is a number, is not taken at its word."""


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Move standing instructions to the user's messages, so that only turns are left."""
    sent: list[dict[str, Any]] = []
    for message in messages:
        role = "user" if message["role"] == "system" else message["role"]
        if role == "user" and sent and sent[-1]["role"] == "user":
            sent[-1]["content"] += f"\n\n{message['content']}"
        else:
            sent.append({**message, "role": role})
    return sent


_PATH = "/chat/completions"


class OpenAICompatibleModel(WiredModel):
    """A chat model behind OpenAI's wire."""

    async def _ask(self, sent: Sent) -> Heard:
        body, path = sent.body, sent.path + _PATH
        if body.get("stream"):
            async with aclosing(self._wire.stream(path, body)) as events:
                with in_form():
                    return await listen(events, forced="tool_choice" in body)
        data, headers = await self._wire.post(path, body)
        with in_form():
            return read(data, headers.get("x-request-id", ""))

    def _body(self, request: ModelRequest, manner: Manner) -> dict[str, Any]:
        family = manner.applied(self.family)
        thinking = thinks(request, family, enabled=self._thinking)
        limit = answer_limit(request, family, manner, thinking=thinking)
        means = means_for(request, family, thinking=thinking)
        asked = in_words(request) if means in ("json", "text") else request
        messages = [written(message) for message in asked.messages]
        if "role" in manner.refused:
            messages = _without_system(messages)
        body: dict[str, Any] = {"model": self.model, "messages": messages, family.output_parameter: limit}
        if request.temperature is not None and family.temperature:
            body["temperature"] = request.temperature
        if request.tools:
            body["tools"] = [{"type": "function", "function": tool.model_dump()} for tool in request.tools]
            if family.parallel_tools:
                body["parallel_tool_calls"] = request.parallel_tool_calls
        body |= family.thinking_on if thinking else family.thinking_off
        _ask_for_schema(body, request, means)
        if family.stream_only or (thinking and family.thinking_streams) or limit > LONG_ANSWER_TOKENS or is_streamed():
            body["stream"] = True
        if body.get("stream") and "stream" not in manner.refused:
            body["stream_options"] = {"include_usage": True}
        return manner.without_refused(body)

    async def _salvaged(self, failure: WireFailure, request: ModelRequest) -> ModelAnswer | None:
        """Return the call that Groq refuses for arguments that miss the tool's schema.

        Whoever asked judges it.
        """
        call = parse_object(error_body(failure.body).failed_generation)
        if not call or not isinstance(call.get("arguments"), dict) or not call.get("name"):
            return None
        raw = RawCall(name=str(call["name"]), raw=json.dumps(call["arguments"], ensure_ascii=False))
        return await understood(Heard(calls=(raw,), finish="tool_calls"), request, self._about)


def _ask_for_schema(body: dict[str, Any], request: ModelRequest, means: str | None) -> None:
    schema, name = request.schema_, request.schema_name
    if means == "native":
        described = {"name": name, "schema": schema, "strict": is_strict(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": described}
    elif means == "tool":
        function = {"name": name, "description": "Gives the answer.", "parameters": schema}
        body["tools"] = [{"type": "function", "function": function}]
        body["tool_choice"] = {"type": "function", "function": {"name": name}}
        body.pop("parallel_tool_calls", None)
    elif means == "json" and not request.tools:
        body["response_format"] = {"type": "json_object"}
