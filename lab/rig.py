"""Measure a run of 5 sections through the front door: calls, tokens, time, CPU.

Time is compared with the critical path; event loop stalls are counted.

    python lab/rig.py [--only content,strict] [--repeat 1] [--peer /path/to/python]

Whole runs, with graph, journal and checkpoints on disk, against a scripted model and a search engine with Tavily's
interface in a process of their own (rig_server.py), over HTTP. Each scenario runs in a new process, from the library
(several runs at once where it says so) or as the command. `--peer` names a Python that has gpt-researcher, langgraph and
langchain-openai: gpt-researcher, a plain agent and open_deep_research (a checkout on PYTHONPATH, with tavily-python and
langchain-mcp-adapters) then research on the same outside, and write a report as long as ours.
`paid_tokens` counts those of a cached prefix at a tenth. The last line is one JSON object.
"""

import argparse
import asyncio
import compileall
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from rig_pages import QUESTION, SUBJECTS

HERE = Path(__file__).parent
AT_ONCE = ("--latency=0", "--speed=0", "--search-latency=0")
"""The outside answers at once: what is left is the program's own work."""
PEERS = ("research_report", "plain_agent", "open_deep_research")
SLOW = ("--slow-share=0.03", "--slow-factor=10")
FAILING = f"--failing={list(SUBJECTS)[1]}"


@dataclass(frozen=True)
class Scenario:
    """One table row: server behaviour, number of concurrent runs, and how they start.

    `most` are the goals by the names of the figures; `unpaced` lifts the pace of the search engine.
    """

    outside: tuple[str, ...] = ()
    runs: int = 1
    cli: bool = False
    unpaced: bool = False
    unreachable: bool = False
    most: Mapping[str, float] = field(default_factory=dict)


_CHECKED = {"duplicates": 0, "unused_answers": 0, "pages_repeated": 0}
SCENARIOS: dict[str, Scenario] = {
    "content": Scenario(most=_CHECKED | {"model_calls": 35, "prompt_tokens": 100_000, "wall_seconds": 8.0}),
    "strict": Scenario(("--reviewer=strict",), unpaced=True, most=_CHECKED | {"model_calls": 60, "prompt_tokens": 200_000}),
    "unpaced": Scenario(unpaced=True, most={"wall_seconds": 6.5, "wall_over_critical": 1.11}),
    "cli": Scenario(cli=True, most={"wall_seconds": 7.5, "cpu_seconds": 2.0}),
    "slow_tail": Scenario((*SLOW, "--seed=1"), most={"wall_seconds": 12.0}),
    "slow_tail_2": Scenario((*SLOW, "--seed=2"), most={"wall_seconds": 12.0}),
    "failing_section": Scenario((FAILING,)),
    "no_source": Scenario(unreachable=True, most={"model_calls": 5}),
    "one": Scenario(AT_ONCE, unpaced=True, most={"cpu_seconds": 1.0, "max_stall_ms": 50}),
    "ten": Scenario(AT_ONCE, runs=10, unpaced=True, most={"cpu_seconds": 0.8}),
    "fifty": Scenario(AT_ONCE, runs=50, unpaced=True, most={"cpu_seconds": 0.8, "max_stall_ms": 200, "megabytes": 300}),
    "two_hundred": Scenario(AT_ONCE, runs=200, unpaced=True, most={"megabytes": 700, "open_files": 1024}),
}  # fmt: skip


class Watchdog:
    """Measures event loop delays by a tick every 2 ms, and the number of open files."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.busiest = 0.0
        self.open_files = 0

    async def watch(self) -> None:
        """Run until cancelled."""
        counted = 0.0
        while True:
            began, worked = time.monotonic(), time.thread_time()
            await asyncio.sleep(0.002)
            self.longest = max(self.longest, time.monotonic() - began - 0.002)
            self.busiest = max(self.busiest, time.thread_time() - worked)
            if began - counted > 0.25:
                counted = began
                self.open_files = max(self.open_files, len(os.listdir("/proc/self/fd")))


class Server:
    """A process of the rig: prints a line of JSON, then figures per line of input."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.addresses: dict[str, str] = self._line()

    def _line(self) -> Any:
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())

    def figures(self) -> dict[str, Any]:
        """Return what it has served so far."""
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._line()


