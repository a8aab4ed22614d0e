"""Whether work leaves others their turn, in shares of what it computes: no machine is too slow for that."""

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

TOO_LONG = 0.4
"""Share of a piece of work that may pass without a turn for others; what yields to nobody takes nearly all."""
_EVERY = 0.01  # s


class _Turns:
    """The times, in seconds of this process's computing, between turns of somebody else."""

    def __init__(self) -> None:
        self._before = time.process_time()
        self._held_up = [0.0]

    def note(self) -> None:
        now = time.process_time()
        self._held_up.append(now - self._before)
        self._before = now

    def shares(self) -> list[float]:
        whole = max(sum(self._held_up), 0.001)
        return [seconds / whole for seconds in self._held_up]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Collect no garbage meanwhile: all that a process of tests keeps takes most of a second in one go."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def turns_of_others() -> Iterator[list[float]]:
    """Give, once the work has ended, the shares of its computing that passed before another thread had its turn."""
    ended, turns, shares = threading.Event(), _Turns(), list[float]()

    def watch() -> None:
        while not ended.wait(_EVERY):
            turns.note()

    watching = threading.Thread(target=watch)
    with _no_collection():
        watching.start()
        try:
            yield shares
        finally:
            ended.set()
            watching.join()
            shares += turns.shares()


@asynccontextmanager
async def turns_of_tasks() -> AsyncIterator[list[float]]:
    """Give, once the work has ended, the shares of its computing that passed before another task had its turn."""
    turns, shares = _Turns(), list[float]()

    async def watch() -> None:
        while True:
            await asyncio.sleep(_EVERY)
            turns.note()

    with _no_collection():
        watching = asyncio.create_task(watch())
        try:
            yield shares
        finally:
            turns.note()
            watching.cancel()
            shares += turns.shares()
