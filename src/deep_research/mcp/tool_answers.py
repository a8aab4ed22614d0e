"""A tool's answer from its wire form: text within bounds, with what could not be taken said beside it."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from deep_research.data.outside_tools import ToolAnswer, ToolContent

MOST_CHARS = 400_000
"""Text taken from one answer; about a hundred pages."""


def answer_of(
    content: Sequence[Any], structured: Any = None, *, hide: Callable[[str], str] = lambda text: text
) -> ToolAnswer:
    """Return the answer in these content blocks of MCP (or of LangChain); `hide` masks secrets in it."""
    parts: list[ToolContent] = []
    left = MOST_CHARS
    for block in content:
        part = _part(block if isinstance(block, Mapping) else {"type": "text", "text": str(block)})
        text = hide(part.text)
        if len(text) > left:
            parts += [part.model_copy(update={"text": text[:left]}), ToolContent(kind="cut")]
            break
        left -= len(text)
        parts.append(part.model_copy(update={"text": text, "url": hide(part.url), "title": hide(part.title)}))
    return ToolAnswer(parts=tuple(parts), structured=_bounded(structured, hide))


def strings_in(value: Any) -> Iterable[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from strings_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from strings_in(part)


def _part(block: Mapping[str, Any]) -> ToolContent:
    kind = str(block.get("type") or "text")
    if kind == "text":
        return ToolContent(text=str(block.get("text") or ""))
    if kind == "resource_link":
        words = [str(block.get(name) or "") for name in ("title", "name", "description")]
        said = " · ".join(dict.fromkeys([*filter(None, words), str(block.get("uri") or "")]))
        return ToolContent(text=said, title=words[0] or words[1], url=_web(block.get("uri")))
    if kind == "resource" and isinstance(inner := block.get("resource"), Mapping) and "text" in inner:
        media, url = str(inner.get("mimeType") or ""), _web(inner.get("uri"))
        return ToolContent(text=str(inner["text"] or ""), media_type=media, url=url)
    return ToolContent(kind=kind if kind.isidentifier() else "unknown")


def _web(uri: Any) -> str:
    return str(uri) if str(uri).startswith(("https://", "http://")) else ""


def _bounded(structured: Any, hide: Callable[[str], str]) -> Any:
    """The structured form, unless it is too long: the text says the same."""
    if structured is None:
        return None
    text = json.dumps(structured, ensure_ascii=False)
    if len(text) > MOST_CHARS:
        return None
    hidden = hide(text)
    return structured if hidden == text else _loaded(hidden)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
