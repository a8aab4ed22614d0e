"""A conversation with tools, as messages that only grow, to suit caches.

A researcher, the writer and the verifier have the same tools, a supervisor `supervisor_tools`. Results are shown
the same way each time; a passage is shown once. When a conversation grows longer than the model's window, its oldest
results shrink to a line per source; every passage can be opened again by its id.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from deep_research.data import (
    Action,
    ModelAnswer,
    ModelMessage,
    Observation,
    Passage,
    ToolCall,
    ToolSpec,
    Turn,
    calls_left,
)
from deep_research.ports import Library
from deep_research.reasoners.model.passage_views import passages_of, show_passages, source_line, within_tokens
from deep_research.text.near_duplicates import DistinctPassages, distinct_passages
from deep_research.text.prompt_fencing import attribute, clean, clean_own
from deep_research.text.token_count import estimate_tokens

_SEARCH_TOKENS, _MOST_SEARCH_TOKENS = 1_000, 3_000
"""How much of what a query found is shown whole, and of all queries of a call; the rest is named by its source."""
_NAMED_SOURCES, _NAMED_COPIES = 10, 20
_MOST_QUERIES = 5
_TOLD_CHARS = 6_000
_LONGEST_ARGUMENTS = 20_000
_KEPT = 0.6
"""Share of the room that a conversation takes after its oldest results have shrunk, so that they seldom do."""
_LONGEST = 1_000_000
"""Tokens of a result that nothing cuts."""


def lookup_tools(places: Sequence[str], *, opens_addresses: bool) -> tuple[ToolSpec, ...]:
    """Return the look-up tools; `places` are the source names that `search` takes."""
    text = {"type": "string"}
    queries = {"type": "array", "items": text, "description": f"1 to {_MOST_QUERIES} short keyword queries"}
    place = {"type": "string", "enum": ["", *places, "library"], "description": "source to search; empty: all that fit"}
    named = "a source (s7), a passage to read on from (s7p3), arxiv:2401.00001" + ", or a web address" * opens_addresses
    find = {"type": "string", "description": "words: the places of the source where they stand; empty: read on"}
    return (
        _tool("search", "Search; passages come back with ids.", {"queries": queries, "source": place}),
        _tool("open", "Read a source in large parts.", {"source": {**text, "description": named}, "find": find}),
    )


def research_tools(places: Sequence[str], *, opens_addresses: bool) -> tuple[ToolSpec, ...]:
    """Return the tools of a researcher."""
    return (
        *lookup_tools(places, opens_addresses=opens_addresses),
        _tool("think", "Write down a thought about what to do next.", {"reflection": {"type": "string"}}),
        _tool("research_complete", "End the research; you are asked for your notes next.", {}),
    )


def supervisor_tools() -> tuple[ToolSpec, ...]:
    """Return the tools of a supervisor."""
    title = "title of the section it fills: one of the plan, copied exactly, or a new one"
    topic = "complete instructions, a paragraph that stands alone"
    topics = {
        "title": {"type": "string", "description": title},
        "research_topic": {"type": "string", "description": topic},
    }
    thought = {"reflection": {"type": "string", "description": "the thought"}}
    return (
        _tool("conduct_research", "Give one topic to a researcher of its own.", topics),
        _tool("think", "Write down a thought about what to do next.", thought),
        _tool("research_complete", "End the research.", {}),
    )


def _tool(name: str, description: str, properties: Mapping[str, object]) -> ToolSpec:
    """Return a tool all of whose arguments must be given."""
    schema = {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=description, parameters=schema)


def actions_of(answer: ModelAnswer, prefix: str, tools: Sequence[ToolSpec]) -> tuple[Action, ...]:
    """Return an answer's tool calls as actions; impossible ones become `unknown`.

    `tools` are those that were offered.
    """
    offered = {tool.name for tool in tools}
    return tuple(_action(call, f"{prefix}c{i}", offered) for i, call in enumerate(answer.tool_calls, 1))


def _action(call: ToolCall, key: str, offered: Collection[str]) -> Action:
    if call.arguments is None:
        return Action(id=key, name="unknown", query=f"the arguments of {call.name} were no JSON object")
    match _OTHER_NAMES.get(call.name, call.name):
        case "research_complete":
            return Action(id=key, name="research_complete")
        case "think":
            return Action(id=key, name="think", query=_line(call.arguments.get("reflection")))
        case name if name not in offered:
            return Action(id=key, name="unknown", query=f"there is no tool named {name}")
        case "search":
            return _lookup("search", call.arguments, key)
        case "open":
            return _lookup("open", call.arguments, key)
        case "conduct_research":
            return _delegation(call.arguments, key)
        case _:
            return _outside_action(call, key)


_OTHER_NAMES = {"ConductResearch": "conduct_research", "ResearchComplete": "research_complete", "think_tool": "think"}
"""Names that models know these tools by, from Open Deep Research."""


def _delegation(said: Mapping[str, Any], key: str) -> Action:
    title, topic = (str(said.get(name) or "").strip() for name in ("title", "research_topic"))
    if title or topic:
        return Action(id=key, name="conduct_research", query=topic or title, source=title)
    return Action(id=key, name="unknown", query="conduct_research needs its argument research_topic")


def _outside_action(call: ToolCall, key: str) -> Action:
    written = json.dumps(call.arguments, ensure_ascii=False)
    if len(written) > _LONGEST_ARGUMENTS:
        return Action(id=key, name="unknown", query=f"the arguments of {call.name} were too long")
    return Action(id=key, name="call_tool", source=call.name, query=written)


def _lookup(name: Literal["search", "open"], said: Mapping[str, Any], key: str) -> Action:
    source = _line(said.get("source")).strip("[]<>()\"'` ")
    if name == "open":
        if source:
            return Action(id=key, name="open", source=source, query=_line(said.get("find")))
        return Action(id=key, name="unknown", query="open needs its argument source")
    asked = said.get("queries") or said.get("query") or ""
    queries = [line for q in (asked if isinstance(asked, list) else [asked]) if (line := _line(q))]
    if not queries:
        return Action(id=key, name="unknown", query="search needs its argument queries")
    return Action(id=key, name="search", query="\n".join(dict.fromkeys(queries[:_MOST_QUERIES])), source=source)


def _line(value: object) -> str:
    return " ".join(str(value or "").split())


def messages_of(turns: Sequence[Turn], library: Library, *, budget: int, calls: int = 0) -> list[ModelMessage]:
    """Return turns as messages of about `budget` tokens; oldest results shrink first.

    Behind each turn stands how many of the allowed `calls` are left (0: nothing is said).
    """
    full = _whole(turns, 0, library, calls)
    sizes = [_size(group) for group in full]
    gone = total = 0
    for number, size in enumerate(sizes):  # as it grew: what was sent before changes seldom, and caches hold it
        total += size
        room = budget if total <= budget else budget * _KEPT
        while gone < number and total > room:
            full[gone] = _turn(turns[gone], library, None)
            total -= sizes[gone] - _size(full[gone])
            gone += 1
    while gone:
        full[gone:] = _whole(turns, gone, library, calls)  # with what only the shrunk ones have shown
        total = sum(map(_size, full))
        if total <= budget or gone + 1 >= len(turns):
            break
        full[gone] = _turn(turns[gone], library, None)
        gone += 1
    excess = total - budget
    if turns and excess > 0:  # a window that holds less than what was opened last
        left = max(0, _size(full[-1]) - excess) // max(1, len(turns[-1].actions))
        full[-1] = _turn(turns[-1], library, _Shown(), most=left)
    return [message for group in full for message in group]


class _Shown:
    """The passages that a conversation has shown."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self._texts = DistinctPassages()

    def add(self, passages: Sequence[Passage]) -> None:
        """Remember passages."""
        for passage in passages:
            self.ids.add(passage.id)
            self._texts.add(passage)

    def told_apart(self, passages: Sequence[Passage]) -> tuple[list[Passage], list[str]]:
        """Return the passages that repeat none, and the ids of the others."""
        apart = distinct_passages(p for p in passages if not self._texts.has(p))
        kept = {p.id for p in apart}
        return apart, [p.id for p in passages if p.id not in kept]


