"""LangGraph's checkpoints in PostgreSQL, with its own saver; who has lost a run to another process writes none."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import psycopg
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from deep_research.stores.run_store import Guard
from deep_research_server.postgres.postgres_database import store_error

_SETTING_UP = 7_214_002
"""The number of the advisory lock under which one process makes the saver's tables."""
_TRIES = 600
_ready: set[str] = set()


class _GuardedSaver(AsyncPostgresSaver):
    """Checks the fence in the transaction of each write, and has the notes of the journal written before it."""

    guard: Guard | None = None

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[Any]:
        """Give a cursor; the saver asks for a pipeline where it writes."""
        guard = self.guard
        if guard is None or not pipeline:
            async with super()._cursor(pipeline=pipeline) as cursor:
                yield cursor
            return
        await asyncio.to_thread(guard.write_notes)
        async with super()._cursor(pipeline=True) as cursor, cursor.connection.transaction():
            if guard.fence is not None:
                await cursor.execute("SELECT deep_research.check_fence(%s, %s)", (guard.run_id, guard.fence))
            yield cursor


@asynccontextmanager
async def open_postgres_checkpoints(
    url: str, serde: JsonPlusSerializer, guard: Guard | None = None
) -> AsyncIterator[AsyncPostgresSaver]:
    """Give the saver on a connection of its own.

    Raises RunTakenOver when another process has taken the run over, StoreError when the database fails inside the block.
    """
    try:
        async with _GuardedSaver.from_conn_string(url, serde=serde) as saver:
            cast(_GuardedSaver, saver).guard = guard
            if url not in _ready:
                await _set_up(saver)
                _ready.add(url)
            yield saver
    except psycopg.Error as error:
        raise store_error(error) from error


async def _set_up(saver: AsyncPostgresSaver) -> None:
    """Make the tables. A process that waits for another must not sit in a statement: an index is made concurrently."""
    connection: Any = saver.conn
    for _ in range(_TRIES):
        taken = await (await connection.execute("SELECT pg_try_advisory_lock(%s) AS taken", (_SETTING_UP,))).fetchone()
        if taken["taken"]:
            break
        await asyncio.sleep(0.1)
    try:
        await saver.setup()
    finally:
        await connection.execute("SELECT pg_advisory_unlock(%s)", (_SETTING_UP,))