@contextmanager
def serving(options: Sequence[str], *, program: str = "rig_server.py") -> Iterator[Server]:
    """Give the servers of a benchmark in a process whose time is not the run's."""
    command = [sys.executable, str(HERE / program), *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Server(process)
        finally:
            process.terminate()


def warm() -> None:
    """Load what a run with a model and a web source loads."""
    own = (
        "api",
        "graph.workflows",
        "providers.openai_compatible",
        "reasoners.model.model_reasoner",
        "sources.web_engines",
    )
    for name in ("httpx", "jinja2", *(f"deep_research.{name}" for name in own)):
        import_module(name)


def settings_of(addresses: Mapping[str, str], scenario: Scenario) -> dict[str, Any]:
    """Return the settings of a run: everything as installed but for the addresses."""
    tavily: dict[str, Any] = {"base_url": "http://127.0.0.1:9" if scenario.unreachable else addresses["web"]}
    if scenario.unpaced:
        tavily |= {"requests_per_second": 20, "burst": 1000}
    return {
        "model_provider": "compatible",
        "model_name": "scripted",
        "model_base_url": addresses["model"],
        "allow_clarification": False,
        "sources": ["tavily"],
        "source_options": {"tavily": tavily},
    }


async def _reported(events: AsyncIterator[Any]) -> tuple[Any, float]:
    """Return a run's report and the seconds until its first words were shown."""
    began, first, last = time.monotonic(), 0.0, None
    async for last in events:
        if not first and getattr(last, "kind", "") == "report_piece":
            first = time.monotonic() - began
    return last, first


async def _runs_at_once(home: Path, settings: Mapping[str, Any], count: int) -> tuple[list[Any], Watchdog]:
    from deep_research import api

    watchdog = Watchdog()
    watching = asyncio.create_task(watchdog.watch())
    try:
        runs = (_reported(api.stream(QUESTION, home=home, **settings)) for _ in range(count))
        return list(await asyncio.gather(*runs, return_exceptions=True)), watchdog
    finally:
        watching.cancel()


def work(task: Mapping[str, Any]) -> dict[str, Any]:
    """Do the runs of a scenario in this process and return what they took."""
    warm()
    with tempfile.TemporaryDirectory() as name:
        began, worked = time.monotonic(), time.process_time()
        reports, watchdog = asyncio.run(_runs_at_once(Path(name), task["settings"], task["runs"]))
        wall, cpu = time.monotonic() - began, time.process_time() - worked
    done = [report for report in reports if not isinstance(report, BaseException)]
    return {
        "first_words_seconds": statistics.median([first for _, first in done] or [0.0]),
        "wall_seconds": wall,
        "cpu_seconds": cpu / task["runs"],
        "max_stall_ms": watchdog.longest * 1000,
        "max_busy_ms": watchdog.busiest * 1000,
        "open_files": watchdog.open_files,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "ledger_calls": sum(report.ledger.model_calls for report, _ in done),
        "claims": sum(len(report.claims) for report, _ in done),
        "reports": len(done),
        "failures": sorted({f"{type(e).__name__}: {e}" for e in reports if isinstance(e, BaseException)}),
    }


def run_command(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Do one run as a user does it: a new process, the settings in a file."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "settings.toml")
        file.write_text(_toml(settings), "utf-8")
        environment = os.environ | {"DEEP_RESEARCH_CONFIG": str(file), "DEEP_RESEARCH_HOME": name}
        began = time.monotonic()
        command = [sys.executable, "-m", "deep_research", QUESTION]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            assert process.stdout
            said = process.stdout.read().decode("utf-8", "replace")
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - began
    figures = {"wall_seconds": wall, "cpu_seconds": used.ru_utime + used.ru_stime, "megabytes": used.ru_maxrss / 1024}
    failed = [] if process.returncode == 0 else [f"exit {process.returncode}: {said[-400:]}"]
    return figures | {"failures": failed, "reports": int(not failed)}


def _toml(settings: Mapping[str, Any]) -> str:
    """Return settings as TOML; JSON strings, numbers and lists are TOML too."""
    plain = {name: value for name, value in settings.items() if not isinstance(value, dict)}
    rows = [f"{name} = {json.dumps(value)}" for name, value in plain.items()]
    for source, options in settings["source_options"].items():
        rows += [f"[source_options.{source}]", *(f"{name} = {json.dumps(value)}" for name, value in options.items())]
    return "\n".join(rows) + "\n"


def measure(scenario: Scenario) -> dict[str, Any]:
    """Do the runs of a scenario and return its figures."""
    with serving(scenario.outside) as server:
        settings = settings_of(server.addresses, scenario)
        os.environ |= {"OPENAI_COMPATIBLE_API_KEY": "none", "TAVILY_API_KEY": "tvly-scripted"}
        task = {"settings": settings, "runs": scenario.runs}
        own = run_command(settings) if scenario.cli else _in_new_process(task)
        served = server.figures()
    return _figures(own, served)


def _in_new_process(task: Mapping[str, Any]) -> dict[str, Any]:
    command = [sys.executable, __file__, "--work"]
    done = subprocess.run(command, input=json.dumps(task), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def _figures(own: Mapping[str, Any], served: Mapping[str, Any]) -> dict[str, Any]:
    """Return what one scenario cost."""
    runs = max(1, own["reports"])
    found = {name: round(value, 2) if isinstance(value, float) else value for name, value in own.items()}
    found |= {
        "model_calls": served["answered"] / runs,
        "received_calls": served["received"] / runs,
        "prompt_tokens": served["prompt_tokens"] / runs,
        "paid_tokens": round((served["prompt_tokens"] - 0.9 * served["cached_tokens"]) / runs),
        "cached_share": round(served["cached_tokens"] / max(1, served["prompt_tokens"]), 3),
        "calls_without_cache": served["without_cache"] / runs,
        "duplicates": served["duplicates"] if runs == 1 else None,
        "searches": served["web_calls"].get("search", 0) / runs,
        "extractions": served["web_calls"].get("extract", 0) / runs,
        "web_repeats": served["web_repeats"] if runs == 1 else None,
        "pages": served["pages"],
        "pages_repeated": served["pages_repeated"] if runs == 1 else None,
    }
    if "ledger_calls" in own and runs == 1:
        found["unused_answers"] = served["answered"] - own["ledger_calls"] + served["asked_again"]
    if runs == 1 and served["critical_path"] > 1:
        found["critical_path_seconds"] = round(served["critical_path"], 2)
        found["wall_over_critical"] = round(own["wall_seconds"] / served["critical_path"], 3)
    return found | {"steps": served["steps"]}


def measure_peer(python: str, kind: str, outside: Sequence[str], runs: int) -> dict[str, Any]:
    """Run another program against the same servers (rig_peer.py); return its figures."""
    with serving(outside) as server:
        model, web = server.addresses["model"], server.addresses["web"]
        environment = os.environ | {
            "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{model}/v1", "RETRIEVER": "custom",
            "RETRIEVER_ENDPOINT": f"{web}/search", "TAVILY_BASE": web, "TAVILY_API_KEY": "none",
            "EMBEDDING": "ollama:scripted", "OLLAMA_BASE_URL": web,
            **{f"{size}_LLM": "openai:scripted" for size in ("FAST", "SMART", "STRATEGIC")},
        }  # fmt: skip
        command = [python, str(HERE / "rig_peer.py"), kind, str(runs)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            return {"failures": [done.stderr[-400:]]}
        return _figures(json.loads(done.stdout.splitlines()[-1]), server.figures())


def median_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the median of each figure; the last row's where it is no number."""
    numbers = {
        name: statistics.median(row[name] for row in rows)
        for name, value in rows[-1].items()
        if isinstance(value, int | float) and all(row.get(name) is not None for row in rows)
    }
    return {**rows[-1], **numbers}


def missed(figures: Mapping[str, Any], most: Mapping[str, float]) -> list[str]:
    """Return the goals that a scenario misses, with what was measured."""
    over = {
        name: figures[name] for name, limit in most.items() if figures.get(name) is not None and figures[name] > limit
    }
    return [f"{name} {value:g} (at most {most[name]:g})" for name, value in over.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SCENARIOS), help="names of scenarios, separated by commas")
    parser.add_argument("--repeat", type=int, default=1, help="how often each is done; medians are printed")
    parser.add_argument("--peer", default="", help="a Python interpreter that has other programs")
    parser.add_argument("--work", action="store_true", help="do the runs described on standard input")
    arguments = parser.parse_args()
    if arguments.work:
        print(json.dumps(work(json.load(sys.stdin))))
        return 0
    # An installed package has its bytecode; a checkout may be forbidden to write it (PYTHONDONTWRITEBYTECODE).
    compileall.compile_dir(HERE.parent / "packages", quiet=1)
    found: dict[str, Any] = {}
    failed = False
    for name in arguments.only.split(","):
        scenario = SCENARIOS[name]
        found[name] = median_of([measure(scenario) for _ in range(arguments.repeat)])
        over = missed(found[name], scenario.most) + found[name]["failures"]
        failed |= bool(over)
        print(f"{name:<16} {_line(found[name])}\n{'':<16} {'missed: ' + '; '.join(over) if over else 'all goals met'}")
        if arguments.peer and scenario.outside in ((), AT_ONCE) and not (scenario.cli or scenario.unreachable):
            for kind in PEERS:
                given = (arguments.peer, kind, scenario.outside, scenario.runs)
                peer = found[f"{name}_{kind}"] = median_of([measure_peer(*given) for _ in range(arguments.repeat)])
                print(f"{'':<16} {kind}: {'; '.join(peer['failures']) or _line(peer)}", flush=True)
    print(json.dumps(found))
    return 1 if failed else 0


def _line(figures: Mapping[str, Any]) -> str:
    shown = ("first_words_seconds", "wall_seconds", "critical_path_seconds", "cpu_seconds", "max_stall_ms", "megabytes", "open_files", "model_calls",
             "prompt_tokens", "paid_tokens", "cached_share", "searches", "extractions", "pages_repeated", "claims")  # fmt: skip
    return ", ".join(f"{name} {figures[name]:g}" for name in shown if figures.get(name) is not None)


if __name__ == "__main__":
    sys.exit(main())
