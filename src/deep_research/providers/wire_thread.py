"""Calls of a model's server in the thread that waits for servers: there an answer is noted the moment that it is there."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from deep_research.concurrency import on_wires
from deep_research.data import ModelAnswer
from deep_research.providers.token_stream import current_sink, streaming_to

_NOTE: ContextVar[Callable[[ModelAnswer], object] | None] = ContextVar("note_answer", default=None)
"""What is told of the answer of the call that is being made, of which each task has its own."""


@contextmanager
def noting_answer(note: Callable[[ModelAnswer], object]) -> Iterator[Callable[[ModelAnswer], object]]:
    """Have `note` told of the answer of the call inside the block, once, in the thread that has it first.

    Gives what is to be called with the answer of a model that has not told of it itself.
    """
    is_noted = False

    def note_once(answer: ModelAnswer) -> None:
        nonlocal is_noted
        if not is_noted:
            is_noted = True
            note(answer)

    before = _NOTE.set(note_once)
    try:
        yield note_once
    finally:
        _NOTE.reset(before)


async def call_on_wires(call: Callable[[], Coroutine[Any, Any, ModelAnswer]]) -> ModelAnswer:
    """Return what `call` returns, made and noted in the thread that waits for servers; its text is streamed here."""

    async def heard() -> ModelAnswer:
        answer = await call()
        if (note := _NOTE.get()) is not None:
            note(answer)
        return answer

    sink = current_sink()
    if sink is None:
        return await on_wires(heard())
    loop, pieces = asyncio.get_running_loop(), asyncio.Queue[str | None]()

    async def relay(piece: str) -> None:
        loop.call_soon_threadsafe(pieces.put_nowait, piece)

    with streaming_to(relay):
        calling = asyncio.ensure_future(on_wires(heard()))
    calling.add_done_callback(lambda _: pieces.put_nowait(None))
    try:
        while (piece := await pieces.get()) is not None:
            await sink(piece)
        return await calling
    finally:
        calling.cancel()
