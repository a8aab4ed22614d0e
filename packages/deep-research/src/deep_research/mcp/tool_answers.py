"""Read outside tools' answers in bounds; explain failures by type and code."""

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from claimcheck.text.cleaning import shorten
from deep_research.data.outside_tools import ToolAnswer, ToolContent
from deep_research.errors import SourceError, Unreachable, Unreadable
from deep_research.protocol.http_semantics import error_kind, status_meaning
from deep_research.safe_text import safe_text

MOST_CHARS = 400_000  # of one answer; about a hundred pages
MOST_PARTS = 200  # of an answer, empty ones too
_LONGEST = 300
_CONNECTION_CLOSED, _REQUEST_TIMEOUT = -32000, -32001
"""Codes that the SDK gives of its own accord; the others are the server's."""


def answer_of(content: Iterable[Any], structured: Any = None) -> ToolAnswer:
    """Return the answer in MCP or LangChain content blocks."""
    parts: list[ToolContent] = []
    left = MOST_CHARS
    blocks = iter(content)
    for block in islice(blocks, MOST_PARTS):
        part = _part(block if isinstance(block, Mapping) else {"type": "text", "text": str(block)})
        if len(part.text) > left:
            parts += [part.model_copy(update={"text": part.text[:left]}), ToolContent(kind="cut")]
            break
        left -= len(part.text)
        parts.append(part)
    else:
        parts += [ToolContent(kind="cut")] * (next(blocks, None) is not None)
    return ToolAnswer(parts=tuple(parts), structured=_bounded(structured))


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
        media, url = str(inner.get("mimeType") or "")[:_LONGEST], _web(inner.get("uri"))
        return ToolContent(text=str(inner["text"] or ""), media_type=media, url=url)
    return ToolContent(kind=kind if len(kind) <= _LONGEST and kind.isidentifier() else "unknown")


def _web(uri: Any) -> str:
    return str(uri) if str(uri).startswith(("https://", "http://")) else ""


def _bounded(structured: Any) -> Any:
    """Return the structured form, unless it is too long: the text says the same."""
    return structured if len(json.dumps(structured, ensure_ascii=False)) <= MOST_CHARS else None


def failure(
    name: str, error: BaseException, *, about: str, status: int | None, seconds: float, is_program: bool
) -> SourceError:
    """Return the error that explains a server's failure.

    `status` is the HTTP status of its last refusal, `about` what was asked or said. A program that has ended is gone for
    good (`given_up`); over HTTP only one answer was cut off.
    """
    cause = error
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    code = getattr(cause, "code", None)
    kind, why = _why(cause, code, status, seconds)
    hint = f" ({shortened(about)})" if about else ""
    ended = is_program and code == _CONNECTION_CLOSED
    return kind(f"The MCP server {name!r} {why}{hint}.", source=name, status=status, given_up=ended)


def tool_error(name: str, tool: str, answer: ToolAnswer) -> SourceError:
    """Return the error that a tool itself tells of."""
    said = shortened(" ".join(part.text for part in answer.parts)) or "without a reason"
    return SourceError(f"The tool {tool!r} of the MCP server {name!r} failed: {said}", source=name)


def shortened(text: str) -> str:
    """Return outside text fit for a gap: clean, on one line, not long."""
    return shorten(safe_text(text), _LONGEST).rstrip(".")  # a key that is cut is not known any more


def _why(cause: BaseException, code: object, status: int | None, seconds: float) -> tuple[type[SourceError], str]:
    if status is not None:
        return error_kind(status_meaning(status), refused=Unreachable), f"answered HTTP {status}"
    if isinstance(cause, TimeoutError) or code == _REQUEST_TIMEOUT:
        return Unreachable, f"did not answer within {seconds:g} seconds"
    if code == _CONNECTION_CLOSED:
        return Unreachable, "has ended the connection"
    if isinstance(code, int):
        return SourceError, f"answered with an error ({code}: {_first_line(cause)})"
    if isinstance(cause, FileNotFoundError | NotADirectoryError | PermissionError):
        return Unreachable, f"cannot be started: {cause.strerror}: {cause.filename}"
    if isinstance(cause, OSError):
        return Unreachable, f"cannot be reached: {cause.strerror or type(cause).__name__}"
    if isinstance(cause, Unreadable | ValueError | RuntimeError):
        what = "was not read any further" if isinstance(cause, Unreadable) else "does not keep to the protocol"
        return Unreadable, f"{what}: {_first_line(cause)}"
    return Unreachable, f"cannot be reached: {type(cause).__name__}"


def _first_line(cause: BaseException) -> str:
    """Return what an error says first; what follows is a listing."""
    return shortened(str(cause).strip().partition("\n")[0])
