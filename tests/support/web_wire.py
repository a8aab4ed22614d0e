"""HTTP/1.1 on a socket, as little as the fake web needs: it must also be able to break the rules."""

import asyncio
from dataclasses import dataclass

from tests.support.web_answers import SeenRequest, WebAnswer


@dataclass(frozen=True, slots=True)
class Wire:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, answer: WebAnswer) -> bool:
        """Send an answer; False when the connection cannot be used any more."""
        if answer.drop:
            return False
        if answer.hang:
            await self.reader.read()  # until the client gives up
            return False
        length = len(answer.body) if answer.promised is None else answer.promised
        framing = {} if answer.chunks else {"content-length": str(length)}
        whole = answer.chunks is None and answer.promised is None
        self._head(answer, {**framing, "connection": "keep-alive" if whole else "close"})
        if answer.chunks is None:
            self.writer.write(b"" if answer.status in (204, 304) else answer.body)
            await self.writer.drain()
            return whole
        for piece in answer.chunks():
            self.writer.write(piece)
            await self.writer.drain()
            await asyncio.sleep(answer.pause)
        self.writer.write_eof()
        return False

    def end(self) -> None:
        """Close the connection, after what was sent has been sent."""
        self.writer.close()

    def _head(self, answer: WebAnswer, framing: dict[str, str]) -> None:
        headers = {**framing, **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} Fake", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        self.writer.write("\r\n".join(lines).encode("utf-8"))


async def read_request(wire: Wire) -> SeenRequest | None:
    """Read one request with its body, or None when the client has closed the connection."""
    try:
        head = await wire.reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
    body = await wire.reader.readexactly(int(headers.get("content-length", "0")))
    port = wire.writer.get_extra_info("peername")[1]
    return SeenRequest(method, headers.get("host", ""), target, headers, body, port)
