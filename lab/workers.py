"""Let workers do a queue of runs, kill them one by one, and count the results.

    python lab/workers.py --workers 3 --runs 60 --every 4

A real PostgreSQL from a wheel, worker processes by the command, runs without a model over a small folder. With
`--owners 50,5` two owners queue as many runs; `--away 20` stops the database for so many seconds in between.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import psycopg
from tests.cli.terminal import COMMAND
from tests.runs.running import engines
from tests.support.postgres import postgres_server

QUESTION = "Which kinds of engines are there, and how do they differ?"
_MOST_SECONDS = 1_500.0


class Fleet:
    """Worker processes, of which each that is killed is replaced."""

    def __init__(self, count: int, environment: dict[str, str]) -> None:
        self.environment = environment
        self.workers = [self._start() for _ in range(count)]
        self.killed = 0

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [str(COMMAND), "worker", "--runs", "2"]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill_one(self, draw: random.Random) -> None:
        """Kill a worker as the machine's end would, and start another."""
        place = draw.randrange(len(self.workers))
        self.workers[place].send_signal(signal.SIGKILL)
        self.workers[place].wait()
        self.workers[place] = self._start()
        self.killed += 1

    def stop(self) -> list[int]:
        """Tell all to stop; return their exit codes."""
        for worker in self.workers:
            worker.terminate()
        return [worker.wait(timeout=60) for worker in self.workers]


def queue_runs(owners: list[int], docs: Path, environment: dict[str, str]) -> list[str]:
    """Queue the given number of runs per owner, owner by owner; return the run ids."""
    os.environ.update(environment)
    from deep_research import api, settings
    from deep_research.state_files import OWNERS

    made: list[str] = []
    for owner, count in enumerate(owners):
        home = settings.home() / OWNERS / f"owner{owner}"
        for _ in range(count):
            named = settings.load_settings(model_provider="finder", allow_clarification=False)
            run = api.start_run(QUESTION, named, docs=[docs], home=home)
            run.enqueue()
            made.append(run.id)
    return made


def main() -> int:
    """Print figures as one JSON line; return 1 if a run did not end or ended twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--owners", default="")
    parser.add_argument("--every", type=float, default=4.0, help="seconds between kills; 0: none")
    parser.add_argument("--away", type=float, default=0.0, help="seconds without database")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    owners = [int(n) for n in given.owners.split(",")] if given.owners else [given.runs]
    draw = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(prefix="dr-pg-") as data:
        os.chmod(data, 0o777)
        docs = engines(Path(folder) / "docs")
        with postgres_server(Path(data) / "db") as url:
            environment = {**os.environ, "DEEP_RESEARCH_HOME": f"{folder}/home", "DEEP_RESEARCH_DATABASE_URL": url}
            queue_runs(owners, docs, environment)
            begun = time.monotonic()
            fleet = Fleet(given.workers, environment)
            ended = _watch(url, sum(owners), fleet, given.every, given.away, draw, Path(data) / "db")
            codes = fleet.stop()
            figures = _figures(url, begun, ended, owners)
            print(json.dumps({"runs": sum(owners), "killed": fleet.killed, "exit_codes": codes, **figures}))
    return 0 if figures["finished"] == sum(owners) and not figures["reported_twice"] else 1


def _watch(
    url: str, runs: int, fleet: Fleet, every: float, away: float, draw: random.Random, data: Path
) -> dict[str, float]:
    """Wait for all runs to end, killing workers meanwhile; return their end times."""
    ended: dict[str, float] = {}
    started = last = time.monotonic()
    was_away = not away
    while len(ended) < runs and time.monotonic() - started < _MOST_SECONDS:
        time.sleep(0.25)
        now = time.monotonic()
        if every and now - last >= every:
            last = now
            fleet.kill_one(draw)
        if not was_away and now - started > 8:
            was_away = True
            _take_away(data, away)
        try:
            with psycopg.connect(url) as connection:
                rows = connection.execute("SELECT run_id FROM deep_research.runs WHERE status = 'finished'").fetchall()
        except psycopg.OperationalError:
            continue
        for (run_id,) in rows:
            ended.setdefault(run_id, now)
    return ended


def _take_away(data: Path, seconds: float) -> None:
    """Stop the database server's processes from answering for a while."""
    process = int((data / "postmaster.pid").read_text().split()[0])
    children = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True, check=False).stdout.split()
    everyone = [process, *map(int, children)]
    for one in everyone:
        os.kill(one, signal.SIGSTOP)
    time.sleep(seconds)
    for one in everyone:
        os.kill(one, signal.SIGCONT)


def _figures(url: str, begun: float, ended: dict[str, float], owners: list[int]) -> dict[str, object]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT run_id, owner, status FROM deep_research.runs").fetchall()
        events = connection.execute("SELECT run_id, line FROM deep_research.events ORDER BY run_id, number").fetchall()
        numbers = connection.execute(
            "SELECT run_id, count(*), max(number) FROM deep_research.events WHERE part = '' GROUP BY run_id"
        ).fetchall()
    ready = [run_id for run_id, line in events if '"report_ready"' in line]
    waits = {
        f"owner{n}": round(
            statistics.median([ended[r] - begun for r, o, _ in rows if o == f"owner{n}" and r in ended]), 1
        )
        for n in range(len(owners))
    }
    return {
        "finished": sum(status == "finished" for _, _, status in rows),
        "reported_twice": len(ready) - len(set(ready)),
        "events_with_holes": sum(count != last for _, count, last in numbers),
        "resumed": sum('"resumed":true' in line for _, line in events),
        "median_seconds_to_end": waits,
        "seconds": round(max(ended.values(), default=begun) - begun, 1),
    }


if __name__ == "__main__":
    sys.exit(main())
