"""What a scripted model says: replies, the script that gives them, and an instance of any schema."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

CHARS_PER_TOKEN = 4
"""How the scripted provider counts tokens; about right for English prose."""


class Call(NamedTuple):
    """A tool call of a reply; `arguments` as text are sent as they are, broken or not."""

    name: str
    arguments: Mapping[str, Any] | str = "{}"

    def raw(self) -> str:
        """Return the arguments as they go over the wire."""
        return self.arguments if isinstance(self.arguments, str) else dumps(self.arguments)


@dataclass(frozen=True)
class Reply:
    """One answer. Token counts that are None are counted (characters / 4); `fault` names one of FAULTS.

    `data` is sent as JSON text, or as the arguments of the tool that the request forces. The answer
    takes `latency_seconds` plus its tokens divided by `tokens_per_second`, slept in the server.
    """

    text: str = ""
    tool_calls: tuple[Call, ...] = ()
    data: object = None
    reasoning: str = ""
    fault: str = ""
    latency_seconds: float | None = None
    tokens_per_second: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    finish_reason: str = ""

    @property
    def spoken(self) -> str:
        """Return the text as it goes over the wire: `text`, or `data` as JSON."""
        return self.text if self.data is None else dumps(self.data)

    def tokens(self) -> int:
        """Return the completion tokens of the reply, its reasoning included."""
        if self.completion_tokens is not None:
            return self.completion_tokens
        calls = "".join(call.name + call.raw() for call in self.tool_calls)
        return count_tokens(self.spoken + calls + self.reasoning)


Request = dict[str, Any]
"""A request in one form for all wires: api, model, system, messages, tools, schema, schema_name,
forced_tool, stream, max_output_tokens, prompt (all text in one), body (as sent), number."""

Script = Callable[[Request], "Reply | str | Mapping[str, Any] | Sequence[Any]"] | Iterable[Any] | None


def as_reply(said: object) -> Reply:
    """Return what a script said as a reply: text, JSON data or a Reply."""
    if isinstance(said, Reply):
        return said
    return Reply(text=said) if isinstance(said, str) else Reply(data=said)


def default_reply(request: Request) -> Reply:
    """Return what is said without a script: an instance of the schema asked for, else a word."""
    if request["schema"] is not None:
        return Reply(data=instance_of(request["schema"]))
    return Reply(text="Understood.")


def aimed(reply: Reply, request: Request) -> Reply:
    """Return `reply` with its data as a call of the tool that the request forces, if it forces one."""
    if reply.data is None or not request["forced_tool"]:
        return reply
    call = Call(request["forced_tool"], dumps(reply.data))
    return replace(reply, data=None, tool_calls=(*reply.tool_calls, call))


def instance_of(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """Return the smallest value that fits a JSON schema (of those that pydantic writes)."""
    root = root or schema
    if "$ref" in schema:
        return instance_of(root["$defs"][str(schema["$ref"]).rsplit("/", 1)[-1]], root)
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return instance_of(schema[key][0], root)
    given = [schema[key] for key in ("const", "default") if key in schema] or schema.get("enum")
    return given[0] if given else _smallest(schema, root)


def _smallest(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    kind = schema.get("type")
    if kind == "object":
        needed = schema.get("required", ())
        return {name: instance_of(part, root) for name, part in schema.get("properties", {}).items() if name in needed}
    if kind == "array":
        return [instance_of(schema.get("items", {}), root) for _ in range(schema.get("minItems", 0))]
    number = schema.get("minimum", 0)
    text = "text".ljust(schema.get("minLength", 0), ".")
    return {"integer": number, "number": number, "boolean": False, "null": None}.get(str(kind), text)


def count_tokens(text: str) -> int:
    """Return the tokens of a text as the scripted provider counts them, at least 1 for any text."""
    return (len(text) + CHARS_PER_TOKEN - 1) // CHARS_PER_TOKEN


def dumps(value: object) -> str:
    """Return compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
