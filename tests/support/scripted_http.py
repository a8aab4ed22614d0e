"""A small HTTP/1.1 server on a loopback port, in a thread of its own, for scripted answers."""

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import NamedTuple


class HttpRequest(NamedTuple):
    """A request as received; header names are lower-case, `port` is the client's end of the connection."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    query: str = ""
    port: int = 0


class HttpResponse(NamedTuple):
    """An answer; `body` is sent whole, or piece by piece as a chunked stream. `on_sent` is called when all of it is sent."""

    status: int
    body: bytes | AsyncIterator[bytes]
    headers: Mapping[str, str] = {}
    content_type: str = "application/json"
    on_sent: Callable[[], object] = lambda: None


class CutShort(Exception):
    """Raised by a stream (or a handler) to break the connection in the middle of an answer.

    `sent` is what a whole answer had already sent before the break.
    """

    def __init__(self, sent: bytes = b"") -> None:
        super().__init__("the connection is cut on purpose")
        self.sent = sent


Handler = Callable[[HttpRequest], Awaitable[HttpResponse]]


class LoopbackServer:
    """Serves `handler` on 127.0.0.1 until closed; safe to use from any thread or event loop."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._server: asyncio.Server | None = None
        self.port = 0

    def start(self) -> None:
        """Start listening; `port` is set when this returns."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="scripted", daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**26)

    def close(self) -> None:
        """Break all connections and stop."""
        if self._loop is None or self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._shut_down(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        self._loop = self._thread = None

    async def _shut_down(self) -> None:
        if self._server:
            self._server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.wait(others, timeout=5) if others else None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            port = writer.get_extra_info("peername")[1]
            while request := await _read(reader):
                try:
                    response = await self._handler(request._replace(port=port))
                    await _write(writer, response)
                    response.on_sent()
                except CutShort as cut:
                    writer.write(cut.sent)
                    await writer.drain()
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            with contextlib.suppress(ConnectionError, RuntimeError):
                writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()


@contextlib.contextmanager
def listening(handler: Handler) -> Iterator[str]:
    """Serve `handler` and give its address."""
    server = LoopbackServer(handler)
    server.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.close()


async def _read(reader: asyncio.StreamReader) -> HttpRequest | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    path, _, query = path.partition("?")
    return HttpRequest(method, path, headers, body, query)


def _head(response: HttpResponse, framing: str) -> bytes:
    lines = [f"HTTP/1.1 {response.status} Scripted", f"content-type: {response.content_type}", framing]
    lines += [f"{name}: {value}" for name, value in response.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _write(writer: asyncio.StreamWriter, response: HttpResponse) -> None:
    if isinstance(response.body, bytes):
        writer.write(_head(response, f"content-length: {len(response.body)}") + response.body)
        await writer.drain()
        return
    writer.write(_head(response, "transfer-encoding: chunked"))
    async for piece in response.body:
        writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def json_response(status: int, body: object, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Return an answer with a JSON body."""
    return HttpResponse(status, json.dumps(body, ensure_ascii=False).encode(), headers or {})


def half_of(response: HttpResponse) -> CutShort:
    """Return the break after half of a whole answer, whose head promised all of it."""
    body = response.body if isinstance(response.body, bytes) else b""
    return CutShort(_head(response, f"content-length: {len(body)}") + body[: len(body) // 2])
