"""One PostgreSQL database: its connections, its migrations, and what its errors mean for their reader."""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib import resources
from typing import Any, TypeVar

from deep_research.errors import ConfigError, RunTakenOver, StoreError

try:
    import psycopg
    from psycopg_pool import ConnectionPool, PoolTimeout
except ImportError as error:
    _message = "A database needs the extra `postgres`: pip install 'deep-research[postgres]'."
    raise ConfigError(_message, setting="DEEP_RESEARCH_DATABASE_URL") from error

_T = TypeVar("_T")
_PATIENCE_SECONDS = 90.0
"""How long a database may be away before what needs it fails."""
_MIGRATING = 7_214_001
"""The number of the advisory lock under which one process migrates."""
_TAKEN_OVER = "DR001"
"""What `check_fence` of the migrations says."""
_open: dict[str, "Database"] = {}
_opening = threading.Lock()


def database_at(url: str) -> "Database":
    """Return the database of an address, shared by the process; its tables are brought up to date.

    Raises StoreError when it cannot be reached.
    """
    with _opening:
        if url not in _open:
            _open[url] = Database(url)
        return _open[url]


class Database:
    """A pool of connections; what fails because the database is away is tried again for a while."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.closing: list[Callable[[], object]] = []
        """What is done before the connections are closed."""
        self._pool = ConnectionPool(
            url, min_size=0, max_size=8, timeout=10, open=True, kwargs={"autocommit": True}, name="deep-research"
        )
        self.run(_migrate)

    def run(
        self, work: Callable[["psycopg.Connection[Any]"], _T], *, at_once: bool = False, on_disk: bool = True
    ) -> _T:
        """Return `work(connection)`, within one transaction. Raises StoreError, also after the database was away too long.

        `work` is done again when the connection was lost, so it must be one that may be. `at_once` sends all its
        statements in one round (a pipeline of libpq): for work that looks at no answer. Without `on_disk` the server
        has the writes when this returns, and its disk a moment later (`synchronous_commit`).
        """
        end, wait = time.monotonic() + _PATIENCE_SECONDS, 0.2
        while True:
            try:
                with self._pool.connection() as connection, ExitStack() as stack:
                    if at_once and psycopg.Pipeline.is_supported():
                        stack.enter_context(connection.pipeline())
                    stack.enter_context(connection.transaction())
                    if not on_disk:
                        connection.execute("SET LOCAL synchronous_commit = off")
                    return work(connection)
            except (psycopg.OperationalError, PoolTimeout) as error:
                if time.monotonic() > end or isinstance(error, psycopg.errors.DiskFull):
                    raise store_error(error) from error
                time.sleep(wait)
                wait = min(2.0, wait * 2)
            except psycopg.Error as error:
                raise store_error(error) from error

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
    """Return the StoreError for an error of the database, without the address and its password."""
    first = (str(error).splitlines() or [type(error).__name__])[0]
    if getattr(error, "sqlstate", "") == _TAKEN_OVER:
        return RunTakenOver(first, path="database")
    return StoreError(
        f"The database failed: {first}. Check DEEP_RESEARCH_DATABASE_URL and the server.", path="database"
    )


def _migrate(connection: "psycopg.Connection[Any]") -> None:
    """Apply the migrations that the database has not had yet, each once, one process at a time."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
    connection.execute("CREATE SCHEMA IF NOT EXISTS deep_research")
    connection.execute("CREATE TABLE IF NOT EXISTS deep_research.migrations (name text PRIMARY KEY, at timestamptz)")
    done = {name for (name,) in connection.execute("SELECT name FROM deep_research.migrations").fetchall()}
    folder = resources.files("deep_research.stores") / "migrations"
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
