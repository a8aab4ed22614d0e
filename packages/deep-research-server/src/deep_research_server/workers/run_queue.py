"""A queue of runs in the database, its workers (procrastinate), metrics and logs.

A run that is queued is carried out once, by whichever worker has room. A worker that dies leaves a lease that runs out
and a heartbeat that stops: another takes the run up within a minute, and goes on from its journal.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deep_research import errors
from deep_research.assembly.environment import RunEnvironment
from deep_research.concurrency import OWNER, share_threads
from deep_research.data import Asked, FollowUp, Report
from deep_research.runs.follow_up_run import ask_follow_up, unfinished
from deep_research.runs.research_run import resume_run
from deep_research.safe_text import mask_record, safe_noun
from deep_research.settings import database_url
from deep_research.stores.open_stores import QueueState
from deep_research.stores.run_store import RunRecord, RunStore
from deep_research_server.access_tokens import AccessTokens, owner_home
from deep_research_server.postgres.postgres_database import Database, apply_migrations, close_databases, database_at
from deep_research_server.postgres.postgres_runs import PostgresRuns

try:
    import procrastinate
    from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, JobAborted
    from procrastinate.job_context import AbortReason, JobContext
    from procrastinate.jobs import Job, Status
    from procrastinate.schema import SchemaManager
except ImportError as error:
    _message = "Workers need the extra `postgres`: pip install 'deep-research-server[postgres]'."
    raise errors.ConfigError(_message, setting="DEEP_RESEARCH_DATABASE_URL") from error

_log = logging.getLogger(__name__)
_TASK = "deep_research.carry_out"
_HEARTBEAT_SECONDS, _STALLED_SECONDS = 5.0, 20.0
_BUSY_SECONDS, _RETRY_SECONDS, _MOST_TRIES = 4, 5, 30
_MOST_DEATHS = 10
"""A run that so many workers died at ends them: from the third death on it was carried out alone (`queue_0002_alone.sql`)."""
_DRAIN_SECONDS = 20.0
"""How long a worker that is told to stop lets its runs go on; what is left then is taken up by others."""
_MOST_OF_AN_OWNER = 10
"""Runs of one owner that go on at a time, so that another one's begin soon."""
_DONE = frozenset({"finished", "declined", "waiting"})
_ready: set[str] = set()
_OPEN = "status IN ('todo', 'doing')"
_JOBS_OF = f"SELECT id FROM procrastinate_jobs WHERE queueing_lock = %s AND {_OPEN}"  # noqa: S608 - our own words
_COUNT_DEATH = "UPDATE procrastinate_jobs SET deaths = deaths + 1 WHERE id = %s AND attempts = %s RETURNING deaths"
_queue = procrastinate.App(connector=procrastinate.SyncPsycopgConnector())
"""The queue as it is written to, by connections of the database, so that it opens none; the workers' side is `work`."""


class _Drained(Exception):
    """The worker was told to stop: the run goes on elsewhere."""


class _Retry(procrastinate.BaseRetryStrategy):
    """What follows when a run could not be carried out to its end."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> procrastinate.RetryDecision | None:
        """Return when the run is taken up again; None for never."""
        if isinstance(exception, _Drained):
            return procrastinate.RetryDecision(retry_in={"seconds": 0})
        if isinstance(exception, errors.RunBusy):  # of a worker that died: its lease runs out
            return procrastinate.RetryDecision(retry_in={"seconds": _BUSY_SECONDS})
        if isinstance(exception, errors.StoreError) and job.attempts < _MOST_TRIES:
            return procrastinate.RetryDecision(retry_in={"seconds": _RETRY_SECONDS})
        return None


def _database() -> Database:
    url = database_url()
    if not url:
        message = "A queue needs a database: set DEEP_RESEARCH_DATABASE_URL to that of a PostgreSQL."
        raise errors.ConfigError(message, setting="DEEP_RESEARCH_DATABASE_URL")
    database = database_at(url)
    if url not in _ready:
        database.run(_make_queue)
        _ready.add(url)
    return database


def _make_queue(connection: Any) -> None:
    """Create the tables of procrastinate's queue and our own beside them."""
    connection.execute("SELECT pg_advisory_xact_lock(7214003)")
    if connection.execute("SELECT to_regclass('procrastinate_jobs')").fetchone()[0] is None:
        connection.execute(SchemaManager.get_schema().encode())
    apply_migrations(connection, "deep_research_server.workers")


