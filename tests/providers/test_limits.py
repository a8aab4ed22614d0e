import asyncio

import pytest

from deep_research.errors import (
    ConfigError,
    ContextTooLong,
    MalformedOutput,
    ModelError,
    ModelRateLimited,
    ProviderDown,
    Refused,
)
from deep_research.providers.provider_limits import Ceiling, Gate, gate_of, policy_for
from tests.support.clock import FakeClock


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_no_more_requests_than_allowed_and_in_order() -> None:
    gate = Gate(Ceiling(requests=2, at_first=2))
    running: list[int] = []
    ends = [asyncio.Event() for _ in range(5)]

    async def one(number: int) -> None:
        async with gate.slot(10):
            running.append(number)
            await ends[number].wait()

    async with asyncio.TaskGroup() as group:
        for number in range(5):
            group.create_task(one(number))
        await settle()
        assert running == [0, 1]
        ends[1].set()
        await settle()
        assert running == [0, 1, 2]
        assert gate.in_flight == 2
        for end in ends:
            end.set()
    assert running == [0, 1, 2, 3, 4]
    assert gate.in_flight == 0


async def test_tokens_in_flight_are_bounded_but_one_always_fits() -> None:
    gate = Gate(Ceiling(requests=9, at_first=9, tokens=100))
    async with gate.slot(500):
        waiting = asyncio.create_task(_pass_through(gate, 1))
        await settle()
        assert gate.in_flight == 1
    await waiting


async def _pass_through(gate: Gate, tokens: int) -> None:
    async with gate.slot(tokens):
        pass


async def test_one_that_gives_up_waiting_takes_no_place() -> None:
    gate = Gate(Ceiling(requests=1, at_first=1))
    async with gate.slot(1):
        waiting = asyncio.create_task(_pass_through(gate, 1))
        await settle()
        waiting.cancel()
        await settle()
    assert gate.in_flight == 0
    await asyncio.wait_for(_pass_through(gate, 1), 5)


async def test_a_place_given_to_one_that_is_cancelled_at_that_moment_is_passed_on() -> None:
    gate = Gate(Ceiling(requests=1, at_first=1))
    holding = gate.slot(1)
    await holding.__aenter__()
    first, second = (asyncio.create_task(_pass_through(gate, 1)) for _ in range(2))
    await settle()
    await holding.__aexit__(None, None, None)
    first.cancel()
    await asyncio.wait_for(second, 5)
    assert gate.in_flight == 0


async def test_429s_of_requests_in_flight_together_halve_once() -> None:
    hand = FakeClock()
    gate = Gate(Ceiling(requests=8, at_first=8), hand)
    for _ in range(3):
        gate.limited(started=hand.monotonic(), seconds=0)
    assert gate.allowed == 4


async def test_signs_from_before_the_last_halving_do_not_count() -> None:
    hand = FakeClock()
    gate = Gate(Ceiling(requests=8, at_first=8), hand)
    started = hand.monotonic()
    hand.advance(1)
    gate.limited(started=started, seconds=0)
    gate.limited(started=started, seconds=0)
    assert gate.allowed == 4
    hand.advance(1)
    gate.limited(started=hand.monotonic(), seconds=0)
    assert gate.allowed == 2
    for _ in range(100):
        gate.answered()
    assert gate.allowed == 8


async def test_a_closed_gate_opens_when_the_provider_said() -> None:
    hand = FakeClock()
    gate = Gate(clock=hand)
    gate.limited(started=hand.monotonic(), seconds=12)
    async with gate.slot(1) as started:
        assert started == 12
    assert hand.slept == [12]


async def test_nobody_waits_beyond_the_end_of_a_call() -> None:
    hand = FakeClock()
    gate = Gate(clock=hand)
    gate.limited(started=hand.monotonic(), seconds=3600)
    with pytest.raises(ModelRateLimited, match="3600 s"):
        async with gate.slot(1, until=hand.monotonic() + 60):
            pass
    assert hand.slept == []


def test_the_gate_of_a_provider_is_one_for_the_process() -> None:
    assert gate_of("limits-test") is gate_of("limits-test")
    assert gate_of("limits-test") is not gate_of("limits-other")


async def test_a_gate_serves_several_event_loops() -> None:
    gate = Gate(Ceiling(requests=1, at_first=1))

    def elsewhere() -> int:
        asyncio.run(_pass_through(gate, 1))
        return 1

    holding = gate.slot(1)
    await holding.__aenter__()
    waiting = asyncio.create_task(asyncio.to_thread(elsewhere))
    await settle()
    await holding.__aexit__(None, None, None)
    assert await asyncio.wait_for(waiting, 10) == 1


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (ModelRateLimited("x"), "wait"),
        (ProviderDown("x"), "retry"),
        (MalformedOutput("x"), "retry"),
        (Refused("x", reason="refusal"), "retry"),
        (Refused("x", reason="content_filter"), "fall_back"),
        (ContextTooLong("x"), "stop"),
        (ConfigError("x", reason="bad_key"), "stop"),
        (ConfigError("x", reason="no_credit"), "fall_back"),
        (ConfigError("x", reason="unknown_model"), "fall_back"),
        (ModelError("x"), "fall_back"),
    ],
)
def test_what_follows_each_error(error: ModelError, action: str) -> None:
    assert policy_for(error).action == action
