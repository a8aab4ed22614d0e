"""The store of runs: the state folder, or `DEEP_RESEARCH_DATABASE_URL` if set.

A database comes with another package: an entry point of the group `deep_research.databases`, named by the scheme of
the address, names a class that is made with the address. The package deep-research-server offers PostgreSQL.
"""

from contextlib import AbstractAsyncContextManager
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from deep_research.errors import ConfigError
from deep_research.ports import SharedLimits
from deep_research.settings import database_url
from deep_research.state_files import OWNERS
from deep_research.stores.run_folder import FolderRuns
from deep_research.stores.run_store import Guard, RunStore, RunStores


class QueueState(NamedTuple):
    """The queue seen by an owner: numbers of live workers and of the owner's runs."""

    workers: int
    runs: int


class Queue(Protocol):
    """A queue of runs that workers on several machines carry out."""

    def enqueue_run(self, store: RunStore, *, priority: int, may_ask: bool, answer: str | None) -> None:
        """Queue a run or report question for a worker; raise ConfigError or RunBusy."""
        ...

    def queue_state(self, owner: str) -> QueueState: ...
    def is_queued(self, store: RunStore) -> bool:
        """Return whether a run waits for a worker, or a worker carries it out."""
        ...

    def dequeue_run(self, store: RunStore) -> bool:
        """Remove a run from the queue and stop its worker; return whether it was queued."""
        ...


class Database(Protocol):
    """Runs, limits, checkpoints and a queue that several machines share."""

    @property
    def limits(self) -> SharedLimits: ...
    @property
    def queue(self) -> Queue: ...

    def runs(self, owner: str, home: Path) -> RunStores:
        """Return the runs of an owner; `home` is for what a process keeps beside them."""
        ...

    def checkpoints(self, serde: Any, guard: Guard | None) -> AbstractAsyncContextManager[Any]:
        """Give LangGraph's checkpoints, written with a serializer of its kind."""
        ...


@cache
def database_at(url: str) -> Database:
    """Return the database at an address; raise StoreError, ConfigError for its kind."""
    scheme = url.partition(":")[0]
    for offered in entry_points(group="deep_research.databases", name=scheme):
        return offered.load()(url)
    message = f"A database {scheme}:// needs a package that offers it; PostgreSQL: the wheel of deep-research-server."
    raise ConfigError(message, setting="DEEP_RESEARCH_DATABASE_URL")


def database() -> Database:
    """Return the database of the settings. Raises ConfigError where there is none."""
    if not (url := database_url()):
        message = "A queue needs a database: set DEEP_RESEARCH_DATABASE_URL to that of a PostgreSQL."
        raise ConfigError(message, setting="DEEP_RESEARCH_DATABASE_URL")
    return database_at(url)


def open_runs(home: Path) -> RunStores:
    """Return a state folder's runs, or its owner's; raise ConfigError, StoreError."""
    url = database_url()
    return database_at(url).runs(owner_of(home), home) if url else FolderRuns(home)


def shared_limits() -> SharedLimits | None:
    """Return the limits shared by all processes on the database; None without one."""
    return database_at(url).limits if (url := database_url()) else None


def owner_of(home: Path) -> str:
    """Return the owner whose state folder this is; "" for that of the command line."""
    return home.name if home.parent.name == OWNERS else ""
