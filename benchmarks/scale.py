"""What a run costs in PostgreSQL, how fast the queue is, and what follows for 10, 1,000 and 100,000 runs a day.

    python benchmarks/scale.py [--queued 2000]

A run with the scripted model, searches and pages on 127.0.0.1, its rows, bytes, transactions and CPU seconds counted by
the database and the operating system; then as many queued jobs that do nothing, taken by one worker. Prints JSON.
"""

import argparse
import asyncio
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import procrastinate
import psycopg
from tests.model.harness import PLAN, QUESTION
from tests.runs.running import engines, run
from tests.support.postgres import new_database, postgres_server
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_researcher import ScriptedResearcher

_TABLES = ("runs", "calls", "notes", "events", "sources", "snapshots", "texts")
_SAVER = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
_DAY = 86_400
_RUN_SECONDS, _PEAK, _AT_ONCE = 300.0, 3.0, 8
"""Seconds of a usual run with a real model (most of them waiting), busiest hour against the average, runs of a worker."""


def cost_of_run(url: str, folder: Path, runs: int = 3) -> dict[str, Any]:
    """Return what a run costs on average, the first one apart (it makes the tables)."""
    docs = engines(folder / "docs")
    with ScriptedProvider(ScriptedResearcher(sections=PLAN, sentences=4)) as provider:
        os.environ.update(
            OPENAI_COMPATIBLE_BASE_URL=provider.base_url, OPENAI_COMPATIBLE_API_KEY="x", DEEP_RESEARCH_DATABASE_URL=url
        )

        def one() -> None:
            run(QUESTION, home=folder / "home", docs=[docs], model_provider="compatible", model_name="scripted")

        one()
        before, cpu = _state(url), _cpu()
        for _ in range(runs):
            one()
        after = _state(url)
        seconds = (_cpu() - cpu) / runs
    return {
        "rows": {name: (after[name][0] - before[name][0]) / runs for name in (*_TABLES, *_SAVER)},
        "kilobytes": {name: round((after[name][1] - before[name][1]) / runs / 1000, 1) for name in (*_TABLES, *_SAVER)},
        "transactions": round((after["transactions"][0] - before["transactions"][0]) / runs),
        "cpu_seconds_of_the_worker": round(seconds, 2),
    }


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _state(url: str) -> dict[str, tuple[int, int]]:
    time.sleep(1.2)  # the statistics of a session are sent once a second
    found: dict[str, tuple[int, int]] = {}
    with psycopg.connect(url, autocommit=True) as connection:
        for name in (*_TABLES, *_SAVER):
            table = f"deep_research.{name}" if name in _TABLES else name
            rows = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
            size = connection.execute("SELECT pg_total_relation_size(%s)", (table,)).fetchone()
            found[name] = (rows[0] if rows else 0, size[0] if size else 0)
        done = connection.execute(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
        found["transactions"] = (done[0] if done else 0, 0)
    return found


async def queue_speed(url: str, jobs: int) -> dict[str, float]:
    """Return how many jobs a second are queued one by one, and taken by one worker of 16 at a time."""
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))
    done = 0

    @app.task(name="nothing", queue="runs")
    async def nothing() -> None:
        nonlocal done
        done += 1

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        begun = time.monotonic()
        for number in range(jobs):
            await app.configure_task("nothing", lock=f"o{number % 500}/{number % 10}", priority=-number).defer_async()
        queued = time.monotonic()
        await app.run_worker_async(concurrency=16, wait=False, install_signal_handlers=False, delete_jobs="always")
        ended = time.monotonic()
    assert done == jobs, done
    return {
        "jobs": jobs,
        "queued_per_second": round(jobs / (queued - begun)),
        "taken_per_second": round(jobs / (ended - queued)),
    }


def model(cost: dict[str, Any], taken_per_second: float) -> list[dict[str, float]]:
    """Return what is needed for so many runs a day."""
    kilobytes = sum(cost["kilobytes"].values())
    found: list[dict[str, float]] = []
    for runs in (10, 1_000, 100_000):
        peak = runs / _DAY * _PEAK
        at_once = peak * _RUN_SECONDS
        cpu = peak * cost["cpu_seconds_of_the_worker"]
        found.append(
            {
                "runs_a_day": runs,
                "runs_at_once": round(at_once, 1),
                "workers": max(1, round(max(at_once / _AT_ONCE, cpu) + 0.5)),
                "transactions_a_second": round(peak * cost["transactions"], 1),
                "gigabytes_a_month": round(runs * 30 * kilobytes / 1e6, 2),
                "share_of_the_queue": round(peak / taken_per_second, 4),
            }
        )
    return found


def main() -> int:
    """Print the figures as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queued", type=int, default=2_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(prefix="dr-pg-") as data:
        os.chmod(data, 0o777)
        with postgres_server(Path(data) / "db") as server:
            with new_database(server) as url:
                cost = cost_of_run(url, Path(folder))
            with new_database(server) as url:
                speed = asyncio.run(queue_speed(url, given.queued))
    print(json.dumps({"run": cost, "queue": speed, "model": model(cost, speed["taken_per_second"])}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
