"""Work that waits until there is room."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from deep_research.concurrency import Backlog, held_beside


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


async def test_what_a_task_was_entering_when_it_was_cancelled_is_left() -> None:
    entering, may_enter, left, threads = threading.Event(), threading.Event(), asyncio.Event(), set[int]()
    loop = asyncio.get_running_loop()

    @contextmanager
    def slow() -> Iterator[None]:
        entering.set()
        may_enter.wait(30)
        threads.add(threading.get_ident())
        yield
        threads.add(threading.get_ident())
        loop.call_soon_threadsafe(left.set)

    async def hold() -> None:
        async with held_beside(slow()):
            pass

    holding = asyncio.create_task(hold())
    await asyncio.to_thread(entering.wait, 30)  # the loop goes on meanwhile
    holding.cancel()
    await asyncio.wait([holding])
    may_enter.set()
    await asyncio.wait_for(left.wait(), 30)
    assert holding.cancelled()
    assert threading.get_ident() not in threads