def queue_state(owner: str) -> QueueState:
    """Return counts of live workers and an owner's queued runs. Raises ConfigError."""
    alive = f"SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat > now() - interval '{_STALLED_SECONDS} s'"  # noqa: S608 - our own number
    own = f"SELECT count(*) FROM procrastinate_jobs WHERE {_OPEN} AND args->>'owner' = %s"  # noqa: S608 - our own words
    database = _database()
    return QueueState(int(database.rows(alive)[0][0]), int(database.rows(own, (owner,))[0][0]))


def is_queued(store: RunStore) -> bool:
    """Return whether the run waits for a worker, or a worker carries it out."""
    return bool(_database().rows(_JOBS_OF, (store.run_id,)))


def dequeue_run(store: RunStore) -> bool:
    """Remove a run from the queue and stop its worker; return whether it was queued."""
    jobs = _database().rows(_JOBS_OF, (store.run_id,))
    for (number,) in jobs:
        _write(lambda at, job=number: _queue.job_manager.cancel_job_by_id(job, abort=True, connection=at))
    if jobs and not store.is_held():
        _note_end(store, status="stopped")
    return bool(jobs)


def _note_end(store: RunStore, **ended: str) -> None:
    """Write down how a run, or the last question about it, has ended."""
    record = store.load()
    if record.status not in _DONE:
        store.save(record.model_copy(update=ended))
    elif (left := unfinished(store)) is not None:
        store.save_follow_up(left.model_copy(update=ended))


def _write(work: Callable[[Any], object]) -> None:
    """Do work on the queue in a database connection, as `Database.run` does."""

    def write(connection: Any) -> None:
        try:
            work(connection)
        except ConnectorException as error:
            raise error.__cause__ or error from None

    _database().run(write)


def enqueue_run(store: RunStore, *, priority: int = 0, may_ask: bool = False, answer: str | None = None) -> None:
    """Queue a run for a worker; higher `priority` comes first among an owner's runs.

    Of a finished run a question about its report may be left, which was written down and has no answer yet. With
    `may_ask` the run waits where it asks something, else it goes on without; `answer` is the user's to what it asked.
    Owners take turns: the more runs an owner has in the queue, the later its next one comes. Raises ConfigError
    without a database, RunBusy for a run that is queued already.
    """
    record = store.load()
    if record.status == "finished" and unfinished(store) is not None:
        _defer(record, priority=priority)
        return
    if record.status in ("finished", "declined"):
        raise errors.ConfigError(f"The run {record.run_id} is {record.status}.", setting="run", value=record.run_id)
    if is_queued(store) and record.status in ("queued", "running"):
        raise _busy(record.run_id)
    store.save(record.model_copy(update={"status": "queued"}))
    # An answer goes with what was asked, so that it is given to that alone.
    asked = record.asked if answer is not None else None
    told = {"answer": answer, "asked": _digest(asked)} if asked is not None else {}
    _defer(record, priority=priority, may_ask=may_ask, **told)


def _defer(record: RunRecord, *, priority: int = 0, **arguments: Any) -> None:
    """Put a job at a run into the queue. Raises RunBusy where there is one already."""
    waiting = queue_state(record.owner).runs
    options = {"queue": "runs", "queueing_lock": record.run_id, "priority": priority * 10_000 - waiting}
    told = {"run_id": record.run_id, "owner": record.owner, **arguments}
    try:
        _write(lambda at: _queue.configure_task(_TASK, connection=at, **options).defer(**told))
    except AlreadyEnqueued as error:
        raise _busy(record.run_id) from error


def _busy(run_id: str) -> errors.RunBusy:
    return errors.RunBusy(f"The run {run_id} is in the queue already.", run_id=run_id)


def _digest(asked: Asked) -> str:
    return hashlib.sha256(safe_noun(asked).model_dump_json(exclude={"held"}).encode()).hexdigest()


