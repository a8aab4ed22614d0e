"""The client over the scripted provider: retries, waits, fallbacks, accounting; no time passes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from deep_research.errors import ConfigError, ContextTooLong, ProviderDown, Refused
from deep_research.providers.model_client import CallRecord, ModelClient, OpenModel, Patience
from deep_research.providers.provider_catalog import open_model
from deep_research.providers.provider_limits import Gate
from tests.providers.served import KEYS, asking, serving
from tests.support import Reply, ScriptedProvider
from tests.support.clock import FakeClock


class Setup:
    def __init__(self, provider: ScriptedProvider) -> None:
        self.hand = FakeClock()
        self.records: list[CallRecord] = []
        self.gate = Gate(4, self.hand)
        self.url = provider.base_url
        self.client: ModelClient

    def model(self, name: str = "gpt-4o-mini", provider: str = "openai") -> OpenModel:
        return open_model(provider, name, keys=KEYS, base_url=self.url)


@asynccontextmanager
async def client_of(provider: ScriptedProvider, *names: str, **options: Any) -> AsyncIterator[Setup]:
    setup = Setup(provider)
    setup.client = ModelClient(
        [setup.model(name) for name in names or ("gpt-4o-mini",)],
        account=setup.records.append,
        clock=setup.hand,
        gates={"openai": setup.gate},
        jitter=lambda: 1.0,
        **options,
    )
    try:
        yield setup
    finally:
        await setup.client.close()


def faulty(*faults: str) -> list[Reply]:
    return [Reply(text="Good.", fault=fault) for fault in faults]


async def test_a_server_error_is_asked_again_with_growing_pauses() -> None:
    with ScriptedProvider(faulty("server_error", "server_error", "cut_stream", "")) as provider:
        async with client_of(provider) as setup:
            answer = await setup.client.complete(asking(), role="write")
    assert answer.text == "Good."
    assert setup.hand.slept == [0.5, 1.0, 2.0]
    assert [record.error for record in setup.records] == ["ProviderDown"] * 3 + [""]


async def test_a_pause_is_as_long_as_asked_and_told_before_it_begins() -> None:
    told: list[tuple[float, float]] = []
    with ScriptedProvider(faulty("rate_limited", "rate_limited", ""), retry_after_seconds=200) as provider:
        async with client_of(provider, on_wait=lambda _, *seconds: told.append(seconds)) as setup:
            await setup.client.complete(asking(), role="write")
    assert setup.hand.slept == [200, 200]
    assert told == [(0, 200), (200, 400)]


_WORDS = b'{"error": {"message": "Limit 100000 of tokens per day. Please try again in 59m38.016s.", "code": "rate_limit_exceeded"}}'


@pytest.mark.parametrize("headers", [{"retry-after": "3578"}, {}], ids=["header", "words"])
async def test_a_quota_is_not_waited_for_and_nothing_is_asked_before_it_is_free(headers: dict[str, str]) -> None:
    hand, told = FakeClock(), list[str]()
    with serving(_WORDS, status=429, headers=headers) as served:
        model = open_model("openai", "m", keys=KEYS, base_url=served.url)
        gates = {"openai": Gate(4, hand)}
        client = ModelClient([model], clock=hand, gates=gates, on_outage=lambda _, why: told.append(why))
        for number in range(3):
            with pytest.raises(ProviderDown, match=r"asks to wait until 20\d\d-.*UTC") as caught:
                await client.complete(asking(f"{number}"), role="write")
            assert caught.value.reason == "outage"
        assert (len(served.bodies), hand.slept, len(set(told))) == (1, [], 1)
        hand.advance(3_600)
        with pytest.raises(ProviderDown):
            await client.complete(asking(), role="write")
        assert len(served.bodies) == 2
        await client.close()


@pytest.mark.parametrize("fault", ["refusal", "insufficient_quota", "unknown_model", "server_error", "empty"])
async def test_another_model_stands_in(fault: str) -> None:
    def script(request: Any) -> Reply:
        return Reply(text="Good.", fault=fault if request["model"] == "gpt-4o" else "")

    with ScriptedProvider(script) as provider:
        async with client_of(provider, "gpt-4o", "gpt-4o-mini") as setup:
            answer = await setup.client.complete(asking(), role="write")
    assert answer.text == "Good."
    assert provider.calls[-1].request["model"] == "gpt-4o-mini"


@pytest.mark.parametrize(("fault", "kind"), [("bad_key", ConfigError), ("context_too_long", ContextTooLong)])
async def test_some_errors_stop_at_once(fault: str, kind: type[Exception]) -> None:
    with ScriptedProvider(lambda _: Reply(text="x", fault=fault)) as provider:
        async with client_of(provider, "gpt-4o", "gpt-4o-mini") as setup:
            with pytest.raises(kind):
                await setup.client.complete(asking(), role="write")
    assert len(provider.calls) == 1


async def test_what_is_paid_is_accounted_for_also_when_it_is_useless() -> None:
    with ScriptedProvider(faulty("empty", "refusal")) as provider:
        async with client_of(provider) as setup:
            with pytest.raises(Refused):
                await setup.client.complete(asking(), role="judge")
    assert [record.error for record in setup.records] == ["MalformedOutput", "Refused"]
    assert all(record.role == "judge" for record in setup.records)
    assert all(record.usage.prompt_tokens > 0 for record in setup.records)
    assert all((record.cost_usd or 0) > 0 for record in setup.records)


async def test_calls_beside_each_other_that_meet_with_silence_are_not_all_made_again() -> None:
    def replies(request: dict[str, Any]) -> Reply:
        return Reply(text="Good.", fault="" if "first" in str(request) else "timeout")

    with ScriptedProvider(replies) as provider:
        async with client_of(provider, patience=Patience(answer_seconds=0.5)) as setup:
            refused: list[str] = []

            async def ask(word: str) -> None:
                with pytest.raises(ProviderDown) as caught:
                    await setup.client.complete(asking(word), role="write")
                refused.append(caught.value.reason)

            await setup.client.complete(asking("first"), role="write")
            async with asyncio.TaskGroup() as group:
                for n in range(4):
                    group.create_task(ask(f"then {n}"))
            made = len(provider.calls)
            await ask("after")
            assert refused[-1] == "outage"
            assert len(provider.calls) == made <= 1 + 4 + 2


async def test_a_model_whose_calls_have_failed_is_left_alone_for_a_minute_and_then_tried_once() -> None:
    """Three calls of a server that has answered before fail; the fourth is not made, the one after a minute is."""
    with ScriptedProvider(
        lambda request: Reply(text="Good.", fault="" if "first" in str(request) else "server_error")
    ) as provider:
        async with client_of(provider) as setup:
            await setup.client.complete(asking("first"), role="write")

            async def fail(number: int) -> int:
                with pytest.raises(ProviderDown) as caught:
                    await setup.client.complete(asking(f"then {number}"), role="write")
                assert (caught.value.reason == "outage") == (number >= 2)
                return len(provider.calls)

            first, *others = [await fail(number) for number in range(5)]
            assert others == [first + 5, first + 10, first + 10, first + 10], (
                "patience is with a server, not with a call"
            )
            setup.hand.advance(61)
            assert [await fail(number) for number in range(5, 7)] == [first + 11, first + 11]


@pytest.mark.parametrize(("fault", "times"), [("overloaded", 10), ("server_error", 11), ("rate_limited", 10)])
async def test_a_server_that_has_answered_may_be_away_for_minutes(fault: str, times: int) -> None:
    with ScriptedProvider(faulty("", *[fault] * times, ""), retry_after_seconds=0.5) as provider:
        async with client_of(provider) as setup:
            for _ in range(2):
                answer = await setup.client.complete(asking(), role="write")
    assert answer.text == "Good."
    assert 100 < sum(setup.hand.slept) < 240


async def test_a_request_that_fails_with_500_where_another_is_answered_fails_soon_and_alone() -> None:
    """Nobody else asks meanwhile: the server is asked something small; what is asked next is not kept from it."""
    with ScriptedProvider(
        lambda request: Reply(text="Good.", fault="server_error" if "poison" in str(request) else "")
    ) as provider:
        async with client_of(provider) as setup:
            await setup.client.complete(asking(), role="research")
            for number in range(4):
                with pytest.raises(ProviderDown) as caught:
                    await setup.client.complete(asking(f"poison {number}"), role="research")
                assert caught.value.status == 500
            assert sum(setup.hand.slept) < 4 * 10
            answer = await setup.client.complete(asking("now"), role="write")
    assert answer.text == "Good."
    assert [record.answer.text for record in setup.records if record.answer] == ["Good.", "Good."]
