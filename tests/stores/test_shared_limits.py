"""Limits that hold for all processes on one database, counted at the server: each client stands for a worker."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.providers.served import KEYS, asking
from tests.support import Reply, ScriptedProvider

from deep_research.concurrency import Rate
from deep_research.errors import ProviderDown, RateLimited
from deep_research.fetch.fetch_policies import HostPace
from deep_research.providers.model_client import ModelClient, Patience
from deep_research.providers.provider_catalog import open_model
from deep_research.providers.provider_limits import Gate
from deep_research_server.postgres.postgres_database import PostgresLimits

pytest.importorskip("psycopg", reason="no PostgreSQL here: pip install 'deep-research[postgres]'")
pytestmark = pytest.mark.process


@asynccontextmanager
async def workers(
    url: str, provider: ScriptedProvider, count: int, requests: int = 3
) -> AsyncIterator[list[ModelClient]]:
    """Give clients of which each has a gate and a session of its own, as in processes of their own."""
    clients = [
        ModelClient(
            [open_model("openai", "gpt-4o-mini", keys=KEYS, base_url=provider.base_url)],
            gates={"openai": Gate(requests, name="openai test", shared=PostgresLimits(url))},
            patience=Patience(call_seconds=30),
            jitter=lambda: 0.0,
        )
        for _ in range(count)
    ]
    try:
        yield clients
    finally:
        for client in clients:
            await client.close()


async def known(name: str, url: str) -> None:
    """Wait until the database knows that something of that name is closed."""
    async with asyncio.timeout(10):
        while not await PostgresLimits(url).closed(name):  # noqa: ASYNC110 - another process could do it
            await asyncio.sleep(0.02)


async def test_requests_in_flight_are_limited_over_all_workers(url: str) -> None:
    with ScriptedProvider(lambda _: Reply(text="Good.", latency_seconds=0.05)) as provider:
        async with workers(url, provider, 3) as clients, asyncio.TaskGroup() as group:
            for number in range(18):
                group.create_task(clients[number % 3].complete(asking(str(number)), role="write"))
        assert len(provider.calls) == 18
        assert provider.peak_in_flight == 3


async def test_a_pause_that_one_was_told_is_kept_by_all(url: str) -> None:
    replies = iter([Reply(fault="rate_limited")])
    with ScriptedProvider(lambda _: next(replies, "Good.")) as provider:
        async with workers(url, provider, 2) as (first, second):
            told = asyncio.create_task(first.complete(asking("one"), role="write"))
            await known("openai test", url)
            await second.complete(asking("two"), role="write")
            await told
        refused, *later = provider.calls
        assert len(later) == 2
        assert min(call.started for call in later) - refused.started > 0.95


async def test_a_model_that_one_found_down_is_not_asked_by_the_others(url: str) -> None:
    with ScriptedProvider(lambda _: Reply(fault="server_error")) as provider:
        async with workers(url, provider, 2) as (first, second):
            first._patience = Patience(call_seconds=0.4)
            with pytest.raises(ProviderDown):
                await first.complete(asking("one"), role="write")
            await known("openai test", url)
            asked = len(provider.calls)
            assert asked > 0
            with pytest.raises(ProviderDown):
                await second.complete(asking("two"), role="write")
        assert len(provider.calls) == asked


async def test_turns_at_a_host_are_taken_by_all(url: str) -> None:
    paces = [HostPace(Rate(10), shared=PostgresLimits(url)) for _ in range(2)]
    begun: list[float] = []

    async def ask(pace: HostPace) -> None:
        async with pace.turn("a.test"):
            begun.append(time.monotonic())

    asked = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(ask(paces[number % 2]))
    # Measured from before the first turn: a busy machine may begin a turn late, never before its time.
    assert max(begun) - asked > 0.65
    paces[0].hold("a.test", 100)
    await known("host a.test", url)
    with pytest.raises(RateLimited, match="another 100 seconds"):
        await ask(paces[1])
