"""Single flight: what is under way already is waited for, not started again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Flights(Generic[T]):
    """Work under way, by key. It has its own task: a waiter that is cancelled does not end it for the others,
    and only when nobody waits any more it is cancelled."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[T]] = {}
        self._waiting: dict[str, int] = {}

    async def run(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `make()` or of the same work under way. Its error goes to everybody who waits."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(make())
            task.add_done_callback(lambda done: self._landed(key, done))
        self._waiting[key] = self._waiting.get(key, 0) + 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]
                if not task.done():
                    self._tasks.pop(key, None)
                    task.cancel()

    def _landed(self, key: str, task: "asyncio.Task[T]") -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled():
            task.exception()  # seen, also when every waiter has gone
