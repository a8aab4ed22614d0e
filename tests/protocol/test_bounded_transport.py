"""Every client against servers that send too much: bodies without end, and small ones that unpack to a gigabyte."""

import asyncio
import contextlib
import json
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import httpx
import pytest

from deep_research.data.outside_tools import McpServer
from deep_research.errors import ResearchError, Unreadable
from deep_research.fetch.address_guard import Guard
from deep_research.fetch.addresses import parse_address
from deep_research.fetch.fetch_policies import FetchLimits
from deep_research.fetch.transport import Transport
from deep_research.mcp.mcp_connection import McpConnection
from deep_research.protocol.bounded_transport import AnswerLimits, bounded_transport
from deep_research.protocol.message_bounds import MessageBounds
from deep_research.providers import http_wire
from deep_research.providers.http_wire import HttpWire, WireFailure
from deep_research.providers.rankers import WireRanker, open_ranker
from tests.support.scripted_http import HttpRequest, HttpResponse, listening

T = TypeVar("T", HttpWire, WireRanker, McpConnection, Transport)
Ask = Callable[[str], Awaitable[None]]
_PIECE = b" " * 65_536
_MOST_MEMORY = 120 * 2**20
"""What 32 MB of an answer take as pieces, as bytes and as text; a bomb takes the gigabyte that it unpacks to."""
_MOST_SENT = 64 * 2**20
"""What a server gets rid of before the client has had enough: 32 MB at most, and what lies in the system's buffers."""


def _bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b" " * 2**20) for _ in range(1024)), packer.flush()])


BOMB = _bomb()


class Flood:
    """A server that sends too much; `sent` is how many bytes it got rid of."""

    def __init__(self, status: int, kind: str) -> None:
        self.status, self.kind, self.sent, self.asked = status, kind, 0, 0
        self.url = ""

    async def answer(self, _request: HttpRequest) -> HttpResponse:
        """Answer with a bomb, a body without end, or one byte every tenth of a second."""
        self.asked += 1
        if self.kind == "bomb":
            return HttpResponse(self.status, BOMB, {"content-encoding": "gzip"})
        return HttpResponse(self.status, self._pieces())

    async def _pieces(self) -> AsyncIterator[bytes]:
        while self.sent < 2**31:
            piece = _PIECE if self.kind == "endless" else b" "
            await asyncio.sleep(0 if self.kind == "endless" else 0.05)
            self.sent += len(piece)
            yield piece


@contextmanager
def flooding(status: int, kind: str) -> Iterator[Flood]:
    flood = Flood(status, kind)
    with listening(flood.answer) as flood.url:
        yield flood


@asynccontextmanager
async def _closing(client: T) -> AsyncIterator[T]:
    try:
        yield client
    finally:
        await client.close()


async def _ask_model(url: str) -> None:
    async with _closing(HttpWire(url, {}, timeout_seconds=20)) as wire:
        await wire.post("/v1/chat", {"a": 1})


async def _stream_model(url: str) -> None:
    async with _closing(HttpWire(url, {}, timeout_seconds=20)) as wire:
        async for _ in wire.stream("/v1/chat", {"a": 1}):
            pass


async def _ask_ranker(url: str) -> None:
    async with _closing(open_ranker("jina", {"JINA_API_KEY": "x"}, base_url=url)) as ranker:
        await ranker._once("question", ["text"])


async def _ask_mcp(url: str) -> None:
    server = McpServer.model_validate({"url": url, "timeout_seconds": 20})
    async with _closing(McpConnection("x", server)) as connection:
        await connection.open()


async def _ask_source(url: str) -> None:
    async with _closing(Transport(Guard(allowed=("127.0.0.1:*",)))) as transport:
        answer = await transport.send(parse_address(url), limits=FetchLimits())
        json.loads(answer.body)


