"""What the database gives whom: connections to those who write to the queue, the places of the workers to owners."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from deep_research import api
from deep_research.errors import StoreError
from deep_research.runs.steering_inbox import stop
from deep_research.stores.run_store import RunRecord, RunStore
from deep_research_server.access_tokens import AccessTokens
from deep_research_server.postgres.postgres_database import database_at
from deep_research_server.postgres.postgres_runs import PostgresRuns
from deep_research_server.workers import run_queue

psycopg = pytest.importorskip("psycopg", reason="no PostgreSQL here: pip install 'deep-research[postgres]'")
procrastinate = pytest.importorskip("procrastinate", reason="no queue here: pip install 'deep-research[worker]'")
pytestmark = pytest.mark.process


def make_run(url: str, run_id: str, owner: str = "") -> RunStore:
    return PostgresRuns(url, owner).create(
        RunRecord(run_id=run_id, question="Why?", language="en", status="stopped", created="2026")
    )


async def fetched(url: str, home: Path, places: list[int]) -> list[str]:
    """Return the owners of the runs that workers of so many places get, when all ask at once for as long as there are any."""
    async with procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url)).open_async() as app:
        fetches = [run_queue._fetch_in_turns(app.connector, each, AccessTokens(home)) for each in places]
        got: list[str] = []

        async def fill(fetch: Callable[..., Any], most: int) -> None:
            worker = await app.job_manager.register_worker()
            jobs = [await fetch(["runs"], worker) for _ in range(most)]
            got.extend(str(job.task_kwargs["owner"]) for job in jobs if job is not None)

        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for each in zip(fetches, places, strict=True):
                group.create_task(fill(*each))
    return got


@pytest.mark.parametrize(
    ("queued", "tokens", "places", "got"),
    [
        ("aaaaaa", "", [4], "aaaa"),  # alone: all places
        ("aaaaaa", "ab", [4], "aaa"),  # the last is for another
        ("aaaaaab", "", [4], "aaab"),  # who needs no token to be one
        ("aaaaaab", "ab", [2, 1, 1], "aaab"),  # wherever the places are
        ("a" * 14 + "bb", "ab", [16], "a" * 10 + "bb"),
    ],
)
async def test_no_owner_gets_all_places(
    url: str, tmp_path: Path, queued: str, tokens: str, places: list[int], got: str
) -> None:
    await asyncio.to_thread(run_queue.queue_state, "")
    await fetched(url, tmp_path, [50])  # places of a worker that died since
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE procrastinate_workers SET last_heartbeat = '-infinity'")
    for owner in tokens:
        AccessTokens(tmp_path).create(owner)
    for number, owner in enumerate(queued):
        run_queue.enqueue_run(await asyncio.to_thread(make_run, url, f"r{number}", owner))
    assert "".join(sorted(await fetched(url, tmp_path, places))) == got


def test_whoever_writes_to_the_queue_opens_no_connections_of_its_own(url: str) -> None:
    stores = [make_run(url, f"r{number}") for number in range(16)]
    over, counts = threading.Event(), [0]

    def count() -> None:
        query = (
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        with psycopg.connect(url, autocommit=True) as connection:
            while not over.wait(0.002):
                counts.extend(connection.execute(query).fetchone())

    def queue_and_stop(store: RunStore) -> bool:
        run_queue.enqueue_run(store)
        return stop(store) and not run_queue.is_queued(store)

    counting = threading.Thread(target=count)
    counting.start()
    try:
        with ThreadPoolExecutor(16) as threads:
            assert all(threads.map(queue_and_stop, stores))
            assert not any(threads.map(run_queue.dequeue_run, stores))
    finally:
        over.set()
        counting.join()
    assert 0 < max(counts) <= 8


def test_a_run_that_many_delete_at_once_is_deleted_and_holds_nobody_up(url: str, tmp_path: Path) -> None:
    for number in range(6):
        run_id = make_run(url, f"r{number}").run_id
        together = threading.Barrier(12)

        def delete(run_id: str, together: threading.Barrier) -> None:
            together.wait()
            api.delete_runs([run_id], home=tmp_path)

        with ThreadPoolExecutor(12) as threads:
            for done in [threads.submit(delete, run_id, together) for _ in range(12)]:
                done.result(timeout=60)
    assert api.list_runs(home=tmp_path) == []


def test_a_second_connection_is_refused_to_who_holds_one(url: str) -> None:
    database = database_at(url)
    with pytest.raises(RuntimeError, match="holds a connection"):
        database.run(lambda _connection: database.rows("SELECT 1"))
    with pytest.raises(StoreError):
        database.rows("SELECT 1 FROM nowhere")
    assert database.rows("SELECT 1") == [(1,)]
