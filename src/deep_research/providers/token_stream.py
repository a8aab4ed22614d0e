"""The text of an answer while it arrives, for a caller that shows it before it is whole."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Sink = Callable[[str], Awaitable[None]]
_SINK: ContextVar[Sink | None] = ContextVar("sink", default=None)
"""What the answer of the call that is being made is passed to, of which each task has its own."""


@contextmanager
def streaming_to(sink: Sink | None) -> Iterator[None]:
    """Pass the text of answers inside the block to `sink` as it arrives; None: to nothing."""
    before = _SINK.set(sink)
    try:
        yield
    finally:
        _SINK.reset(before)


def current_sink() -> Sink | None:
    """Return what the text of answers is passed to at this place."""
    return _SINK.get()


def is_streamed() -> bool:
    """Return whether the answer should be asked for as a stream."""
    return _SINK.get() is not None


async def pass_on(piece: str) -> None:
    """Pass a piece of the answer on, where anything takes it."""
    sink = _SINK.get()
    if sink is not None and piece:
        await sink(piece)


def openai_text(event: Mapping[str, Any], *, forced: bool) -> str:
    """Return the text in a chunk of OpenAI's wire; of a forced call (an answer by schema) its arguments."""
    delta = ((event.get("choices") or [{}])[0] or {}).get("delta") or {}
    if forced:
        calls = delta.get("tool_calls") or ()
        return "".join(str((call.get("function") or {}).get("arguments") or "") for call in calls)
    return delta["content"] if isinstance(delta.get("content"), str) else ""


def anthropic_text(event: Mapping[str, Any], *, forced: bool) -> str:
    """Return the text in an event of Anthropic's wire; of a forced call its input."""
    delta = event.get("delta") or {}
    return str(delta.get("partial_json" if forced else "text") or "")
