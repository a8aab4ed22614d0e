"""Tools for servers without any: described in words, called by JSON in the text."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from deep_research.data import ModelMessage, ModelRequest, ToolSpec
from deep_research.text.model_json import is_too_deep, parse_object

_ASKED = """You have these tools (name, purpose, JSON schema of the arguments):
{tools}

To use tools, answer with one JSON object and nothing else:
{{"tool_calls":[{{"name":"…","arguments":{{…}}}}]}}
It may hold several calls. Their results follow in the next message. To use none, answer in plain text."""
_WRAPPED = re.compile(r"```(?:json|tool_call|tool_code)?\s*\Z|<(tool_call|function_call|tools?)>\s*\Z", re.IGNORECASE)
_CLOSING = re.compile(r"\s*(?:```|</(?:tool_call|function_call|tools?)>)", re.IGNORECASE)
_LISTS, _MOST_BROKEN = ("tool_calls", "tools", "calls", "function_calls"), 1_000


def tools_in_text(request: ModelRequest) -> ModelRequest:
    """Return a request with its tools, calls and results in words.

    Roles alternate behind the system message.
    """
    names = {call.id: call.name for message in request.messages for call in message.tool_calls}
    tools = (f"- {t.name}: {t.description} {json.dumps(t.parameters, ensure_ascii=False)}" for t in request.tools)
    asked = ModelMessage(role="system", text=_ASKED.format(tools="\n".join(tools)))
    messages: list[ModelMessage] = []
    for message in [*request.messages[:1], *([asked] if request.tools else []), *request.messages[1:]]:
        plain = _plain(message, names)
        if messages and messages[-1].role == plain.role:
            plain = plain.model_copy(update={"text": f"{messages.pop().text}\n\n{plain.text}"})
        messages.append(plain)
    if request.tools and messages[0].role != "system":
        messages = [messages[1], messages[0], *messages[2:]]
    return request.model_copy(update={"messages": tuple(messages), "tools": ()})


def calls_in(text: str, tools: Iterable[ToolSpec]) -> tuple[str, list[tuple[str, str]]]:
    """Return a text without its calls, and the calls as (name, arguments as JSON).

    A call is an object {"tool_calls": [{"name", "arguments"}]}, or such a call alone where it names one of `tools`;
    in fences, tags and lists as well.
    """
    names = {tool.name for tool in tools}
    calls: list[tuple[str, str]] = []
    rest, begun = "", 0
    for start, end, value in _values(text):
        if not (found := list(_calls_of(value, names))):
            continue
        calls += found
        rest += _WRAPPED.sub("", text[begun:start])
        closing = _CLOSING.match(text, end)
        begun = closing.end() if closing else end
    return (rest + text[begun:]).strip() if calls else text, calls


def _values(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield the outermost JSON objects and lists of objects in a text, with places.

    A broken object that is all of the text is yielded too.
    """
    decoder, at, found, tries = json.JSONDecoder(strict=False), 0, False, 0 if is_too_deep(text) else _MOST_BROKEN
    while tries and (opened := re.compile(r"\{|\[(?=\s*\{)").search(text, at)):
        try:
            value, at = decoder.raw_decode(text, opened.start())
        except (ValueError, RecursionError):
            at, tries = opened.end(), tries - 1
            continue
        found = True
        yield opened.start(), at, value
    if not found and text.rstrip("` \n").endswith("}") and (value := parse_object(text)) is not None:
        yield 0, len(text), value


def _calls_of(value: Any, names: set[str]) -> Iterator[tuple[str, str]]:
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, Mapping):
            continue
        listed = next((one[key] for key in _LISTS if isinstance(one.get(key), list)), None)
        for call in [one] if listed is None else listed:
            if read := _call(call, names, is_said=listed is not None):
                yield read


def _call(call: Any, names: set[str], *, is_said: bool) -> tuple[str, str] | None:
    """Return a call as (name, arguments), or None; `is_said` allows any name.

    It means that the call stands in a list of calls.
    """
    for key in ("function", "tool_call"):
        if isinstance(call, Mapping) and isinstance(call.get(key), Mapping):
            call = call[key]
    if not isinstance(call, Mapping):
        return None
    name = call.get("name") or call.get("tool") or call.get("function")
    given = next((call[key] for key in ("arguments", "parameters", "args", "input") if key in call), None)
    if not isinstance(name, str) or not (name in names or (is_said and name)) or (given is None and not is_said):
        return None
    return name, given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)


def _plain(message: ModelMessage, names: Mapping[str, str]) -> ModelMessage:
    if message.role == "tool":
        name = names.get(message.tool_call_id, "the tool")
        return ModelMessage(role="user", text=f"Result of {name}:\n{message.text or '(nothing)'}")
    if not message.tool_calls:
        return message
    calls = [{"name": c.name, "arguments": c.raw if c.arguments is None else c.arguments} for c in message.tool_calls]
    said = json.dumps({"tool_calls": calls}, ensure_ascii=False)
    return ModelMessage(role=message.role, text=f"{message.text}\n{said}".strip())