async def work(
    home: Path, *, runs_at_once: int = 4, until_empty: bool = False, metrics_port: int | None = None
) -> None:
    """Carry out queued runs until SIGTERM or SIGINT, or until the queue is empty."""
    share_threads()
    database = await asyncio.to_thread(_database)
    metrics = WorkerMetrics(metrics_port) if metrics_port is not None else None
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=database.url))
    app.job_manager.fetch_job = _fetch_in_turns(app.connector, runs_at_once, AccessTokens(home))

    @app.task(name=_TASK, queue="runs", retry=_Retry(), pass_context=True)
    async def carry_out(  # the names are those of the job in the database
        context: JobContext, run_id: str, owner: str, *, may_ask: bool = False, answer: str = "", asked: str = ""
    ) -> None:
        OWNER.set(owner)
        own = owner_home(home, owner)
        store = PostgresRuns(database.url, owner, own).store(run_id)

        def reply(now: Asked) -> str | None:
            # To the question that was answered, as often as it is asked, and to no other.
            return answer if asked and _digest(now) == asked else None

        environment = RunEnvironment(own, answer=reply if may_ask else None)
        done = _DONE - {"waiting"} if asked else _DONE
        if (await asyncio.to_thread(store.load)).status not in done:
            await _carry_out(store.run_id, resume_run(store, environment), metrics, context)
        elif (left := await asyncio.to_thread(unfinished, store)) is not None:
            await _carry_out(store.run_id, _answer(store, left, environment), metrics, context)

    try:
        while not await _serve(app, runs_at_once, until_empty=until_empty):
            _log.warning("The database is away; the worker waits for it.")
            await asyncio.sleep(2.0)
    finally:
        await asyncio.to_thread(close_databases)


def _fetch_in_turns(connector: Any, places: int, tokens: AccessTokens) -> Callable[..., Any]:
    """Return a function that fetches a worker's next run, fairly among owners."""
    query = "SELECT * FROM deep_research.fetch_run(%(worker)s, %(places)s, %(alive)s, %(most)s, %(shared)s)"
    told = {"places": places, "alive": _STALLED_SECONDS, "most": _MOST_OF_AN_OWNER}

    async def fetch(queues: object, worker_id: int) -> Job | None:
        del queues  # there is one
        shared = tokens.has_several_owners()
        row = await connector.execute_query_one_async(query, worker=worker_id, shared=shared, **told)
        return Job.from_row(row) if row["id"] is not None else None

    return fetch


async def _serve(app: "procrastinate.App", runs_at_once: int, *, until_empty: bool) -> bool:
    """Work until the end; return False when the database went away."""
    try:
        async with app.open_async():
            rescuing = asyncio.create_task(_rescue(app))
            working = asyncio.ensure_future(
                app.run_worker_async(
                    queues=["runs"],
                    concurrency=runs_at_once,
                    fetch_job_polling_interval=1.0,
                    update_heartbeat_interval=_HEARTBEAT_SECONDS,
                    stalled_worker_timeout=_STALLED_SECONDS,
                    shutdown_graceful_timeout=_DRAIN_SECONDS,
                    delete_jobs="successful",
                )
            )
            emptying = asyncio.ensure_future(_wait_until_empty()) if until_empty else None
            try:
                await asyncio.wait({working, *filter(None, [emptying])}, return_when=asyncio.FIRST_COMPLETED)
                if working.done():
                    await working
            finally:
                ended = [task for task in (rescuing, working, emptying) if task is not None and task.cancel()]
                await asyncio.wait(ended or [rescuing])
    except ConnectorException:
        return False
    return True


async def _wait_until_empty() -> None:
    """Wait until no run is queued, including runs that cannot be fetched yet."""
    query = f"SELECT 1 FROM procrastinate_jobs WHERE {_OPEN} LIMIT 1"  # noqa: S608 - our own words
    while await asyncio.to_thread(_database().rows, query):  # noqa: ASYNC110 - other processes work at it
        await asyncio.sleep(1.0)