def _size(messages: Sequence[ModelMessage]) -> int:
    return sum(estimate_tokens(message.text) for message in messages)


def _whole(turns: Sequence[Turn], first: int, library: Library, calls: int) -> list[list[ModelMessage]]:
    """Return the messages of turns from `first` on, showing each passage once.

    Behind each turn stand the calls that are left.
    """
    shown = _Shown()
    groups: list[list[ModelMessage]] = []
    for number, turn in enumerate(turns[first:], first + 1):
        group = _turn(turn, library, shown)
        if calls and turn.actions:
            left = max(0, calls_left(turns[:number], calls).calls)
            group[-1] = group[-1].model_copy(
                update={
                    "text": f"{group[-1].text}\n(calls left: {left}; free: repeats, and opens that fail or show what was read)"
                }
            )
        groups.append(group)
    return groups


def _turn(turn: Turn, library: Library, shown: "_Shown | None", *, most: int = _LONGEST) -> list[ModelMessage]:
    """Return a turn's messages; `shown` are passages shown before, `most` is tokens.

    With None for `shown` the turn shrinks; `most` is that of one result.
    """
    if turn.remarks:
        return [ModelMessage(role="user", text="\n".join(turn.remarks))]
    if turn.said:
        return [ModelMessage(role="assistant", text=turn.said)]
    calls = tuple(ToolCall(id=a.id, name=a.tool, arguments=a.arguments) for a in turn.actions)
    seen = {o.action: o for o in turn.observations}
    results = [
        ModelMessage(role="tool", tool_call_id=a.id, text=_result(a, seen.get(a.id), library, shown, most))
        for a in turn.actions
    ]
    return [ModelMessage(role="assistant", tool_calls=calls), *results]


