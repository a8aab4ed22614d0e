"""A researcher's conversation with a model: what it did and saw, as messages that only grow.

Results are rendered the same way each time, so that the beginning of a prompt is the end of the one
before. When a conversation grows too long its oldest results shrink to a line per source; every passage
can be read again by id.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import cast

from deep_research.data import (
    Action,
    ActionName,
    ModelAnswer,
    ModelMessage,
    Observation,
    Passage,
    ToolCall,
    ToolSpec,
    Turn,
)
from deep_research.ports import Library
from deep_research.reasoners.model.prompt_views import fenced_passage
from deep_research.text.cleaning import fold
from deep_research.text.prompt_fencing import attribute, clean, fence
from deep_research.text.token_count import OBSERVED_TOKENS, estimate_tokens, take_within_budget

_READ = "Read more of a source by its id (s7), or its text from a passage on (s7p3)."
_READ_PAGES = f"{_READ} Also opens a web address that a passage or the question names, copied exactly."
_SHOWN_PASSAGES, _SHOWN_TOKENS = 5, 800
"""How many passages of one search are shown whole, and in how many tokens together."""
_NAMED_SOURCES = 6
"""How many more of its results are named, with their titles."""
_STUB_CHARS = 260
_TOLD_CHARS = 400
_LONGEST_ARGUMENTS = 20_000


def tools(places: Sequence[str], *, opens_addresses: bool = False) -> tuple[ToolSpec, ...]:
    """Return the tools of a researcher; `places` are the names that `search` takes, `opens_addresses` whether `read`
    takes more than ids.
    """
    text = {"type": "string"}
    source = {"type": "string", "enum": ["", *places], "description": "place to search; empty: all that fit"}
    search: dict[str, object] = {"query": text, "source": source} if len(places) > 1 else {"query": text}
    ids = {"type": "array", "items": text, "description": "ids of passages worth citing, best first"}
    return (
        _tool("search", "Search with a short keyword query.", search),
        _tool("read", _READ_PAGES if opens_addresses else _READ, {"source": text}),
        _tool("recall", "Search in what all researchers of this run have read so far.", {"query": text}),
        _tool("think", "Write down a thought about what to do next.", {"thought": text}),
        _tool(
            "research_complete",
            "End the research of this section; calls of the same turn are still carried out, for the writer.",
            {"passages": ids},
        ),
    )


def _tool(name: str, description: str, properties: dict[str, object]) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return ToolSpec(name=name, description=description, parameters=schema)


def actions_of(answer: ModelAnswer, prefix: str, outside: Collection[str] = ()) -> list[Action]:
    """Return the tool calls of an answer as actions; a call we cannot carry out is an `unknown` action.

    `outside` are the names of the tools of others.
    """
    return [_action(call, f"{prefix}c{i}", outside) for i, call in enumerate(answer.tool_calls, 1)]


_ARGUMENT = {"search": "query", "recall": "query", "read": "source", "think": "thought"}
"""The argument of each tool that takes words."""


def _action(call: ToolCall, key: str, outside: Collection[str]) -> Action:
    if call.arguments is None:
        return Action(id=key, name="unknown", query=f"the arguments of {call.name} were no JSON object")
    if call.name == "research_complete":
        ids = call.arguments.get("passages")
        named = " ".join(str(i).strip("[] ") for i in ids) if isinstance(ids, list) else ""
        return Action(id=key, name="research_complete", query=named)
    if call.name in outside:
        said = json.dumps(call.arguments, ensure_ascii=False)
        if len(said) > _LONGEST_ARGUMENTS:
            return Action(id=key, name="unknown", query=f"the arguments of {call.name} were too long")
        return Action(id=key, name="call_tool", source=call.name, query=said)
    if call.name not in _ARGUMENT:
        return Action(id=key, name="unknown", query=f"there is no tool named {call.name}")
    words = str(call.arguments.get(_ARGUMENT[call.name]) or "").strip()
    if not words:
        return Action(id=key, name="unknown", query=f"{call.name} needs its argument {_ARGUMENT[call.name]}")
    place = str(call.arguments.get("source") or "") if call.name == "search" else ""
    return Action(id=key, name=cast(ActionName, call.name), query=words, source=place)


def messages_of(turns: Sequence[Turn], library: Library, *, budget: int) -> list[ModelMessage]:
    """Return turns as messages within about `budget` tokens; the oldest results shrink first."""
    shown: dict[str, bool] = {}
    full = [_turn(turn, library, shown) for turn in turns]
    sizes = [sum(estimate_tokens(m.text) for m in group) for group in full]
    excess = sum(sizes) - budget
    for index, turn in enumerate(turns[:-1]):
        if excess <= 0:
            break
        full[index] = _turn(turn, library, None)
        excess -= sizes[index] - sum(estimate_tokens(m.text) for m in full[index])
    return [message for group in full for message in group]


def _turn(turn: Turn, library: Library, shown: dict[str, bool] | None) -> list[ModelMessage]:
    if turn.remarks:
        return [ModelMessage(role="user", text=remarked(turn.remarks))]
    calls = tuple(ToolCall(id=a.id, name=_name(a), arguments=_arguments(a)) for a in turn.actions)
    messages = [ModelMessage(role="assistant", tool_calls=calls)]
    seen = {o.action: o for o in turn.observations}
    for action in turn.actions:
        text = _result(action, seen.get(action.id), library, shown)
        messages.append(ModelMessage(role="tool", tool_call_id=action.id, text=text))
    return messages


def _name(action: Action) -> str:
    if action.name == "call_tool":
        return action.source
    return "think" if action.name == "unknown" else action.name


def _arguments(action: Action) -> dict[str, object]:
    match action.name:
        case "search":
            return {"query": action.query, **({"source": action.source} if action.source else {})}
        case "read":
            return {"source": action.query}
        case "recall":
            return {"query": action.query}
        case "research_complete":
            return {"passages": action.query.split()}
        case "call_tool":
            return json.loads(action.query)
        case _:
            return {"thought": action.query}


def _result(action: Action, seen: Observation | None, library: Library, shown: dict[str, bool] | None) -> str:
    if action.name == "unknown":
        return f"Not done: {action.query}."
    if action.name in ("think", "research_complete"):
        return "Noted."
    if seen is None:
        return "Not done."
    if not seen.passages and seen.text:
        return clean(seen.text)[:_TOLD_CHARS]
    if not seen.passages:
        if seen.failure:
            return f"Failed, which says nothing about what there is: {attribute(seen.failure)}"
        return "Nothing found."
    passages = [p for key in seen.passages if (p := library.passage(key)) is not None]
    if shown is None:
        return _line_per_source(passages, library)
    parts = _shown(passages, library, shown, whole=action.name == "read")
    if action.name == "search" and not seen.new:
        parts.append("Only documents that were known already.")
    return "\n".join([*parts, clean(seen.text)[:_TOLD_CHARS]]).strip()


def _shown(passages: Sequence[Passage], library: Library, shown: dict[str, bool], *, whole: bool) -> list[str]:
    """What was not shown before: the best of a search, or all of what was read on purpose; the others by id.

    `shown` says of each passage in the conversation whether all of it stands there.
    """
    known = [p.id for p in passages if p.id in shown and (shown[p.id] or not whole)]
    new = [p for p in passages if p.id not in known]
    if not whole:  # manuals print the same matter on several pages
        said = {_said(passage) for key in shown if (passage := library.passage(key)) is not None}
        new = list({_said(p): p for p in reversed(new) if _said(p) not in said}.values())[::-1]
    most, tokens = (len(new), OBSERVED_TOKENS) if whole else (_SHOWN_PASSAGES, _SHOWN_TOKENS)
    fitting = list(take_within_budget(((p, p.text) for p in new[:most]), tokens))
    shown.update((p.id, True) for p in fitting)
    parts = [fenced_passage(p, library) for p in fitting]
    if left := new[len(fitting) :]:
        # Without their ids: what nobody has seen is not to be named for the writer.
        counts = Counter(passage.source for passage in left)
        more = (f"{key} {_title_of(key, library)} ({count})" for key, count in counts.most_common(_NAMED_SOURCES))
        parts.append(f"More passages, to be opened with read: {'; '.join(more)}")
    if known:
        parts.append(f"Shown before: {', '.join(known)}")
    return parts


def _said(passage: Passage) -> str:
    return fold(passage.text)


_LEADS = re.compile(
    r"\b(?:superseded|replaced|obsoleted|overtaken|amended)[ -]by:?|\b(?:supersedes|replaces|obsoletes|requires|resolution):",
    re.IGNORECASE,
)
_NAME = re.compile(r"[\w./:()-]*(?:[A-Z]{2,}[ -]?\d|[A-Za-z]\d|\d{3})[\w./:()-]*")
"""What can be looked for by its name: an identifier or a number of a document."""
_LEAD_CHARS, _MOST_LEADS = 60, 6


def leads_in(turns: Sequence[Turn], library: Library) -> list[str]:
    """Return what the passages found so far name as decisive elsewhere ("Superseded-By: 734"), as they say it.

    What was searched for already is left out.
    """
    made = " ".join(a.query.casefold() for turn in turns for a in turn.actions)
    ids = dict.fromkeys(key for turn in turns for seen in turn.observations for key in seen.passages)
    found: dict[str, None] = {}
    for key in ids:
        passage = library.passage(key)
        for match in _LEADS.finditer(passage.text) if passage is not None else ():
            end = match.end() + _LEAD_CHARS
            said = attribute(re.split(r"[\n;]|(?<=[.)])\s", passage.text[match.start() : end] if passage else "")[0])
            name = _NAME.search(said[match.end() - match.start() :])
            if name is not None and name[0].casefold() not in made:
                found.setdefault(said)
    return list(found)[:_MOST_LEADS]


def remarked(remarks: Sequence[str]) -> str:
    """Return what the user has remarked while the research goes on, for a prompt."""
    listed = "\n".join(f"- {remark}" for remark in remarks)
    return f"The person who asked has remarked since the research began; take it into account:\n{listed}"


def shortened(passage: Passage, library: Library) -> str:
    """Return the beginning of a passage, fenced: enough to tell whether all of it is wanted."""
    source = library.source(passage.source)
    text = passage.text if len(passage.text) <= _STUB_CHARS else passage.text[:_STUB_CHARS].rstrip() + " …"
    return fence(
        passage, title=source.title if source else "", published=source.published if source else None, text=text
    )


def _line_per_source(passages: Sequence[Passage], library: Library) -> str:
    groups: dict[str, list[str]] = {}
    for passage in passages:
        groups.setdefault(passage.source, []).append(passage.id)
    return "\n".join(f"{key} {_title_of(key, library)}: {', '.join(ids)}" for key, ids in groups.items())


def _title_of(key: str, library: Library) -> str:
    source = library.source(key)
    return attribute(source.title) if source is not None else ""
