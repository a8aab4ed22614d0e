"""Make outside tools fit for a prompt: clean names, texts and schemas in bounds."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from claimcheck.text.cleaning import shorten
from deep_research.data import ToolSpec
from deep_research.data.outside_tools import OfferedTool
from deep_research.text.prompt_fencing import clean

MOST_PER_SERVER = 32
_LONGEST_NAME, _LONGEST_TEXT, _LONGEST_NOTE, _LONGEST_SCHEMA = 64, 500, 160, 6_000
_DEPTH, _MOST_PROPERTIES, _MOST_CHOICES = 6, 40, 60
_LONGEST_GIVEN, _MOST_PARTS = 60_000, 300  # a schema that names itself is small, and unfolds without end
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_PROPERTY = re.compile(r"[A-Za-z0-9_.$-]{1,64}")
_NUMBERS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
QUERY_ARGUMENTS = (
    "query", "q", "search", "search_query", "searchQuery", "search_term", "searchTerm", "keyword", "keywords",
    "term", "terms", "question", "topic",
)  # fmt: skip
"""Arguments that take a search: a tool that needs one of them and nothing else can be searched by every reasoner."""


class Offer(NamedTuple):
    """A tool as a model sees it (`spec`), and which tool of which server it is."""

    spec: ToolSpec
    server: str
    tool: str


def offers(listed: Mapping[str, Sequence[OfferedTool]], taken: Collection[str]) -> list[Offer]:
    """Return all tools; names in `taken` or given twice get their server's first."""
    plain = [(server, tool, _name(tool.name)) for server, tools in listed.items() for tool in tools]
    names = [name for _, _, name in plain]
    offered: dict[str, Offer] = {}
    for server, tool, name in plain:
        unique = name if name not in taken and names.count(name) == 1 else _name(f"{server}_{name}")
        final = next(n for n in _numbered(unique) if n not in taken and n not in offered)
        offered[final] = Offer(_spec(final, server, tool), server, tool.name)
    return list(offered.values())


def chosen(tools: Sequence[OfferedTool], wanted: Sequence[str]) -> tuple[list[OfferedTool], list[str]]:
    """Return a server's tools to offer (`wanted`, or all that only read), and notes."""
    unfit = shorten(", ".join(_words(tool.name, _LONGEST_NAME) for tool in tools if tool.unfit), _LONGEST_TEXT)
    notes = [f"left out, because their schemas are not those of objects: {unfit}"] if unfit else []
    tools = [tool for tool in tools if not tool.unfit]
    if wanted:
        by_name = {tool.name: tool for tool in tools}
        missing = [name for name in wanted if name not in by_name]
        notes += [f"it has no tool named {', '.join(missing)}"] if tools and missing else []
        return [by_name[name] for name in dict.fromkeys(wanted) if name in by_name], notes
    kept = [tool for tool in tools if not tool.changes]
    if len(kept) > MOST_PER_SERVER:
        notes.append(f"of its {len(kept)} tools the first {MOST_PER_SERVER} are offered; choose with the setting tools")
    return kept[:MOST_PER_SERVER], notes


def query_argument(parameters: Mapping[str, Any]) -> str:
    """Return the one argument that takes a search; "" if none or more are needed."""
    properties = parameters.get("properties")
    if not isinstance(properties, Mapping):
        return ""
    required = [name for name in parameters.get("required") or () if isinstance(name, str)]
    wanted = required or [name for name in properties if name in QUERY_ARGUMENTS][:1]
    if len(wanted) != 1 or wanted[0] not in QUERY_ARGUMENTS:
        return ""
    kind = properties.get(wanted[0])
    return wanted[0] if isinstance(kind, Mapping) and kind.get("type", "string") == "string" else ""


def _name(name: str) -> str:
    """Return the name as every provider takes it."""
    return _UNFIT.sub("_", name).strip("_")[:_LONGEST_NAME] or "tool"


def _numbered(name: str) -> Iterable[str]:
    yield name
    for number in range(2, 10_000):
        yield f"{name[: _LONGEST_NAME - 5]}_{number}"


def _spec(name: str, server: str, tool: OfferedTool) -> ToolSpec:
    said = _words(tool.description or tool.title, _LONGEST_TEXT)
    given = tool.parameters if len(json.dumps(tool.parameters)) <= _LONGEST_GIVEN else {}
    schema = _schema(given, given, iter(range(_MOST_PARTS)), 0)
    properties = schema.get("properties", {})
    made = {"type": "object", "properties": properties, "required": schema.get("required", [])}
    if len(json.dumps(made)) > _LONGEST_SCHEMA:
        bare = {key: {"type": value["type"]} if "type" in value else {} for key, value in properties.items()}
        made["properties"] = bare
    return ToolSpec(name=name, description=f"Tool of the server {server}: {said}".strip(": "), parameters=made)


def _words(text: Any, limit: int) -> str:
    return shorten(clean(text[: 20 * limit]), limit) if isinstance(text, str) else ""


def _schema(part: Any, whole: Mapping[str, Any], left: Iterator[int], depth: int) -> dict[str, Any]:
    """Return a schema of at most `left` parts, in keywords that all providers know."""
    if not isinstance(part, Mapping) or depth > _DEPTH or next(left, None) is None:
        return {}
    if isinstance(named := part.get("$ref"), str):
        return _schema(_referred(named, whole), whole, left, depth + 1)
    made: dict[str, Any] = {}
    kinds = part.get("type")
    known = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind in _TYPES]
    if known:
        made["type"] = known[0] if len(known) == 1 else known
    if note := _words(part.get("description"), _LONGEST_NOTE):
        made["description"] = note
    made |= {key: part[key] for key in _NUMBERS if _is_number(part.get(key))}
    choices = part.get("enum") if isinstance(part.get("enum"), list) else [part["const"]] if "const" in part else []
    fit = [c for c in choices or () if _is_number(c) or c is None or _words(c, _LONGEST_NOTE) == c]
    if fit:
        made["enum"] = fit[:_MOST_CHOICES]
    if isinstance(part.get("properties"), Mapping):
        made |= _properties(part, whole, left, depth)
    if "items" in part:
        made["items"] = _schema(part["items"], whole, left, depth + 1)
    either = next((part[key] for key in ("anyOf", "oneOf") if isinstance(part.get(key), list)), None)
    if either:
        made["anyOf"] = [_schema(one, whole, left, depth + 1) for one in either[:8]]
    return made


def _is_number(value: Any) -> bool:
    """Return whether a value is a number that every provider accepts."""
    return isinstance(value, int | float) and abs(value) < 2**53


def _properties(part: Mapping[str, Any], whole: Mapping[str, Any], left: Iterator[int], depth: int) -> dict[str, Any]:
    names = [n for n in part["properties"] if isinstance(n, str) and _PROPERTY.fullmatch(n)][:_MOST_PROPERTIES]
    required = part.get("required")
    return {
        "properties": {name: _schema(part["properties"][name], whole, left, depth + 1) for name in names},
        "required": [name for name in required if name in names] if isinstance(required, list) else [],
    }


def _referred(named: str, whole: Mapping[str, Any]) -> Any:
    """Return what a reference within the schema leads to; others lead nowhere."""
    value: Any = whole
    for step in named.removeprefix("#/").split("/") if named.startswith("#/") else ["#"]:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value
