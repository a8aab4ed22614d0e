"""LangGraph's checkpoints in a SQLite file, each call as a whole in one thread.

Its own asynchronous saver goes to its thread and back three or four times for each write, and turns the state into bytes
on the event loop.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from deep_research.errors import StoreError
from deep_research.stores.sqlite_file import DAMAGED, tell_sqlite_errors

_T = TypeVar("_T")


def _in_thread(method: Callable[..., Any]) -> Any:
    """Return a method of the saver that is called in a thread."""

    @wraps(method)
    async def call(self: "ThreadedSqliteSaver", *about: Any, **named: Any) -> Any:
        return await self.do(partial(method, self, *about, **named))

    return call


async def _listed(self: "ThreadedSqliteSaver", *about: Any, **named: Any) -> AsyncIterator[CheckpointTuple]:
    for found in await self.do(lambda: [*self.list(*about, **named)]):
        yield found


def _made_out(self: "ThreadedSqliteSaver", config: RunnableConfig) -> CheckpointTuple | None:
    """Return a checkpoint. Raises StoreError for one whose bytes are no value."""
    try:
        return self.get_tuple(config)
    except sqlite3.Error:
        raise
    except Exception as error:  # damaged bytes are no value in every way
        raise StoreError(f"{self.path}: {DAMAGED} ({type(error).__name__}).", path=self.path) from error


class ThreadedSqliteSaver(SqliteSaver):
    """A synchronous checkpoint saver, which holds a lock, called in a thread."""

    def __init__(self, connection: sqlite3.Connection, *, serde: JsonPlusSerializer) -> None:
        super().__init__(connection, serde=serde)
        self.path: str = connection.execute("PRAGMA database_list").fetchone()[2]
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="checkpoints")

    async def do(self, work: Callable[[], _T]) -> _T:
        """Run `work` in its turn in one thread, and return its result.

        It is done to its end, also where the task is cancelled.

        Branches that begin together so stay in their order. Raises StoreError for what SQLite raises.
        """

        def told() -> _T:
            with tell_sqlite_errors(self.path):
                return work()

        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, told))

    aget_tuple = _in_thread(_made_out)
    aput = _in_thread(SqliteSaver.put)
    aput_writes = _in_thread(SqliteSaver.put_writes)
    adelete_thread = _in_thread(SqliteSaver.delete_thread)
    aget_delta_channel_history = _in_thread(SqliteSaver.get_delta_channel_history)
    alist = _listed

    def close(self) -> None:
        """Close the file when what is being written is written."""
        self._thread.shutdown()
        self.conn.close()


@asynccontextmanager
async def open_sqlite_checkpoints(file: Path | str, serde: JsonPlusSerializer) -> AsyncIterator[ThreadedSqliteSaver]:
    """Open or make the checkpoints in a file; raise StoreError if it is damaged."""

    def connect() -> ThreadedSqliteSaver:
        with tell_sqlite_errors(str(file)):
            connection = sqlite3.connect(file, check_same_thread=False)
            connection.execute("PRAGMA synchronous = NORMAL")  # as all files of a run
        return ThreadedSqliteSaver(connection, serde=serde)

    saver = await asyncio.to_thread(connect)
    try:
        yield saver
    finally:
        await asyncio.shield(asyncio.to_thread(saver.close))
