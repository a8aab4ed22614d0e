"""Servers that drip are silent ones."""

import asyncio
import time

import pytest

from deep_research.errors import ProviderDown
from deep_research.providers.provider_catalog import open_model
from tests.providers.served import KEYS, asking


async def test_a_server_that_sends_one_byte_after_the_other_is_a_silent_one() -> None:
    async with asyncio.TaskGroup() as group:
        for part in ("head", "body", "error"):
            group.create_task(_assert_silent(part))


async def _assert_silent(part: str) -> None:
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    head %= b"500 No" if part == "error" else b"200 OK"

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            if part != "head":
                writer.write(head)
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"y" * 1000:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.1)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    model = open_model("openai", "gpt-4o-mini", keys=KEYS, base_url=url, timeout_seconds=0.5)
    began = time.monotonic()
    with pytest.raises(ProviderDown) as caught:
        await model.complete(asking())
    assert caught.value.reason == "timeout"
    assert time.monotonic() - began < 60
    await model.close()
    server.close()
