import asyncio

from deep_research.providers.provider_limits import Gate


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_no_more_requests_than_allowed_and_in_order() -> None:
    gate = Gate(2)
    running: list[int] = []
    ends = [asyncio.Event() for _ in range(5)]

    async def one(number: int) -> None:
        async with gate.slot():
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
        for end in ends:
            end.set()
    assert running == [0, 1, 2, 3, 4]
    async with gate.slot(), gate.slot():  # both places are free again
        pass


async def _pass_through(gate: Gate) -> None:
    async with gate.slot():
        pass


async def test_a_place_given_to_one_that_is_cancelled_at_that_moment_is_passed_on() -> None:
    gate = Gate(1)
    holding = gate.slot()
    await holding.__aenter__()
    first, second = (asyncio.create_task(_pass_through(gate)) for _ in range(2))
    await settle()
    await holding.__aexit__(None, None, None)
    first.cancel()
    await asyncio.wait_for(second, 5)
    await asyncio.wait_for(_pass_through(gate), 5)


async def test_a_gate_serves_several_event_loops() -> None:
    gate = Gate(1)

    def elsewhere() -> int:
        asyncio.run(_pass_through(gate))
        return 1

    holding = gate.slot()
    await holding.__aenter__()
    waiting = asyncio.create_task(asyncio.to_thread(elsewhere))
    await settle()
    await holding.__aexit__(None, None, None)
    assert await asyncio.wait_for(waiting, 10) == 1
