"""What goes wrong with an MCP server, in our words: by type and code, never by the words of a message."""

from deep_research.data.outside_tools import ToolAnswer
from deep_research.errors import SourceError, Unreachable, Unreadable
from deep_research.protocol.http_semantics import error_kind, status_meaning
from deep_research.text.cleaning import shorten

_LONGEST = 300
_CONNECTION_CLOSED, _REQUEST_TIMEOUT = -32000, -32001
"""Codes that the SDK gives of its own accord; the others are the server's."""


def failure(
    name: str, error: BaseException, *, about: str, status: int | None, seconds: float, is_program: bool
) -> SourceError:
    """Return why the server failed; `status` is the HTTP status of its last refusal, `about` what was asked or said.

    A program that has ended is gone for good (`given_up`); over HTTP only one answer was cut off.
    """
    cause = _innermost(error)
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
    return shorten(text, _LONGEST).rstrip(".")


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
    if isinstance(cause, ValueError | RuntimeError):
        return Unreadable, f"does not keep to the protocol: {_first_line(cause)}"
    return Unreachable, f"cannot be reached: {type(cause).__name__}"


def _innermost(error: BaseException) -> BaseException:
    """The first single error in groups of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _first_line(cause: BaseException) -> str:
    """What an error says first; what follows is a listing."""
    return shortened(str(cause).strip().partition("\n")[0])
