"""Work done side by side."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

_T = TypeVar("_T")


async def side_by_side(work: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """Return the results in order. The first error of the work is raised as itself, not as a group; the rest is
    cancelled."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    return [task.result() for task in tasks]
