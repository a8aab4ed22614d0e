"""Limits of providers and hosts that hold for all processes on one database (`ports.SharedLimits`)."""

import asyncio
import logging
import random
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from deep_research.concurrency import keep_soon
from deep_research.errors import StoreError
from deep_research.ports import Closed
from deep_research.stores.postgres_database import Database, database_at

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 0.1
"""How often it is looked whether a place has become free."""
_MODEL = "\n"
"""Stands between the name of a provider and that of its model; no name has it."""
_CLOSE = """
INSERT INTO deep_research.limits (name, closed_until, why) VALUES (%s, now() + make_interval(secs => %s), %s)
ON CONFLICT (name) DO UPDATE SET closed_until = greatest(limits.closed_until, excluded.closed_until), why = excluded.why"""


class PostgresLimits:
    """Implements `ports.SharedLimits`; the places that this process holds are locks of one session of its own."""

    def __init__(self, url: str) -> None:
        self._database: Database = database_at(url)
        self._session: psycopg.Connection[Any] | None = None
        self._held: defaultdict[str, set[int]] = defaultdict(set)
        self._lock = threading.Lock()
        self._database.closing.append(self._end_session)

    @asynccontextmanager
    async def place(self, name: str, most: int) -> AsyncIterator[None]:
        place = 0
        try:
            while not (place := await asyncio.shield(asyncio.wrap_future(keep_soon(self._take, name, most)))):  # noqa: ASYNC110 - others are processes
                await asyncio.sleep(_LOOK_SECONDS * (0.5 + random.random()))  # noqa: S311 - spreads the processes
            yield
        finally:
            if place > 0:
                keep_soon(self._let_go, name, place)

    def _take(self, name: str, most: int) -> int:
        """Return the place that was taken; 0 for none, -1 where the session was lost: then nothing is limited."""
        with self._lock:
            try:
                if self._session is None or self._session.closed:
                    self._held.clear()  # its locks went with it
                    self._session = psycopg.connect(self._database.url, autocommit=True)
                held = self._held[name]
                row = self._session.execute(
                    "SELECT deep_research.take_place(%s, %s, %s::int[])", (name, most, sorted(held))
                ).fetchone()
            except psycopg.Error as error:
                _log.warning("The limits that workers share cannot be asked: %s", error)
                return -1
            place = int(row[0]) if row else 0
            held.update({place} - {0})
            return place

    def _let_go(self, name: str, place: int) -> None:
        with self._lock:
            if self._session is None or place not in self._held[name]:
                return
            self._held[name].discard(place)
            try:
                self._session.execute("SELECT pg_advisory_unlock(hashtext('deep_research ' || %s), %s)", (name, place))
            except psycopg.Error:
                self._session.close()  # and with it all its locks

    def _end_session(self) -> None:
        with self._lock:
            if self._session is not None:
                self._session.close()

    async def turn(self, name: str, every: float, ahead: float, most_wait: float) -> float:
        query = "SELECT deep_research.take_turn(%s, %s, %s, %s)"
        rows = await asyncio.to_thread(self._database.rows, query, (name, every, ahead, most_wait))
        return float(rows[0][0])

    async def closed(self, name: str) -> Mapping[str, Closed]:
        query = """
        SELECT name, extract(epoch FROM closed_until - now()), why FROM deep_research.limits
        WHERE (name = %s OR starts_with(name, %s)) AND closed_until > now()"""
        rows = await asyncio.to_thread(self._database.rows, query, (name, name + _MODEL))
        return {found.partition(_MODEL)[2]: Closed(float(seconds), why) for found, seconds, why in rows}

    def close(self, name: str, seconds: float, *, model: str = "", why: str = "") -> None:
        keep_soon(self._write, _CLOSE, (name + _MODEL + model if model else name, seconds, why))

    def open(self, name: str, model: str) -> None:
        keep_soon(self._write, "DELETE FROM deep_research.limits WHERE name = %s", (name + _MODEL + model,))

    def _write(self, query: str, values: tuple[Any, ...]) -> None:
        try:
            self._database.execute(query, values)
        except StoreError as error:
            _log.warning("What other workers should know of a provider was not written: %s", error.message)


_known: dict[Database, PostgresLimits] = {}


def limits_at(url: str) -> PostgresLimits:
    """Return the limits of the processes on a database, once in a process while it is open."""
    database = database_at(url)
    if database not in _known:
        _known[database] = PostgresLimits(url)
        database.closing.append(lambda: _known.pop(database, None))
    return _known[database]
