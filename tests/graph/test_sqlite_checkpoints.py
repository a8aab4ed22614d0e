"""Checkpoints in a file: a write that has been begun is stored, whatever becomes of the task that asked for it."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from deep_research.errors import StoreError
from deep_research.graph.sqlite_checkpoints import open_sqlite_checkpoints

CONFIG: RunnableConfig = {"configurable": {"thread_id": "run", "checkpoint_ns": ""}}


async def test_a_write_whose_task_is_cancelled_is_stored_before_the_file_is_closed(tmp_path: Path) -> None:
    file, checkpoint = tmp_path / "checkpoints.db", empty_checkpoint()
    async with open_sqlite_checkpoints(file, JsonPlusSerializer()) as saver:
        at = await saver.aput(CONFIG, checkpoint, {"step": 0}, {})
        with saver.lock:  # another write is under way
            writing = asyncio.create_task(saver.aput_writes(at, [("topic", "engines")], "task"))
            await asyncio.sleep(0)
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing
    async with open_sqlite_checkpoints(file, JsonPlusSerializer()) as saver:
        stored = await saver.aget_tuple(CONFIG)
        assert stored is not None
        assert stored.pending_writes == [("task", "topic", "engines")]
        assert [one.checkpoint["id"] async for one in saver.alist(CONFIG, limit=1)] == [checkpoint["id"]]
        await saver.adelete_thread("run")
        assert await saver.aget_tuple(CONFIG) is None


@pytest.mark.parametrize("damage", ["bytes", "value"])
async def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "checkpoints.db"
    async with open_sqlite_checkpoints(file, JsonPlusSerializer()) as saver:
        await saver.aput(CONFIG, empty_checkpoint(), {"step": 0}, {})
    if damage == "bytes":
        file.write_bytes(b"no database" * 1_000)
    else:
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE checkpoints SET checkpoint = x'c1c1'")
    with pytest.raises(StoreError, match=r"checkpoints\.db: It is .* move (it|this one) away"):
        async with open_sqlite_checkpoints(file, JsonPlusSerializer()) as saver:
            await saver.aget_tuple(CONFIG)