CLIENTS = [_ask_model, _stream_model, _ask_ranker, _ask_mcp, _ask_source]


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("ask", CLIENTS, ids=lambda ask: ask.__name__)
async def test_what_unpacks_to_a_gigabyte_costs_no_gigabyte(ask: Ask, status: int) -> None:
    with flooding(status, "bomb") as flood:
        tracemalloc.start()
        try:
            await _fails_or_is_done(ask, flood, status)
            assert tracemalloc.get_traced_memory()[1] < (_MOST_MEMORY if status == 200 else 16 * 2**20)
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("ask", CLIENTS, ids=lambda ask: ask.__name__)
async def test_a_body_without_end_ends(ask: Ask, status: int) -> None:
    with flooding(status, "endless") as flood:
        await _fails_or_is_done(ask, flood, status)
        assert flood.sent < (_MOST_SENT if status == 200 else 30 * 2**20)


async def _fails_or_is_done(ask: Ask, flood: Flood, status: int) -> None:
    with contextlib.suppress(ResearchError, WireFailure, ValueError):
        await ask(flood.url)
        assert status == 500, "an answer of blanks is none"
    assert flood.asked


async def test_an_answer_that_drips_has_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_wire, "_LEAST_SECONDS", 0.5)
    monkeypatch.setattr(http_wire, "_SILENCES", 0)
    with flooding(200, "drip") as flood, pytest.raises(WireFailure) as failed:
        await _ask_model(flood.url)
    assert failed.value.reason == "timeout"


async def _get(status: int, body: bytes, encoding: str, *, most: int = 1_000_000) -> httpx.Response:
    async def answer(_request: HttpRequest) -> HttpResponse:
        return HttpResponse(status, body, {"content-encoding": encoding} if encoding else {})

    with listening(answer) as url:
        async with httpx.AsyncClient(transport=bounded_transport(httpx, AnswerLimits(most, 30))) as client:
            return await client.post(url)


def _packed(body: bytes, window: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, window)
    return packer.compress(body) + packer.flush()


@pytest.mark.parametrize(
    ("body", "encoding"), [(b"{}", ""), (_packed(b"{}", 31), "gzip"), (_packed(b"{}", 15), "deflate")]
)
async def test_an_answer_comes_through_as_it_was_meant(body: bytes, encoding: str) -> None:
    answer = await _get(200, body, encoding)
    assert (answer.status_code, answer.content) == (200, b"{}")
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("body", "encoding", "told"),
    [
        (b"x" * 11, "", "longer than 10 bytes"),
        (_packed(b"x" * 11, 31), "gzip", "longer than 10 bytes"),
        (b"{}", "br", "not asked for"),
        (b"not gzip", "gzip", "damaged"),
        (_packed(b"x" * 9, 31)[:-9], "gzip", "in the middle"),
    ],
)
async def test_what_cannot_be_read_is_an_error(body: bytes, encoding: str, told: str) -> None:
    with pytest.raises((httpx.StreamError, httpx.RemoteProtocolError), match=told):
        await _get(200, body, encoding, most=10)


@pytest.mark.parametrize(("body", "encoding"), [(b"why", "br"), (b"why", "gzip"), (_packed(b"why", 31)[:-9], "gzip")])
async def test_the_body_of_an_error_may_be_damaged(body: bytes, encoding: str) -> None:
    assert (await _get(503, body, encoding)).status_code == 503


async def test_of_an_event_stream_so_many_events_are_taken() -> None:
    async def ping(_request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, b"event: message\ndata: {}\n\n" * 5_000, content_type="text/event-stream")

    async def read(url: str, session: MessageBounds | None) -> int:
        transport = bounded_transport(httpx, AnswerLimits(10**6, 30, session))
        async with httpx.AsyncClient(transport=transport, timeout=20) as client:
            return len((await client.get(url)).content)

    refused: list[Unreadable] = []
    with listening(ping) as url:
        assert await read(url, None) == await read(url, MessageBounds(5_001, 10, refused.append))
        with pytest.raises(httpx.StreamError, match="more than 100 messages"):
            await read(url, MessageBounds(100, 10, refused.append))
    assert [error.given_up for error in refused] == [True]
