"""LangGraph's checkpoints in PostgreSQL, with its own saver."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from deep_research.errors import StoreError

_SETTING_UP = 7_214_002
"""The number of the advisory lock under which one process makes the saver's tables."""
_TRIES = 600
_ready: set[str] = set()


@asynccontextmanager
async def open_postgres_checkpoints(url: str, serde: JsonPlusSerializer) -> AsyncIterator[AsyncPostgresSaver]:
    """Give the saver on a connection of its own. Raises StoreError when the database fails inside the block."""
    try:
        async with AsyncPostgresSaver.from_conn_string(url, serde=serde) as saver:
            if url not in _ready:
                await _set_up(saver)
                _ready.add(url)
            yield saver
    except psycopg.Error as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise StoreError(f"The database with the checkpoints failed: {first}.", path="database") from error


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
