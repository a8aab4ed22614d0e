"""A stream that sends comments and no word of an answer, as a gateway does whose model has stalled."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from deep_research.providers import http_wire
from deep_research.providers.http_wire import HttpWire, WireFailure
from tests.support.scripted_http import HttpRequest, HttpResponse, LoopbackServer


async def _comments() -> AsyncIterator[bytes]:
    while True:
        yield b": PROCESSING, PROCESSING, PROCESSING\n\n"
        await asyncio.sleep(0.05)


async def test_a_stream_of_comments_alone_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_wire, "_LEAST_WORDLESS", 0.1)

    async def answer(_request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, _comments(), {}, "text/event-stream")

    server = LoopbackServer(answer)
    server.start()
    wire = HttpWire(f"http://127.0.0.1:{server.port}/v1", {}, timeout_seconds=0.4)
    try:
        with pytest.raises(WireFailure, match="nothing but comments") as failed:
            async for _ in wire.stream("/chat/completions", {"model": "m"}):
                pass
        assert failed.value.reason == "timeout"
    finally:
        await wire.close()
        server.close()
