"""Every store test runs on every store: a state folder with SQLite files, and a real PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.postgres import new_database

from deep_research.stores.run_folder import FolderRuns
from deep_research.stores.run_store import RunStores


@pytest.fixture(params=["folder", pytest.param("postgres", marks=pytest.mark.process)])
def runs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunStores]:
    """All runs of an empty store."""
    if request.param == "folder":
        yield FolderRuns(tmp_path / "home")
        return
    with new_database(request.getfixturevalue("postgres")) as url:
        from deep_research_server.postgres.postgres_runs import PostgresRuns  # noqa: PLC0415 - an extra

        yield PostgresRuns(url)
