"""Transports of httpx clients that unpack answers, bound their size and time.

httpx unpacks each piece whole and counts nothing, and its timeouts are those of silence.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from deep_research.errors import Unreadable
from deep_research.protocol.content_decoding import ACCEPTED, MOST_OF_AN_ERROR, Decoder
from deep_research.protocol.message_bounds import EVENT_END, MessageBounds, Messages


class AnswerLimits(NamedTuple):
    """The most bytes of an unpacked body (of an error 64 kB), seconds of an exchange.

    A GET has no deadline: over it MCP servers send messages as long as the session lasts. With a `session` each message
    is held to its bounds, and given whole.
    """

    most_bytes: int
    seconds: float
    session: MessageBounds | None = None


class _Answer:
    """The body of one answer while it comes in; raises the errors of `library`."""

    def __init__(self, library: Any, request: Any, limits: AnswerLimits) -> None:
        self._library, self._request, self._limits = library, request, limits
        loop = asyncio.get_running_loop()
        self._deadline = None if request.method == "GET" else loop.time() + limits.seconds

    async def in_time(self, work: Any) -> Any:
        try:
            async with asyncio.timeout_at(self._deadline):
                return await work
        except TimeoutError as error:
            message = f"the answer was not complete after {self._limits.seconds:g} seconds"
            raise self._library.ReadTimeout(message, request=self._request) from error

    async def read(
        self, packed: Any, encoding: str, messages: Messages | None, *, is_error: bool
    ) -> AsyncIterator[bytes]:
        """Yield the unpacked body; raise StreamError if it is too long or damaged."""
        left = MOST_OF_AN_ERROR if is_error else self._limits.most_bytes
        try:
            decoder, parts = Decoder(encoding, str(self._request.url.copy_with(query=None))), aiter(packed)
            while (part := await self.in_time(anext(parts, None))) is not None:
                await asyncio.sleep(0)  # a thousand short pieces that are there already are given without a turn
                for piece in decoder.feed(part):
                    if len(piece) > left and not is_error:
                        raise Unreadable(f"the answer is longer than {self._limits.most_bytes:,} bytes")
                    for message in messages.feed(piece[:left]) if messages else (piece[:left],):
                        yield message
                    left -= len(piece)
                    if left <= 0 and is_error:
                        return
            decoder.finish()
            for message in messages.finish() if messages else ():
                yield message
        except Unreadable as error:
            if is_error:
                return
            if self._limits.session:
                self._limits.session.refuse(error)
            if error.reason == "truncated":
                raise self._library.RemoteProtocolError(error.message, request=self._request) from error
            raise self._library.StreamError(error.message) from error


def bounded_transport(library: Any, limits: AnswerLimits, /, **options: Any) -> Any:
    """Return a transport of `library` (httpx or httpx2) that keeps `limits`."""

    class Stream(library.AsyncByteStream):
        def __init__(self, inner: Any, pieces: AsyncIterator[bytes]) -> None:
            self._inner, self._pieces = inner, pieces

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._pieces

        async def aclose(self) -> None:
            await self._inner.aclose()

    class Transport(library.AsyncHTTPTransport):
        async def handle_async_request(self, request: Any) -> Any:
            request.headers["accept-encoding"] = ACCEPTED
            answer, session, messages = _Answer(library, request, limits), limits.session, None
            response = await answer.in_time(super().handle_async_request(request))
            encoding = response.headers.pop("content-encoding", "")
            if encoding:
                response.headers.pop("content-length", None)
            if session:
                media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
                response.headers["content-type"] = media  # in another charset the end of a line would be another
                messages = Messages(session, EVENT_END if media == "text/event-stream" else None, limits.most_bytes)
            pieces = answer.read(response.stream, encoding, messages, is_error=response.status_code >= 300)
            response.stream = Stream(response.stream, pieces)
            return response

    return Transport(**options)
