"""How much earlier a run ends that reviews each section as soon as it is written, than one that waits for all.

    python benchmarks/streaming.py [--seeds 20] [--scale 1] [--jobs 1] [--first 0]

A run of seven sections against the rig's search engine, with a scripted model whose calls take 1 s in the median and
10 s one time in twenty; `--scale` makes all of it faster (below 0.5 the program's own time shows). A review finds a
section weak half of the time, twice at most; then it is researched again with other searches. All of this is drawn
by the seed, so that both runs of a seed have the same calls of the same length (the reviews apart): with
`streaming_review` as set by default, and without it: a barrier before each review.
The last line is one JSON object.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of

from deep_research import api
from deep_research.settings import Settings
from rig import Scenario, serving, settings_of, warm
from rig_pages import PLAN, QUESTION
from rig_server import MORE_SECTIONS, SearchEngine

PLAN = PLAN | MORE_SECTIONS
SLOW_SHARE, SLOW_SECONDS, SPREAD = 0.05, 10.0, 0.25
WEAK_SHARE, TWICE = 0.5, 2
TARGET = 0.25
"""Share of the time that streaming is to save against a barrier, median of the seeds."""
VARIANTS = {"streaming": True, "barrier": False}
"""Whether sections are reviewed as soon as they are written. None is closed before it is done."""


class Latencies:
    """How long each call takes, drawn by seed, step, section and how often that came before: the same in both runs."""

    def __init__(self, seed: int, scale: float) -> None:
        self._seed, self._scale = seed, scale
        self._came: Counter[str] = Counter()

    def of(self, call: str) -> float:
        """Return the seconds of the next call of that kind."""
        self._came[call] += 1
        drawn = random.Random(f"{self._seed} {call} {self._came[call]}")
        slow = drawn.random() < SLOW_SHARE
        return self._scale * (SLOW_SECONDS if slow else drawn.lognormvariate(0.0, SPREAD))


def weak_sections(seed: int) -> list[str]:
    """Return the sections that are sent back: each review finds a section weak half of the time, twice at most."""
    drawn = random.Random(f"{seed} weak")
    return [title for title in PLAN for _ in range(TWICE) if drawn.random() < WEAK_SHARE]


def serve(seed: int, scale: float) -> None:
    """Be the scripted model until standard input ends."""
    researcher = ScriptedResearcher(sections=PLAN, sentences=9, retry=weak_sections(seed))
    latencies = Latencies(seed, scale)

    def script(request: Request) -> Reply:
        reply = researcher(request)
        return replace(reply, latency_seconds=latencies.of(f"{step_of(request)} {researcher.section_of(request)}"))

    with ScriptedProvider(script) as server, SearchEngine(PLAN) as engine:
        print(json.dumps({"model": server.base_url, "web": engine.base_url}), flush=True)
        for _ in sys.stdin:
            print(json.dumps({"calls": len(server.calls)}), flush=True)


def measure(seed: int, scale: float, *, streaming: bool) -> dict[str, Any]:
    """Do one run and return what it took, in seconds of the unscaled latencies."""
    options = ("--serve", f"--seed={seed}", f"--scale={scale}")
    with serving(options, program="streaming.py") as outside, tempfile.TemporaryDirectory() as name:
        os.environ |= {"OPENAI_COMPATIBLE_API_KEY": "none", "TAVILY_API_KEY": "tvly-scripted"}
        given = settings_of(outside.addresses, Scenario(unpaced=True))
        settings = Settings(**given, streaming_review=streaming, section_patience=0)
        run = api.start_run(QUESTION, settings, home=Path(name))
        began = time.monotonic()
        report = asyncio.run(run.carry_out())
        wall = time.monotonic() - began
        calls = outside.figures()["calls"]
    assert all(section.status == "completed" for section in report.sections)
    return {"seconds": wall / scale, "calls": calls}


def one_seed(seed: int, scale: float) -> dict[str, dict[str, Any]]:
    """Do the runs of a seed and return what they took."""
    row = {name: measure(seed, scale, streaming=streaming) for name, streaming in VARIANTS.items()}
    took = " · ".join(f"{name} {run['seconds']:5.1f} s" for name, run in row.items())
    print(f"seed {seed:>3}: {took}", flush=True)
    return row


def figures(rows: Sequence[dict[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return the medians of all variants, and the shares by which they end earlier than with a barrier."""
    found: dict[str, Any] = {"seeds": len(rows)}
    for name in VARIANTS:
        found[f"{name}_seconds"] = round(statistics.median(row[name]["seconds"] for row in rows), 1)
        found[f"{name}_calls"] = statistics.median(row[name]["calls"] for row in rows)
    earlier = [1 - row["streaming"]["seconds"] / row["barrier"]["seconds"] for row in rows]
    found["streaming_earlier"] = round(statistics.median(earlier), 3)
    found["streaming_earlier_range"] = [round(min(earlier), 3), round(max(earlier), 3)]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--scale", type=float, default=1.0, help="by which the latencies are multiplied")
    parser.add_argument("--jobs", type=int, default=1, help="seeds measured at the same time")
    parser.add_argument("--serve", action="store_true", help="be the scripted model alone")
    parser.add_argument("--seed", type=int, default=0, help="with --serve")
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.seed, arguments.scale)
        return 0
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    with ProcessPoolExecutor(arguments.jobs, initializer=warm) as pool:
        rows = list(pool.map(partial(one_seed, scale=arguments.scale), seeds))
    found = figures(rows)
    print(json.dumps(found))
    return 0 if found["streaming_earlier"] >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
