"""Work that is done together, and work that waits until there is room."""

import asyncio
import threading

import pytest

from deep_research.concurrency import Backlog, Together


async def test_what_comes_meanwhile_is_done_in_one_go_and_fails_alone() -> None:
    batches: list[list[int]] = []
    may_go_on, has_begun, loop = threading.Event(), asyncio.Event(), asyncio.get_running_loop()

    def divide(numbers: "list[int]") -> "list[float | Exception]":
        batches.append(list(numbers))
        loop.call_soon_threadsafe(has_begun.set)
        may_go_on.wait(10)
        return [1 / number if number else ZeroDivisionError() for number in numbers]

    together = Together[int, float](divide)
    first = asyncio.create_task(together.do(1))
    await has_begun.wait()
    others = [asyncio.create_task(together.do(number)) for number in (2, 0, 4)]
    await asyncio.sleep(0)
    others[2].cancel()
    may_go_on.set()
    assert await first == 1
    assert await others[0] == 0.5
    with pytest.raises(ZeroDivisionError):
        await others[1]
    assert batches == [[1], [2, 0, 4]]


async def test_a_batch_that_fails_as_a_whole_fails_for_each() -> None:
    def fail(_items: object) -> list[int]:
        raise OSError("full")

    together = Together[int, int](fail)
    first, second = asyncio.create_task(together.do(1)), asyncio.create_task(together.do(2))
    for one in (first, second):
        with pytest.raises(OSError, match="full"):
            await one


async def test_nothing_waits_for_work_whose_task_was_cancelled() -> None:
    may_end, has_begun, loop = threading.Event(), asyncio.Event(), asyncio.get_running_loop()

    def work(items: "list[int]") -> "list[int]":
        loop.call_soon_threadsafe(has_begun.set)
        may_end.wait(10)
        return items

    together = Together[int, int](work)
    first = asyncio.create_task(together.do(1))
    own = {asyncio.current_task(), first}
    await asyncio.sleep(0)
    (doing,) = asyncio.all_tasks() - own
    await has_begun.wait()
    later = asyncio.create_task(together.do(2))
    await asyncio.sleep(0)
    doing.cancel()
    try:
        await asyncio.wait([first, later], timeout=10)
        assert first.cancelled()
        assert later.cancelled()
        may_end.set()
        assert await together.do(3) == 3
    finally:
        may_end.set()


async def test_nothing_more_is_taken_in_while_too_much_waits() -> None:
    backlog, begun, may_end = Backlog(100, expected=60), list[str](), asyncio.Event()

    async def take_in(name: str, size: int) -> None:
        async with backlog.taken_in() as measured:
            begun.append(name)
            measured(size)
            await may_end.wait()

    first = [asyncio.create_task(take_in(name, 60)) for name in ("a", "b")]
    await asyncio.sleep(0)
    later = asyncio.create_task(take_in("c", 10))
    gone = asyncio.create_task(take_in("d", 10))
    await asyncio.sleep(0)
    assert begun == ["a", "b"]
    gone.cancel()
    may_end.set()
    for one in (*first, later):
        await one
    assert begun == ["a", "b", "c"]


async def test_the_place_of_one_that_is_cancelled_while_it_is_let_in_goes_to_the_next() -> None:
    backlog, begun, may_end = Backlog(100, expected=120), list[str](), asyncio.Event()

    async def take_in(name: str) -> None:
        async with backlog.taken_in():
            begun.append(name)
            await may_end.wait()
        if name == "first":
            second.cancel()  # it has been let in and has not gone on yet

    first = asyncio.create_task(take_in("first"))
    second, third, fourth = (asyncio.create_task(take_in(name)) for name in ("second", "third", "fourth"))
    await asyncio.sleep(0)
    may_end.set()
    await asyncio.wait([first, third, fourth], timeout=10)
    assert begun == ["first", "third", "fourth"]
    assert second.cancelled()