async def _rescue(app: "procrastinate.App") -> None:
    """Requeue the runs of dead workers periodically; give up runs that kill workers."""
    while True:
        with suppress(ConnectorException):
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=_STALLED_SECONDS):
                counted = await asyncio.to_thread(_database().rows, _COUNT_DEATH, (job.id, job.attempts))
                deaths = counted[0][0] if counted else 0  # another worker has put it back
                if 0 < deaths <= _MOST_DEATHS:
                    _log.warning("A worker died; its run is taken up again: %s", job.task_kwargs)
                    await app.job_manager.retry_job(job)
                elif deaths:
                    _log.error("Worker after worker died; the run is given up: %s", job.task_kwargs)
                    await asyncio.to_thread(_give_up, str(job.task_kwargs["run_id"]))
                    await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
        await asyncio.sleep(_HEARTBEAT_SECONDS)


def _give_up(run_id: str) -> None:
    why = f"The workers that carried it out died, {_MOST_DEATHS} and more: it may need more memory than they have."
    with suppress(errors.RunNotFound):
        _note_end(PostgresRuns(_database().url).store(run_id), status="failed", error=why)


async def _answer(store: RunStore, left: FollowUp, environment: RunEnvironment) -> Report | None:
    return (await ask_follow_up(store, left.question, environment)).report


async def _carry_out(
    run_id: str, work: Coroutine[Any, Any, Report | None], metrics: "WorkerMetrics | None", context: JobContext
) -> None:
    """Do the work of a run. Raises errors for `_Retry`, JobAborted on a user's stop."""
    status, report = "failed", None
    _log.info("The run %s begins or goes on.", run_id)
    if metrics is not None:
        metrics.begin()
    try:
        report = await work
        status = "finished"
    except (errors.NeedsAnswer, errors.Declined, errors.RunTakenOver) as ended:
        status = type(ended).__name__
    except asyncio.CancelledError:
        if context.abort_reason() is AbortReason.USER_REQUEST:
            status = "stopped"
            raise JobAborted from None
        status = "drained"
        raise _Drained from None
    except (errors.RunBusy, errors.StoreError) as later:
        status = type(later).__name__
        raise
    except errors.ResearchError as error:  # the record says it
        _log.info("The run %s ended without a report: %s", run_id, error.message)
    finally:
        if metrics is not None:
            metrics.end(status, report)
        _log.info("The run %s: %s.", run_id, status)


class JsonLines(logging.Formatter):
    """Writes a log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = f"{record.exc_info[0].__name__}: {record.exc_info[1]}"
        return mask_record(json.dumps(told, ensure_ascii=False))


def log_as_json() -> None:
    """Send the program's log records to standard error, each as a line of JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


class WorkerMetrics:
    """Counts what a worker does."""

    def __init__(self, port: int) -> None:
        """Serve the metrics on `port` of 127.0.0.1. Raises ConfigError without the extra."""
        try:
            from prometheus_client import Counter, Gauge, Histogram, start_http_server  # noqa: PLC0415 - an extra
        except ImportError as error:
            message = "Metrics need the extra `metrics`: pip install 'deep-research-server[metrics]'."
            raise errors.ConfigError(message, setting="metrics-port", value=port) from error
        self._runs = Counter("deep_research_runs", "Runs by how their sitting ended.", ["status"])
        self._active = Gauge("deep_research_active_runs", "Runs that this worker carries out at the moment.")
        self._seconds = Histogram("deep_research_run_seconds", "Work at a run.", buckets=(5, 15, 60, 180, 600, 1800))
        self._spent = Counter("deep_research_spent", "Model calls, tokens, dollars, searches and sources.", ["what"])
        start_http_server(port, addr="127.0.0.1")

    def begin(self) -> None:
        """Count a run that begins, or goes on."""
        self._active.inc()

    def end(self, status: str, report: Report | None = None) -> None:
        """Count a run whose sitting has ended."""
        self._active.dec()
        self._runs.labels(status).inc()
        if report is not None:
            self._seconds.observe(report.ledger.seconds)
            for what, amount in report.ledger.model_dump(exclude={"seconds"}).items():
                self._spent.labels(what).inc(amount or 0)
