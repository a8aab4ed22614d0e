"""PostgreSQL for deep-research: the entry point of `deep_research.databases`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import psycopg
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from deep_research.ports import SharedLimits
from deep_research.stores.open_stores import Queue
from deep_research.stores.run_store import Guard
from deep_research_server.postgres.postgres_database import database_at, store_error
from deep_research_server.postgres.postgres_runs import PostgresRuns

_SETTING_UP = 7_214_002
_TRIES = 600
_ready: set[str] = set()


class _GuardedSaver(AsyncPostgresSaver):
    """Checks the fence in each write's transaction; journal notes are written first."""

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
async def _open_checkpoints(
    url: str, serde: JsonPlusSerializer, guard: Guard | None = None
) -> AsyncIterator[AsyncPostgresSaver]:
    """Give the saver on a connection of its own; raise RunTakenOver, StoreError."""
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
    """Create the tables under a lock, waited for between statements."""
    # A process waiting inside a statement would block the concurrent creation of an index.
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


class PostgresDatabase:
    """Implements `stores.open_stores.Database`; connects at first use."""

    def __init__(self, url: str) -> None:
        """Name the database by its address."""
        self._url = url

    @property
    def limits(self) -> SharedLimits:
        return database_at(self._url).limits

    def runs(self, owner: str, home: Path) -> PostgresRuns:
        return PostgresRuns(self._url, owner, home)

    def checkpoints(self, serde: Any, guard: Guard | None) -> AbstractAsyncContextManager[Any]:
        return _open_checkpoints(self._url, serde, guard)

    @property
    def queue(self) -> Queue:
        from deep_research_server.workers import run_queue  # noqa: PLC0415 - a run that is in no queue needs none

        return run_queue
