"""A server that closes each connection without a word when it is used a second time, as proxies do with idle ones."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass
class Closing:
    """What has happened: requests that were answered, and those that met with a closed connection."""

    port: int = 0
    answered: int = 0
    dropped: int = 0


@asynccontextmanager
async def closing_server(body: bytes) -> AsyncIterator[Closing]:
    """Answer the first request of each connection with the JSON `body`; read the second, and close."""
    seen = Closing()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _read(reader)
            seen.answered += 1
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
            writer.write(head + body)
            await writer.drain()
            await _read(reader)
            seen.dropped += 1
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    seen.port = server.sockets[0].getsockname()[1]
    try:
        yield seen
    finally:
        server.close()


async def _read(reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length or 0))
