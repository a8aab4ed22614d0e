"""PostgreSQL as deep-research asks for it: the entry point of the group `deep_research.databases`."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import ModuleType
from typing import Any

from deep_research.ports import SharedLimits
from deep_research.stores.open_stores import QueueState
from deep_research.stores.run_store import Guard, RunStore
from deep_research_server.postgres.postgres_checkpoints import open_postgres_checkpoints
from deep_research_server.postgres.postgres_database import database_at
from deep_research_server.postgres.postgres_runs import PostgresRuns


class PostgresDatabase:
    """Offers (`stores.open_stores.Database`) runs, limits, checkpoints and the queue of one database; connections are opened when first needed."""

    def __init__(self, url: str) -> None:
        """Name the database by its address."""
        self._url = url

    @property
    def limits(self) -> SharedLimits:
        return database_at(self._url).limits

    def runs(self, owner: str, home: Path) -> PostgresRuns:
        return PostgresRuns(self._url, owner, home)

    def checkpoints(self, serde: Any, guard: Guard | None) -> AbstractAsyncContextManager[Any]:
        return open_postgres_checkpoints(self._url, serde, guard)

    def enqueue(self, store: RunStore, *, priority: int, may_ask: bool, answer: str | None) -> None:
        _queue().enqueue_run(store, priority=priority, may_ask=may_ask, answer=answer)

    def queue_state(self, owner: str) -> QueueState:
        return _queue().queue_state(owner)

    def is_queued(self, store: RunStore) -> bool:
        return _queue().is_queued(store)

    def dequeue(self, store: RunStore) -> bool:
        return _queue().dequeue_run(store)


def _queue() -> ModuleType:
    from deep_research_server.workers import run_queue  # noqa: PLC0415 - a run that is in no queue needs none

    return run_queue
