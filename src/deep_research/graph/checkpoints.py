"""Checkpoints of a run in one SQLite file: what is finished is never done again after a crash."""

import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from deep_research import data
from deep_research.data.base import Noun


@asynccontextmanager
async def open_checkpoints(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Open or make the checkpoints at `path`; our nouns are the only classes they may hold."""
    nouns = [noun for _, noun in inspect.getmembers(data, inspect.isclass) if issubclass(noun, Noun)]
    serde = JsonPlusSerializer(allowed_msgpack_modules=[(noun.__module__, noun.__name__) for noun in nouns])
    async with aiosqlite.connect(path) as connection:
        yield AsyncSqliteSaver(connection, serde=serde)
