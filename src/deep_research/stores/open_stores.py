"""Which store holds the runs: the state folder, or the database of `DEEP_RESEARCH_DATABASE_URL` where it is set."""

from pathlib import Path

from deep_research.ports import SharedLimits
from deep_research.settings import database_url
from deep_research.state_files import OWNERS
from deep_research.stores.run_folder import FolderRuns
from deep_research.stores.run_store import RunStores


def open_runs(home: Path) -> RunStores:
    """Return the runs of a state folder, or those in the database of the owner whose folder it is.

    Raises ConfigError and StoreError for a database that cannot be used.
    """
    url = database_url()
    if not url:
        return FolderRuns(home)
    from deep_research.stores.postgres_runs import PostgresRuns  # noqa: PLC0415 - an extra

    return PostgresRuns(url, owner_of(home), home)


def shared_limits() -> SharedLimits | None:
    """Return the limits that hold for all processes on the database; None where there is none."""
    if not (url := database_url()):
        return None
    from deep_research.stores.postgres_database import limits_at  # noqa: PLC0415 - an extra

    return limits_at(url)


def owner_of(home: Path) -> str:
    """Return the owner whose state folder this is; "" for that of the command line."""
    return home.name if home.parent.name == OWNERS else ""
