"""How much earlier a run ends that reviews each section as soon as it is written, than one that waits for all.

    python benchmarks/streaming.py [--seeds 20] [--scale 0.25] [--weak 2] [--first 0]

The run of the rig (rig_pages.py: 5 sections) with a scripted model whose calls take 1 s in the median and 10 s
one time in twenty, drawn by seed and request; `--scale` makes all of it faster. `--weak` sections, drawn by the
seed, are found weak at their first review and are researched again with other searches. For each seed the run
is made with `streaming_review` and without it. Sections that take too long are not closed here
(`section_patience` is 0): everything is researched and written in both.
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
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from deep_research.runs import run as runs
from deep_research.settings import Settings
from deep_research.testing.scripted_provider import ScriptedProvider
from deep_research.testing.scripted_replies import Reply, Request
from deep_research.testing.scripted_researcher import ScriptedResearcher
from rig import serving, warm
from rig_pages import PLAN, QUESTION, SyntheticWeb

SLOW_SHARE, SLOW_SECONDS, SPREAD = 0.05, 10.0, 0.25
TARGET = 0.25
"""Share of the time that streaming is to save, median of the seeds."""


def seconds_of(request: Request, seed: int) -> float:
    """Return how long a call takes: the same for the same request and seed, whenever it is made."""
    drawn = random.Random(f"{seed}\0{sorted(request['tools'])}\0{request['schema_name']}\0{request['prompt']}")
    return SLOW_SECONDS if drawn.random() < SLOW_SHARE else drawn.lognormvariate(0.0, SPREAD)


def serve(seed: int, scale: float, weak: int) -> None:
    """Be the scripted model until standard input ends."""
    retry = random.Random(seed).sample(sorted(PLAN), weak)
    researcher = ScriptedResearcher(sections=PLAN, sentences=9, retry=retry)

    def script(request: Request) -> Reply:
        return replace(researcher(request), latency_seconds=scale * seconds_of(request, seed))

    with ScriptedProvider(script) as server:
        print(server.base_url, flush=True)
        for _ in sys.stdin:
            print(json.dumps({"calls": len(server.calls)}), flush=True)


def measure(seed: int, scale: float, weak: int, *, streaming: bool) -> dict[str, Any]:
    """Do one run and return what it took, in seconds of the unscaled latencies."""
    options = (f"--seed={seed}", f"--scale={scale}", f"--weak={weak}")
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
        report = asyncio.run(runs.carry_out(folder, home=Path(name), listener=lambda _: None, places=[SyntheticWeb()]))
        wall = time.monotonic() - began
        calls = model.figures()["calls"]
    completed = sum(section.status == "completed" for section in report.sections)
    return {"seconds": wall / scale, "calls": calls, "sections": completed}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--scale", type=float, default=0.25, help="by which the latencies are multiplied")
    parser.add_argument("--weak", type=int, default=2, help="sections found weak at their first review")
    parser.add_argument("--serve", action="store_true", help="be the scripted model alone")
    parser.add_argument("--seed", type=int, default=0, help="with --serve")
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.seed, arguments.scale, arguments.weak)
        return 0
    warm()
    rows = []
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        with_, without = (
            measure(seed, arguments.scale, arguments.weak, streaming=streaming) for streaming in (True, False)
        )
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
