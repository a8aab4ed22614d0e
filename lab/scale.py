"""Measure the PostgreSQL cost of a run and the queue speed, and extrapolate.

The estimates are for 10, 1,000 and 100,000 runs a day.

    python lab/scale.py [--queued 2000] [--simulate 2000]

A run with the scripted model, searches and pages on 127.0.0.1, its rows, bytes, transactions and CPU seconds counted by
the database and the operating system; then as many queued jobs that do nothing, taken by one worker. Prints JSON.
`--simulate` instead queues so many quick runs on the scripted model for three owners and lets two worker processes carry
them out, with a ceiling of requests over both.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import procrastinate
import psycopg
from tests.cli.terminal import COMMAND
from tests.model.harness import PLAN, QUESTION
from tests.runs.running import engines, run
from tests.support.postgres import new_database, postgres_server
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_researcher import ScriptedResearcher

from deep_research.providers.provider_limits import REQUESTS
from deep_research.state_files import OWNERS

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
    """Return jobs per second queued one by one, and taken by a worker 16 at a time."""
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


def simulate(url: str, folder: Path, runs: int) -> dict[str, Any]:
    """Return how many queued runs finished, how fast, and the model server's figures."""
    docs = engines(folder / "docs")
    researcher = ScriptedResearcher(sections=PLAN, sentences=2)
    with ScriptedProvider(researcher, latency_seconds=0.02) as provider:
        os.environ.update(
            OPENAI_COMPATIBLE_BASE_URL=provider.base_url,
            OPENAI_COMPATIBLE_API_KEY="x",
            DEEP_RESEARCH_DATABASE_URL=url,
            DEEP_RESEARCH_HOME=str(folder / "home"),
        )
        begun = time.monotonic()
        _queue_quick_runs(runs, docs, folder / "home")
        queued = time.monotonic()
        command = [str(COMMAND), "worker", "--runs", "8", "--until-empty"]
        workers = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        codes = [worker.wait() for worker in workers]
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = time.monotonic() - queued
        asked, peak = len(provider.calls), provider.peak_in_flight
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT status, count(*) FROM deep_research.runs GROUP BY status").fetchall()
        size = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        twice = connection.execute(
            "SELECT count(*) FROM (SELECT run_id FROM deep_research.events WHERE line LIKE '%\"report_ready\"%'"
            " GROUP BY run_id HAVING count(*) > 1) t"
        ).fetchone()
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return {
        "runs": runs,
        "by_status": dict(rows),
        "reported_twice": twice[0] if twice else None,
        "exit_codes": codes,
        "queued_per_second": round(runs / (queued - begun), 1),
        "seconds": round(seconds),
        "runs_per_second": round(runs / seconds, 2),
        "cpu_seconds_of_a_run": round(cpu / runs, 3),
        "model_calls": asked,
        "most_requests_at_once": peak,
        "ceiling": REQUESTS,
        "kilobytes_of_a_run": round(size[0] / runs / 1000) if size else None,
        "load": os.getloadavg()[0],
    }


def _queue_quick_runs(runs: int, docs: Path, home: Path) -> None:
    """Queue quick runs for three owners, of which one has half of them."""
    from deep_research import api, settings

    named = settings.load_settings(
        model_provider="compatible", model_name="scripted", workflow="quick", allow_clarification=False,
    )  # fmt: skip
    for number in range(runs):
        owner = home / OWNERS / f"owner{min(number % 4, 2)}"
        api.start_run(QUESTION, named, docs=[docs], home=owner).enqueue()


def main() -> int:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queued", type=int, default=2_000)
    parser.add_argument("--simulate", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(prefix="dr-pg-") as data:
        os.chmod(data, 0o777)
        with postgres_server(Path(data) / "db") as server:
            if given.simulate:
                with new_database(server) as url:
                    print(json.dumps(simulate(url, Path(folder), given.simulate), indent=1))
                return 0
            with new_database(server) as url:
                cost = cost_of_run(url, Path(folder))
            with new_database(server) as url:
                speed = asyncio.run(queue_speed(url, given.queued))
    print(json.dumps({"run": cost, "queue": speed, "model": model(cost, speed["taken_per_second"])}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