def _result(action: Action, seen: Observation | None, library: Library, shown: "_Shown | None", most: int) -> str:
    if action.name == "unknown":
        return f"Not done: {action.query}."
    if action.name in ("think", "research_complete"):
        return "Noted."
    if seen is None:
        return "Not done."
    if action.name == "conduct_research":
        return _notes(seen, short=shown is None)
    if not seen.passages:
        failed = f"Failed, which says nothing about what there is: {attribute(seen.failure)}" if seen.failure else ""
        return "\n".join(part for part in (failed, clean(seen.text)[:_TOLD_CHARS]) if part) or "Nothing found."
    if shown is None:
        return _lines_by_source(seen.passages, library)
    return "\n".join(
        part for part in (_shown(action, seen, library, shown, most), clean(seen.text)[:_TOLD_CHARS]) if part
    )


_ID = re.compile(r"\bs\d+p\d+\b")


def _notes(seen: Observation, *, short: bool) -> str:
    """Return a researcher's notes for its supervisor; if `short`, the passages cited."""
    failed = f"This research failed: {attribute(seen.failure)}" if seen.failure else ""
    cited = dict.fromkeys(_ID.findall(seen.text)) if short else ()
    text = f"(shown before; it rests on {', '.join(cited)})" if cited else clean_own(seen.text)
    return "\n".join(part for part in (failed, text) if part) or "Nothing was found."


def _shown(action: Action, seen: Observation, library: Library, shown: "_Shown", most: int) -> str:
    """Return what was not shown before: the best of a search, or all that was opened."""
    passages = passages_of(seen.passages, library)
    before = [p.id for p in passages if p.id in shown.ids]
    new = [p for p in passages if p.id not in shown.ids]
    copies: list[str] = []
    if action.name != "open":
        most = min(most, _MOST_SEARCH_TOKENS, _SEARCH_TOKENS * len(action.query.split("\n")))
        new, copies = shown.told_apart(new)
    fitting = within_tokens(new, most) if new else []
    parts = [show_passages(fitting, library)] if fitting else []
    if left := new[len(fitting) :]:
        counts = Counter(passage.source for passage in left)
        named = (f"{source_line(key, library)} ({count})" for key, count in counts.most_common(_NAMED_SOURCES))
        parts.append(f"More passages, to be opened: {'; '.join(named)}")
    if copies:
        parts.append(f"The same words elsewhere: {', '.join(copies[:_NAMED_COPIES])}")
    if before:
        parts.append(f"Shown before: {', '.join(before)}")
    if seen.failed:
        parts.append(f"Not reached: {', '.join(map(attribute, seen.failed))}")
    shown.add(fitting)
    return "\n".join(parts)


def _lines_by_source(ids: Sequence[str], library: Library) -> str:
    groups: dict[str, list[str]] = {}
    for key in ids:
        groups.setdefault(key.partition("p")[0], []).append(key)
    rows = (f"{source_line(source, library)}: {', '.join(keys)}" for source, keys in groups.items())
    return "(read, no longer shown; open by id) " + "; ".join(rows)
