"""The text of an answer while it arrives, for a caller that shows it early."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from deep_research.concurrency import bind_variable, note_answer, on_wires
from deep_research.data import ModelAnswer

Sink = Callable[[str], Awaitable[None]]
_SINK: ContextVar[Sink | None] = ContextVar("sink", default=None)
"""What the answer of the call that is being made is passed to, of which each task has its own."""
_IN_A_ROW, _BEAT = 20, 0.1
"""After so many pieces those of so many seconds are passed on as one: a server may send letters by the thousand."""


def streaming_to(sink: Sink | None) -> AbstractContextManager[None]:
    """Pass the text of answers in the block to `sink` as it arrives; None: nowhere."""
    return bind_variable(_SINK, sink)


def is_streamed() -> bool:
    """Return whether the answer should be asked for as a stream."""
    return _SINK.get() is not None


async def pass_on(piece: str) -> None:
    """Pass a piece of the answer on, where anything takes it."""
    sink = _SINK.get()
    if sink is not None and piece:
        await sink(piece)


async def call_on_wires(call: Callable[[], Coroutine[Any, Any, ModelAnswer]]) -> ModelAnswer:
    """Run `call` in the thread for servers; stream its text here, return its result."""

    async def noted() -> ModelAnswer:
        answer = await call()
        note_answer(answer)
        return answer

    sink = _SINK.get()
    if sink is None:
        return await on_wires(noted())
    loop, pieces, came = asyncio.get_running_loop(), deque[str](), asyncio.Event()
    passed = 0

    async def relay(piece: str) -> None:
        pieces.append(piece)
        if not came.is_set():
            loop.call_soon_threadsafe(came.set)

    with streaming_to(relay):
        calling = asyncio.ensure_future(on_wires(noted()))
    calling.add_done_callback(lambda _: came.set())
    try:
        while not calling.done() or pieces:
            came.clear()
            if not pieces:
                await came.wait()
                continue
            passed += 1
            if passed % _IN_A_ROW:
                await sink(pieces.popleft())
            else:
                await asyncio.wait((calling,), timeout=_BEAT)
                await sink("".join(pieces.popleft() for _ in range(len(pieces))))
        return await calling
    finally:
        calling.cancel()
