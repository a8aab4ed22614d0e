"""Let gpt-researcher answer the rig's question, in a Python that has it: rig_peer.py RUNS [REPORT_TYPE].

The environment says where model, retriever and embeddings are (rig.py sets it). Prints one JSON object.
"""

import asyncio
import json
import resource
import sys
import time

QUESTION = "How far have the ways of generating electricity from the sea been developed?"


class _Watchdog:
    longest = 0.0

    async def watch(self) -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.002)
            self.longest = max(self.longest, time.monotonic() - began - 0.002)


async def _research(kind: str) -> str:
    from gpt_researcher import GPTResearcher

    peer = GPTResearcher(QUESTION, report_type=kind, verbose=False)
    await peer.conduct_research()
    return await peer.write_report()


async def _all(runs: int, kind: str) -> tuple[list[object], float]:
    watchdog = _Watchdog()
    watching = asyncio.create_task(watchdog.watch())
    try:
        done = await asyncio.gather(*(_research(kind) for _ in range(runs)), return_exceptions=True)
    finally:
        watching.cancel()
    return done, watchdog.longest


def main() -> None:
    runs, kind = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "research_report"
    __import__("gpt_researcher")
    began, worked = time.monotonic(), time.process_time()
    reports, stall = asyncio.run(_all(runs, kind))
    figures = {
        "wall_seconds": time.monotonic() - began,
        "cpu_seconds": (time.process_time() - worked) / runs,
        "max_stall_ms": stall * 1000,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "reports": sum(isinstance(report, str) for report in reports),
        "failures": sorted({str(report) for report in reports if isinstance(report, BaseException)}),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
