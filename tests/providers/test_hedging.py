"""Calls that take far longer than usual: a second request beside them, and an end for servers that drip."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from deep_research.errors import ProviderDown
from deep_research.providers.model_client import HEDGED, CallRecord, ModelClient, Patience
from deep_research.providers.provider_catalog import open_model
from deep_research.providers.provider_limits import Ceiling, Gate
from tests.providers.served import KEYS, asking
from tests.support import Reply, ScriptedProvider
from tests.support.clock import FakeClock

HEDGING = Patience(hedge_factor=2.5, hedge_seconds=0.2)
QUICK = Reply(text="Good.")
STUCK = Reply(text="Too late.", latency_seconds=60.0)


@asynccontextmanager
async def hedging(
    provider: ScriptedProvider, patience: Patience = HEDGING, requests: int = 8
) -> AsyncIterator[tuple[ModelClient, list[CallRecord]]]:
    records: list[CallRecord] = []
    model = open_model("openai", "gpt-4o-mini", keys=KEYS, base_url=provider.base_url)
    gate = Gate(Ceiling(requests=requests, at_first=requests))
    client = ModelClient([model], account=records.append, patience=patience, gates={"openai": gate})
    try:
        yield client, records
    finally:
        await client.close()


async def _answer(client: ModelClient, number: int) -> str:
    return (await client.complete(asking(f"Question {number}"), role="write")).text


async def test_a_call_that_takes_far_longer_than_usual_is_made_a_second_time() -> None:
    with ScriptedProvider([QUICK] * 5 + [STUCK] + [QUICK] * 5) as provider:
        async with hedging(provider) as (client, records):
            for number in range(5):
                await _answer(client, number)
            began = time.monotonic()
            assert await _answer(client, 6) == "Good."
            assert time.monotonic() - began < 20
    assert len(provider.calls) == 7
    assert provider.calls[5].digest == provider.calls[6].digest
    assert provider.duplicates == 0
    assert [record.error for record in records] == [""] * 6 + [HEDGED]
    assert records[-1].usage.prompt_tokens > 0
    assert records[-1].usage.completion_tokens == 0


async def test_the_slow_one_may_still_be_first_and_both_are_accounted_for() -> None:
    slow = Reply(text="Slow.", latency_seconds=1.0)
    with ScriptedProvider([QUICK] * 5 + [slow, STUCK]) as provider:
        async with hedging(provider) as (client, records):
            for number in range(5):
                await _answer(client, number)
            assert await _answer(client, 6) == "Slow."
    assert sorted(record.error for record in records) == [""] * 6 + [HEDGED]


@pytest.mark.parametrize(
    ("patience", "before", "requests"),
    [(HEDGING, 2, 8), (Patience(), 6, 8), (HEDGING, 6, 1)],
    ids=["too few calls to know", "switched off", "no room at the provider"],
)
async def test_a_call_that_is_waited_for(patience: Patience, before: int, requests: int) -> None:
    late = Reply(text="Late.", latency_seconds=1.2)
    with ScriptedProvider([QUICK] * before + [late, STUCK]) as provider:
        async with hedging(provider, patience, requests) as (client, _):
            for number in range(before):
                await _answer(client, number)
            assert await _answer(client, 9) == "Late."
    assert len(provider.calls) == before + 1


async def test_when_everything_has_become_slow_only_some_calls_are_made_twice() -> None:
    late = Reply(text="Late.", latency_seconds=1.0)
    with ScriptedProvider([QUICK] * 5 + [late] * 40) as provider:
        async with hedging(provider, requests=40) as (client, _):
            for number in range(5):
                await _answer(client, number)
            async with asyncio.TaskGroup() as group:
                for number in range(10, 25):
                    group.create_task(_answer(client, number))
    assert 20 < len(provider.calls) <= 25


async def test_a_hedge_that_fails_leaves_the_first_attempt_alone() -> None:
    late = Reply(text="Late.", latency_seconds=1.2)
    with ScriptedProvider([QUICK] * 5 + [late, Reply(fault="server_error")]) as provider:
        async with hedging(provider) as (client, records):
            for number in range(5):
                await _answer(client, number)
            assert await _answer(client, 6) == "Late."
    assert [record.error for record in records] == [""] * 5 + ["ProviderDown", ""]


async def test_a_cancelled_call_leaves_no_request_behind() -> None:
    with ScriptedProvider([QUICK] * 5 + [STUCK, STUCK]) as provider:
        async with hedging(provider) as (client, _):
            for number in range(5):
                await _answer(client, number)
            task = asyncio.create_task(_answer(client, 6))
            async with asyncio.timeout(20):
                while len(provider.calls) < 7:  # noqa: ASYNC110 - the server is another thread
                    await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.wait({task})
            assert task.cancelled()
            assert client._gate("openai").in_flight == 0


async def test_a_call_that_fails_while_others_are_answered_is_asked_again_without_long_pauses() -> None:
    hand = FakeClock()

    def script(request: dict) -> Reply:
        return Reply(fault="server_error") if "Poison" in request["prompt"] else Reply(text="Good.")

    with ScriptedProvider(script, latency_seconds=0.05) as provider:
        model = open_model("openai", "gpt-4o-mini", keys=KEYS, base_url=provider.base_url)
        gate = Gate(Ceiling(requests=9, at_first=9), hand)
        client = ModelClient([model], clock=hand, gates={"openai": gate}, jitter=lambda: 1.0)

        async def others() -> None:
            for number in range(30):
                await _answer(client, number)

        beside = asyncio.create_task(others())
        with pytest.raises(ProviderDown):
            await client.complete(asking("Poison"), role="write")
        await beside
        await client.close()
    assert sum("Poison" in call.request["prompt"] for call in provider.calls) == 5
    assert sum(hand.slept) < 0.5 + 1.0 + 4.0


async def test_a_server_that_has_only_failed_is_left_alone_and_tried_once_a_minute() -> None:
    hand = FakeClock()
    with ScriptedProvider(lambda _: Reply(fault="server_error")) as provider:
        model = open_model("openai", "gpt-4o-mini", keys=KEYS, base_url=provider.base_url)
        client = ModelClient([model], clock=hand, gates={"openai": Gate(clock=hand)})
        for number in range(6):
            with pytest.raises(ProviderDown):
                await client.complete(asking(f"Question {number}"), role="write")
        assert len(provider.calls) == 5
        await hand.sleep(61)
        for number in range(6, 9):
            with pytest.raises(ProviderDown):
                await client.complete(asking(f"Question {number}"), role="write")
        await client.close()
    assert len(provider.calls) == 5 + 1


@pytest.mark.parametrize("part", ["head", "body", "error"])
async def test_a_server_that_sends_one_byte_after_the_other_is_a_silent_one(part: str) -> None:
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
    assert time.monotonic() - began < 20
    await model.close()
    server.close()
