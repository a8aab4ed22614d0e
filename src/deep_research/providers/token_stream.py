"""The text of an answer while it arrives, for a caller that shows it before it is whole."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from deep_research.concurrency import note_answer, on_wires
from deep_research.data import ModelAnswer

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


async def call_on_wires(call: Callable[[], Coroutine[Any, Any, ModelAnswer]]) -> ModelAnswer:
    """Return what `call` returns, made and noted in the thread that waits for servers; its text is streamed here."""

    async def noted() -> ModelAnswer:
        answer = await call()
        note_answer(answer)
        return answer

    sink = _SINK.get()
    if sink is None:
        return await on_wires(noted())
    loop, pieces = asyncio.get_running_loop(), asyncio.Queue[str | None]()

    async def relay(piece: str) -> None:
        loop.call_soon_threadsafe(pieces.put_nowait, piece)

    with streaming_to(relay):
        calling = asyncio.ensure_future(on_wires(noted()))
    calling.add_done_callback(lambda _: pieces.put_nowait(None))
    try:
        while (piece := await pieces.get()) is not None:
            await sink(piece)
        return await calling
    finally:
        calling.cancel()
