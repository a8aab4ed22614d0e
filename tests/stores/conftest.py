"""Every store test runs on every store: a state folder with SQLite files, and a real PostgreSQL."""

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.postgres import new_database, postgres_server

from deep_research.stores.run_folder import FolderRuns
from deep_research.stores.run_store import RunStores


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that all test processes share."""
    # Not below pytest's own folder: the server runs as a user of its own where the tests run as root.
    name = hashlib.sha256(str(tmp_path_factory.getbasetemp().parent).encode()).hexdigest()[:12]
    with postgres_server(Path(tempfile.gettempdir()) / f"deep-research-postgres-{name}") as address:
        yield address


@pytest.fixture(params=["folder", pytest.param("postgres", marks=pytest.mark.process)])
def runs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunStores]:
    """All runs of an empty store."""
    if request.param == "folder":
        yield FolderRuns(tmp_path / "home")
        return
    with new_database(request.getfixturevalue("postgres")) as url:
        from deep_research.stores.postgres_runs import PostgresRuns  # noqa: PLC0415 - an extra

        yield PostgresRuns(url)
