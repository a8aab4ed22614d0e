"""What one owner may take of a server, so that the others find a place.

Every request passes `RequestGuard`, which tells whose it is (`OWNER`) and counts it until it has ended. What reads or
computes leaves the event loop for threads, which all give turns to owners (`FairThreads`): a route that is a plain
function, and a tool, do so by themselves (`in_turn`). Runs take their turns of the same kind (`Turns`).
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from fastapi import Response
from fastapi.routing import APIRoute
from pydantic_core import to_json
from starlette.responses import StreamingResponse
from starlette.types import Message, Send

from deep_research.concurrency import FairThreads
from deep_research.errors import LimitReached

make_answer = FairThreads(2, "answers").do
"""Return `work(*about, **named)`, done in a turn of the owner: for what takes long, or much memory; each has one."""


class OwnersRoute(APIRoute):
    """A route whose plain endpoint and JSON encoding run in the owner's turn."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        is_plain = not iscoroutinefunction(endpoint)
        super().__init__(path, in_turn(endpoint, answered) if is_plain else endpoint, **options)


def in_turn(plain: Callable[..., Any], then: Callable[[Any], Any] = lambda made: made) -> Callable[..., Awaitable[Any]]:
    """Return an async version of `plain`, then `then`, run in the owner's turn."""

    @wraps(plain)
    async def answer(*about: Any, **named: Any) -> Any:
        return await make_answer(lambda: then(plain(*about, **named)))

    return answer


def answered(made: Any) -> Response | None:
    """Return what a route has made as its JSON; a response and nothing as they are."""
    if made is None or isinstance(made, Response):
        return made
    return Response(to_json(made, by_alias=True, inf_nan_mode="null"), media_type="application/json")


class FairStream(StreamingResponse):
    """Server-sent events that yield to other clients between parts of large output."""

    media_type = "text/event-stream"

    async def stream_response(self, send: Send) -> None:
        """See Starlette."""

        async def send_in_turn(message: Message) -> None:
            await send(message)
            if message.get("more_body"):  # once all is sent, the request has ended for its client
                await asyncio.sleep(0)

        await super().stream_response(send_in_turn)


class UnderWay:
    """Number of an owner's operations in progress, from request to end."""

    def __init__(self, most: int, what: str, *, of_all: bool = False) -> None:
        """Begin with none; the local user "" may exceed `most`, unless `of_all` is set."""
        self._most, self._what, self._of_all, self._counts = most, what, of_all, Counter[str]()

    @contextmanager
    def one_of(self, owner: str) -> Iterator[None]:
        """Count one more inside the block. Raises LimitReached."""
        if (owner or self._of_all) and self._counts[owner] >= self._most:
            raise LimitReached(f"{self._most} {self._what} are under way: wait for their answers.")
        self._counts[owner] += 1
        try:
            yield
        finally:
            self._counts[owner] -= 1
