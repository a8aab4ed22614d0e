"""The way to an MCP server over HTTP: its own headers, no proxy from the environment, bodies of bounded size."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from deep_research.data.tools import McpServer

if TYPE_CHECKING:
    from mcp.client._transport import Transport

_MOST_BYTES = 32 * 1024 * 1024
_MOST_EVENT_BYTES = 8 * 1024 * 1024


def open_http(
    server: McpServer, stack: AsyncExitStack, *, proxy: str, on_status: Callable[[int], object]
) -> "Transport":
    """Return the transport to `server`; `on_status` is told the status of every answer. Closed with `stack`."""
    timeout = httpx2.Timeout(server.timeout_seconds, connect=min(server.timeout_seconds, 10.0))
    transport = _Bounded(proxy=proxy or None, trust_env=False)

    async def note(response: httpx2.Response) -> None:
        # Streams for messages of the server, and the end of a session, may be refused.
        if response.request.method == "POST":
            on_status(response.status_code)

    client = httpx2.AsyncClient(
        headers=server.headers,
        timeout=timeout,
        transport=transport,
        trust_env=False,
        event_hooks={"response": [note]},
    )
    stack.push_async_callback(client.aclose)
    return streamable_http_client(server.url, http_client=client, max_sse_event_size=_MOST_EVENT_BYTES)


class _Bounded(httpx2.AsyncHTTPTransport):
    """A transport whose bodies end in an error when they are too long."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        response.stream = _BoundedStream(response.stream)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for part in self._inner:
            taken += len(part)
            if taken > _MOST_BYTES:
                raise httpx2.StreamError(f"the answer is longer than {_MOST_BYTES:,} bytes")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
