"""Request bodies, bounded by route in bytes, values and time before parsing."""

import asyncio
from typing import Annotated, NamedTuple, TypeVar

from pydantic import Field
from starlette.types import Message, Receive

_BODY_SECONDS, _LEAST_BYTES_PER_SECOND, _LONGEST_SECONDS = 30.0, 20_000, 600.0
"""How long the body of a request may take, beside what it takes at this pace; and at most."""
MOST_LARGE = 8
"""Bodies above the usual size that an owner may have on their way at a time: they are held in memory."""

_T = TypeVar("_T")
ListOf = Annotated[list[_T], Field(fail_fast=True)]
"""A list that a client gives: what is wrong with its first wrong item is told, and not made for 20,000 more."""


class Refusal(Exception):
    """A request that is not let in: its HTTP status, and what the client is told."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


class BodyLimit(NamedTuple):
    """The limits of a body: bytes, and strings, lists, objects and commas in total."""

    size: int
    values: int = 1_000


USUAL = BodyLimit(130_000)
"""A text of 20,000 characters, each written as six bytes (\\u4e2d), and what names it."""
SMALL = BodyLimit(4_000)
"""A token, and nothing longer: for what needs none, and for methods that have no body."""
LIMITS = {
    "/api/v1/runs": BodyLimit(1_000_000, 2_000),
    "/api/v1/verifications": BodyLimit(3_200_000),
    "/v1/chat/completions": BodyLimit(1_000_000, 20_000),
    "/v1/responses": BodyLimit(1_000_000, 20_000),
    "/mcp": BodyLimit(3_200_000, 5_000),
}
"""Of bodies in JSON, by the paths of routes; others have the usual one."""


class Body:
    """A request body with a size limit, announced and received, and a deadline."""

    def __init__(self, receive: Receive, limit: BodyLimit, announced: str) -> None:
        """Check the `announced` size against the limit. Raises Refusal if larger."""
        self.size = int(announced) if announced.isdecimal() else limit.size
        self._receive, self._limit, self._left = receive, limit, limit.size
        if self.size > limit.size:
            raise self._too_large()
        seconds = min(_LONGEST_SECONDS, _BODY_SECONDS + self.size / _LEAST_BYTES_PER_SECOND)
        self._deadline: float | None = asyncio.get_running_loop().time() + seconds
        self._held: Message | None = None
        self.refused: Refusal | None = None

    async def read(self) -> None:
        """Read the whole body, so that `receive` gives one message. Raises Refusal."""
        pieces: list[bytes] = []
        message: Message = {"more_body": True}
        while message.get("more_body"):
            message = await self._next()
            if message["type"] == "http.disconnect":
                raise Refusal(400, "The body of the request ended early.")
            pieces.append(message.get("body", b""))
        whole = b"".join(pieces)
        if b"\0" in whole:  # no text of JSON in UTF-8 has it, and each in UTF-16
            raise Refusal(400, "A body of JSON is in UTF-8.")
        if _count_values(whole, self._limit.values) > self._limit.values:
            raise Refusal(413, f"A body holds {self._limit.values} values here at most.")
        self._held = {"type": "http.request", "body": whole, "more_body": False}

    async def receive(self) -> Message:
        """Give the next message; beyond limit and deadline the client counts as gone."""
        if self._held is not None:
            message, self._held = self._held, None
            return message
        try:
            return await self._next()
        except Refusal as refusal:
            self.refused = refusal
            return {"type": "http.disconnect"}

    async def _next(self) -> Message:
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise Refusal(408, "The body of the request came too slowly.") from None
        if not message.get("more_body"):
            self._deadline = None
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise self._too_large()
        return message

    def _too_large(self) -> Refusal:
        return Refusal(413, f"The limit is {self._limit.size / 1e6:g} MB.")


def _count_values(body: bytes, most: int) -> int:
    """Return the number of strings, lists, objects and commas in JSON, up to `most`."""
    # A few functions for bytes: a pattern takes its time for each escape, and holds the event loop.
    parts = body.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"', 2 * most + 1)
    outside = b"".join(parts[::2])
    return len(parts) // 2 + sum(map(outside.count, (b",", b"[", b"{")))
