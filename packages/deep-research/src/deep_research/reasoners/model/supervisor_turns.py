"""A supervisor's conversation with a model: what it delegated and what came back, as messages that only grow."""

import re
from collections.abc import Sequence

from deep_research.data import Action, ModelAnswer, ModelMessage, Observation, ToolCall, ToolSpec, Turn
from deep_research.errors import MalformedOutput
from deep_research.text.prompt_fencing import attribute, clean_own
from deep_research.text.token_count import estimate_tokens


def _tool(name: str, description: str, **arguments: str) -> ToolSpec:
    properties = {key: {"type": "string", "description": told} for key, told in arguments.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return ToolSpec(name=name, description=description, parameters=schema)


TOOLS = (
    _tool(
        "conduct_research",
        "Give one topic to a researcher of its own.",
        title="title of the section it fills: one of the plan, copied exactly, or a new one",
        research_topic="complete instructions, a paragraph that stands alone",
    ),
    _tool("think", "Write down a thought about what to do next.", reflection="the thought"),
    _tool("research_complete", "End the research."),
)


def delegations_of(answer: ModelAnswer, prefix: str, *, first: bool) -> list[Action]:
    """Return the tool calls of an answer as actions; a call that cannot be carried out is an `unknown` action.

    Raises MalformedOutput for a `first` answer without any: a research cannot end before it has begun.
    """
    if first and not answer.tool_calls:
        raise MalformedOutput("The supervisor delegated nothing.", text=answer.text)
    return [_action(call, f"{prefix}c{i}") for i, call in enumerate(answer.tool_calls, 1)]


def _action(call: ToolCall, key: str) -> Action:
    if call.arguments is None:
        return Action(id=key, name="unknown", query=f"the arguments of {call.name} were no JSON object")
    said = {name: str(value or "").strip() for name, value in call.arguments.items()}
    match call.name:
        case "research_complete":
            return Action(id=key, name="research_complete")
        case "think":
            return Action(id=key, name="think", query=said.get("reflection", ""))
        case "conduct_research":
            title, topic = said.get("title", ""), said.get("research_topic", "")
            if title or topic:
                return Action(id=key, name="conduct_research", query=topic or title, source=title)
            return Action(id=key, name="unknown", query="conduct_research needs its argument research_topic")
        case _:
            return Action(id=key, name="unknown", query=f"there is no tool named {call.name}")


def messages_of(turns: Sequence[Turn], *, budget: int) -> list[ModelMessage]:
    """Return turns as messages within about `budget` tokens; the oldest results shrink to their passage ids first."""
    full = [_turn(turn, short=False) for turn in turns]
    excess = sum(_size(group) for group in full) - budget
    for index, turn in enumerate(turns):
        if excess <= 0:
            break
        before = _size(full[index])
        full[index] = _turn(turn, short=True)
        excess -= before - _size(full[index])
    return [message for group in full for message in group]


def _size(messages: Sequence[ModelMessage]) -> int:
    return sum(estimate_tokens(m.text) for m in messages)


def _turn(turn: Turn, *, short: bool) -> list[ModelMessage]:
    if turn.remarks:
        return [ModelMessage(role="user", text="\n".join(turn.remarks))]
    calls = tuple(ToolCall(id=a.id, name=a.tool, arguments=a.arguments) for a in turn.actions)
    seen = {o.action: o for o in turn.observations}
    answers = [
        ModelMessage(role="tool", tool_call_id=a.id, text=_result(a, seen.get(a.id), short=short)) for a in turn.actions
    ]
    return [ModelMessage(role="assistant", tool_calls=calls), *answers]


def _result(action: Action, seen: Observation | None, *, short: bool) -> str:
    if action.name == "unknown":
        return f"Not done: {action.query}."
    if action.name != "conduct_research":
        return "Noted."
    if seen is None:
        return "Not done."
    failed = f"This research failed: {attribute(seen.failure)}" if seen.failure else ""
    text = _ids(seen.text) if short else clean_own(seen.text)
    return "\n".join(part for part in (failed, text) if part) or "Nothing was found."


_ID = re.compile(r"\bs\d+p\d+\b")


def _ids(text: str) -> str:
    """Return a result in one line: the passages it rests on."""
    cited = dict.fromkeys(_ID.findall(text))
    return f"(shown before; it rests on {', '.join(cited)})" if cited else text
