"""One PostgreSQL database: connections, migrations, errors, and shared limits."""

import asyncio
import logging
import random
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import cached_property
from importlib import resources
from typing import Any, TypeVar

from deep_research.concurrency import keep_soon
from deep_research.errors import ConfigError, RunTakenOver, StoreError
from deep_research.ports import Closed

try:
    import psycopg
    from psycopg_pool import ConnectionPool, PoolTimeout
except ImportError as error:
    _message = "A database needs the extra `postgres`: pip install 'deep-research-server[postgres]'."
    raise ConfigError(_message, setting="DEEP_RESEARCH_DATABASE_URL") from error

_T = TypeVar("_T")
_PATIENCE_SECONDS = 90.0
"""How long a database may be away before what needs it fails."""
_CONNECT_SECONDS = 10
_LASTING = (psycopg.errors.DiskFull, psycopg.errors.ProgramLimitExceeded)
"""What waiting does not mend."""
_MIGRATING = 7_214_001
_TAKEN_OVER = "DR001"
"""What `check_fence` of the migrations says."""
_open: dict[str, "Database"] = {}
_opening = threading.Lock()
_log = logging.getLogger(__name__)
_LOOK_SECONDS = 0.1
_MODEL = "\n"
"""Stands between the name of a provider and that of its model; no name has it."""
_CLOSE = """
INSERT INTO deep_research.limits (name, closed_until, why) VALUES (%s, now() + make_interval(secs => %s), %s)
ON CONFLICT (name) DO UPDATE SET closed_until = greatest(limits.closed_until, excluded.closed_until), why = excluded.why"""


def database_at(url: str) -> "Database":
    """Return the process's database at an address, migrated. Raises StoreError."""
    with _opening:
        if url not in _open:
            _open[url] = Database(url)
        return _open[url]


class Database:
    """A connection pool that retries for a while when the database is unavailable."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.closing: list[Callable[[], object]] = []
        self._held = threading.local()
        try:  # once, so that a wrong address fails at once
            psycopg.connect(url, connect_timeout=_CONNECT_SECONDS).close()
        except psycopg.OperationalError as error:
            raise store_error(error) from error
        except psycopg.Error:  # its message holds the address with its password
            message = "DEEP_RESEARCH_DATABASE_URL is no address of a PostgreSQL database: postgresql://user@host/name."
            raise StoreError(message, path="database") from None
        self._pool = ConnectionPool(
            url, min_size=0, max_size=8, timeout=10, open=True, kwargs={"autocommit": True}, name="deep-research"
        )
        self.run(apply_migrations)

    def run(
        self, work: Callable[["psycopg.Connection[Any]"], _T], *, at_once: bool = False, on_disk: bool = True
    ) -> _T:
        """Return `work(connection)`, done in one transaction. Raises StoreError.

        `work` is done again when the connection was lost, so it must be one that may be; it must not want a second
        connection. `at_once` sends all its statements in one round (a pipeline of libpq): for work that looks at no
        answer. Without `on_disk` the server has the writes when this returns, and its disk a moment later.
        """
        if vars(self._held):  # threads that hold all would wait for each other
            raise RuntimeError("This thread holds a connection: ask by that one.")
        end, wait = time.monotonic() + _PATIENCE_SECONDS, 0.2
        while True:
            try:
                with self._pool.connection() as connection, ExitStack() as stack:
                    self._held.connection = connection
                    stack.callback(vars(self._held).clear)
                    if at_once and psycopg.Pipeline.is_supported():
                        stack.enter_context(connection.pipeline())
                    stack.enter_context(connection.transaction())
                    if not on_disk:
                        connection.execute("SET LOCAL synchronous_commit = off")
                    return work(connection)
            except (psycopg.OperationalError, PoolTimeout) as error:
                if time.monotonic() > end or isinstance(error, _LASTING):
                    raise store_error(error) from error
                time.sleep(wait)
                wait = min(2.0, wait * 2)
            except psycopg.Error as error:
                raise store_error(error) from error

    def write(self, check: Callable[[Any], object], *batches: tuple[str, Sequence[Any]], on_disk: bool = True) -> None:
        """Carry out statements, each for many rows, in one round; `check` may refuse it."""

        def work(connection: Any) -> None:
            check(connection)
            with connection.cursor() as cursor:
                for query, rows in batches:
                    cursor.executemany(query.encode(), rows)

        self.run(work, at_once=True, on_disk=on_disk)

    @cached_property
    def limits(self) -> "PostgresLimits":
        """The limits of the processes on the database, as this one sees them."""
        return PostgresLimits(self.url)

    def close(self) -> None:
        """Close all connections."""
        for end in self.closing:
            end()
        self._pool.close()

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.run(lambda connection: connection.execute(query.encode(), values).fetchall())

    def execute(self, query: str, values: tuple[Any, ...] = ()) -> int:
        """Carry a statement out; return how many rows it touched."""
        return self.run(lambda connection: connection.execute(query.encode(), values).rowcount)


def store_error(error: Exception) -> StoreError:
    """Return the StoreError for a database error, without address and password."""
    first = first_line(error)
    if getattr(error, "sqlstate", "") == _TAKEN_OVER:
        return RunTakenOver(first, path="database")
    message = f"The database failed: {first}. Check DEEP_RESEARCH_DATABASE_URL and the server."
    return StoreError(message, path="database")


def first_line(error: Exception) -> str:
    """Return the first line of what an error says, or its kind."""
    return (str(error).splitlines() or [type(error).__name__])[0][:300]


def to_bytes(text: str) -> bytes:
    """Return a text as stored bytes: the text type refuses lone surrogates and NULs."""
    return text.encode("utf-8", "surrogatepass")


def to_text(data: bytes) -> str:
    """Return the text that was kept."""
    return bytes(data).decode("utf-8", "surrogatepass")


def apply_migrations(connection: "psycopg.Connection[Any]", of: str = "deep_research_server.postgres") -> None:
    """Apply a package's new migrations in order, each once, one process at a time."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
    connection.execute("CREATE SCHEMA IF NOT EXISTS deep_research")
    connection.execute("CREATE TABLE IF NOT EXISTS deep_research.migrations (name text PRIMARY KEY, at timestamptz)")
    done = {name for (name,) in connection.execute("SELECT name FROM deep_research.migrations").fetchall()}
    folder = resources.files(of) / "migrations"
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.endswith(".sql") and file.name not in done:
            connection.execute(file.read_bytes())
            connection.execute("INSERT INTO deep_research.migrations VALUES (%s, now())", (file.name,))


def close_databases() -> None:
    """Close the connections of this process."""
    with _opening:
        for database in _open.values():
            database.close()
        _open.clear()


class PostgresLimits:
    """Implements `ports.SharedLimits` by locks held in one session of the process."""

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
        """Return the place taken; 0 for none, -1 (unlimited) if the session was lost."""
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
