"""How much earlier a run ends that reviews each section as soon as it is written, than one that waits for all.

    python benchmarks/streaming.py [--seeds 20] [--scale 0.25] [--first 0]

A run of seven sections over the rig's synthetic web, with a scripted model whose calls take 1 s in the median and
10 s one time in twenty; `--scale` makes all of it faster. A review finds a section weak half of the time, twice
at most; then it is researched again with other searches. All of this is drawn by the seed, so that both runs of a
seed, with `streaming_review` and without it, have the same calls of the same length (the reviews apart).
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
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from deep_research.runs import run as runs
from deep_research.settings import Settings
from deep_research.testing.scripted_provider import ScriptedProvider
from deep_research.testing.scripted_replies import Reply, Request
from deep_research.testing.scripted_researcher import ScriptedResearcher, step_of
from rig import serving, warm
from rig_pages import PLAN, QUESTION, SyntheticWeb, searches_of

PLAN = PLAN | searches_of({
    "Tidal barrages": ("sluice gates", "bulb turbines", "sediment", "fish passage"),
    "Ocean currents": ("moored turbines", "deep sea cables", "drag", "biofouling"),
})  # fmt: skip

SLOW_SHARE, SLOW_SECONDS, SPREAD = 0.05, 10.0, 0.25
WEAK_SHARE, TWICE = 0.5, 2
TARGET = 0.25
"""Share of the time that streaming is to save, median of the seeds."""


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

    with ScriptedProvider(script) as server:
        print(server.base_url, flush=True)
        for _ in sys.stdin:
            print(json.dumps({"calls": len(server.calls)}), flush=True)


def measure(seed: int, scale: float, *, streaming: bool) -> dict[str, Any]:
    """Do one run and return what it took, in seconds of the unscaled latencies."""
    options = (f"--seed={seed}", f"--scale={scale}")
    with serving(__file__, *options) as model, tempfile.TemporaryDirectory() as name:
        os.environ |= {"OPENAI_COMPATIBLE_BASE_URL": model.address, "OPENAI_COMPATIBLE_API_KEY": "none"}
        settings = Settings(
            model_provider="compatible",
            model_name="scripted",
            allow_clarification=False,
            streaming_review=streaming,
        )
        folder = runs.create(QUESTION, home=Path(name), settings=settings, docs=[name])
        began = time.monotonic()
        report = asyncio.run(
            runs.carry_out(folder, home=Path(name), listener=lambda _: None, places=[SyntheticWeb(PLAN)])
        )
        wall = time.monotonic() - began
        calls = model.figures()["calls"]
    completed = sum(section.status == "completed" for section in report.sections)
    return {"seconds": wall / scale, "calls": calls, "sections": completed}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--scale", type=float, default=0.25, help="by which the latencies are multiplied")
    parser.add_argument("--serve", action="store_true", help="be the scripted model alone")
    parser.add_argument("--seed", type=int, default=0, help="with --serve")
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.seed, arguments.scale)
        return 0
    warm()
    rows = []
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        with_, without = (measure(seed, arguments.scale, streaming=streaming) for streaming in (True, False))
        earlier = 1 - with_["seconds"] / without["seconds"]
        rows.append((with_, without, earlier))
        print(
            f"seed {seed:>3}: streaming {with_['seconds']:6.1f} s, {with_['calls']} calls · "
            f"barrier {without['seconds']:6.1f} s, {without['calls']} calls · {earlier:6.1%} earlier",
            flush=True,
        )
    found = {
        "seeds": len(rows),
        "streaming_seconds": round(statistics.median(row[0]["seconds"] for row in rows), 1),
        "barrier_seconds": round(statistics.median(row[1]["seconds"] for row in rows), 1),
        "earlier_median": round(statistics.median(row[2] for row in rows), 3),
        "earlier_least": round(min(row[2] for row in rows), 3),
        "earlier_most": round(max(row[2] for row in rows), 3),
        "streaming_calls": statistics.median(row[0]["calls"] for row in rows),
        "barrier_calls": statistics.median(row[1]["calls"] for row in rows),
    }
    print(json.dumps(found))
    return 0 if found["earlier_median"] >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
