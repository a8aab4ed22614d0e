"""A queue of runs in the database, and the workers that carry them out (procrastinate).

A run that is queued is carried out once, by whichever worker has room. A worker that dies leaves a lease that runs out
and a heartbeat that stops: another takes the run up within a minute, and goes on from its journal.
"""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

from deep_research.assembly.environment import RunEnvironment
from deep_research.errors import ConfigError, Declined, NeedsAnswer, ResearchError, RunBusy, RunTakenOver, StoreError
from deep_research.runs.research_run import resume_run
from deep_research.runs.worker_metrics import WorkerMetrics
from deep_research.settings import Settings, database_url
from deep_research.state_files import OWNERS
from deep_research.stores.postgres_database import Database, close_databases, database_at
from deep_research.stores.postgres_runs import PostgresRuns
from deep_research.stores.run_store import RunStore

try:
    import procrastinate
    from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
    from procrastinate.jobs import Job
    from procrastinate.schema import SchemaManager
except ImportError as error:
    _message = "Workers need the extra `worker`: pip install 'deep-research[worker]'."
    raise ConfigError(_message, setting="DEEP_RESEARCH_DATABASE_URL") from error

_log = logging.getLogger(__name__)
_TASK = "deep_research.carry_out"
_HEARTBEAT_SECONDS, _STALLED_SECONDS = 5.0, 20.0
_BUSY_SECONDS, _RETRY_SECONDS, _MOST_TRIES = 4, 5, 30
_DRAIN_SECONDS = 20.0
"""How long a worker that is told to stop lets its runs go on; what is left then is taken up by others."""
_DONE = frozenset({"finished", "declined", "waiting"})


class _Drained(Exception):
    """The worker was told to stop: the run goes on elsewhere."""


class _Retry(procrastinate.BaseRetryStrategy):
    """What follows when a run could not be carried out to its end."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> procrastinate.RetryDecision | None:
        """Return when the run is taken up again; None for never."""
        if isinstance(exception, _Drained):
            return procrastinate.RetryDecision(retry_in={"seconds": 0})
        if isinstance(exception, RunBusy):  # of a worker that died: its lease runs out
            return procrastinate.RetryDecision(retry_in={"seconds": _BUSY_SECONDS})
        if isinstance(exception, StoreError) and job.attempts < _MOST_TRIES:
            return procrastinate.RetryDecision(retry_in={"seconds": _RETRY_SECONDS})
        return None


def _database() -> Database:
    url = database_url()
    if not url:
        message = "A queue needs a database: set DEEP_RESEARCH_DATABASE_URL to that of a PostgreSQL."
        raise ConfigError(message, setting="DEEP_RESEARCH_DATABASE_URL")
    database = database_at(url)
    database.run(_make_queue)
    return database


def _make_queue(connection: Any) -> None:
    """Make the queue's tables, which are procrastinate's own."""
    connection.execute("SELECT pg_advisory_xact_lock(7214003)")
    if connection.execute("SELECT to_regclass('procrastinate_jobs')").fetchone()[0] is None:
        connection.execute(SchemaManager.get_schema().encode())


def enqueue_run(store: RunStore, *, priority: int = 0) -> None:
    """Have a run carried out by a worker; `priority` is higher for what should come first among an owner's runs.

    Owners take turns: the more runs an owner has in the queue, the later its next one comes. At most
    `max_runs_per_owner` of an owner go on at a time. Raises ConfigError without a database, RunBusy for a run that is
    queued already.
    """
    database = _database()
    record = store.load()
    if record.status in ("finished", "declined"):
        raise ConfigError(f"The run {record.run_id} is {record.status}.", setting="run", value=record.run_id)
    owner, limit = record.owner, Settings(**record.settings).max_runs_per_owner
    query = "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing') AND args->>'owner' = %s"
    waiting = int(database.rows(query, (owner,))[0][0])
    app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=database.url))
    store.save(record.model_copy(update={"status": "queued"}))
    with app.open():
        job = app.configure_task(
            _TASK,
            queue="runs",
            lock=f"{owner}/{waiting % limit}",
            queueing_lock=record.run_id,
            priority=priority * 10_000 - waiting,
        )
        try:
            job.defer(run_id=record.run_id, owner=owner)
        except AlreadyEnqueued as error:
            raise RunBusy(f"The run {record.run_id} is in the queue already.", run_id=record.run_id) from error


async def work(
    home: Path, *, runs_at_once: int = 4, until_empty: bool = False, metrics_port: int | None = None
) -> None:
    """Carry out queued runs until the process is told to stop (SIGTERM, SIGINT), or until the queue is empty.

    Then no more runs are begun; those that go on get some seconds, and are taken up by other workers after that.
    """
    database, metrics = await asyncio.to_thread(_database), WorkerMetrics(metrics_port)
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=database.url))

    @app.task(name=_TASK, queue="runs", retry=_Retry())
    async def carry_out(run_id: str, owner: str) -> None:
        store = PostgresRuns(database.url, owner).store(run_id)
        await _carry_out(store, home / OWNERS / owner if owner else home, metrics)

    try:
        while not await _serve(app, runs_at_once, until_empty=until_empty):
            _log.warning("The database is away; the worker waits for it.")
            await asyncio.sleep(2.0)
    finally:
        await asyncio.to_thread(close_databases)


async def _serve(app: "procrastinate.App", runs_at_once: int, *, until_empty: bool) -> bool:
    """Work until the end; return False when the database went away."""
    try:
        async with app.open_async():
            rescuing = asyncio.create_task(_rescue(app))
            try:
                await app.run_worker_async(
                    queues=["runs"],
                    concurrency=runs_at_once,
                    wait=not until_empty,
                    fetch_job_polling_interval=1.0,
                    update_heartbeat_interval=_HEARTBEAT_SECONDS,
                    stalled_worker_timeout=_STALLED_SECONDS,
                    shutdown_graceful_timeout=_DRAIN_SECONDS,
                    delete_jobs="successful",
                )
            finally:
                rescuing.cancel()
                await asyncio.wait([rescuing])
    except ConnectorException:
        return False
    return True


async def _rescue(app: "procrastinate.App") -> None:
    """Put the runs of dead workers back into the queue, again and again."""
    while True:
        with suppress(ConnectorException):
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=_STALLED_SECONDS):
                _log.warning("A worker died; its run is taken up again: %s", job.task_kwargs)
                await app.job_manager.retry_job(job)
        await asyncio.sleep(_HEARTBEAT_SECONDS)


async def _carry_out(store: RunStore, home: Path, metrics: WorkerMetrics) -> None:
    """Carry a run out. Raises what `_Retry` decides about."""
    if (await asyncio.to_thread(store.load)).status in _DONE:
        return
    status, report = "failed", None
    _log.info("The run %s begins or goes on.", store.run_id)
    metrics.begin()
    try:
        report = await resume_run(store, RunEnvironment(home))
        status = "finished"
    except (NeedsAnswer, Declined, RunTakenOver) as ended:
        status = type(ended).__name__
    except asyncio.CancelledError:
        status = "drained"
        raise _Drained from None
    except (RunBusy, StoreError) as later:
        status = type(later).__name__
        raise
    except ResearchError as error:  # the record says it
        _log.info("The run %s ended without a report: %s", store.run_id, error.message)
    finally:
        metrics.end(status, report)
        _log.info("The run %s: %s.", store.run_id, status)
