"""Measure runs whose model, context or searches fail (figures: docs/measured.md).

    python lab/reliability.py [--rate 0.2] [--seed 7]

Whole runs over real HTTP, against the scripted provider on two wires (OpenAI's and Anthropic's), over
twelve notes written here. Each row is one fault at `--rate` of the calls, and beside them: one section's
calls all failing, a context of 12,000 tokens, every search failing, a budget that ends, a bad key. "Sections" have text /
were planned; "claims" stand in the report with their passages; "broken" counts what must never be: error text inside a
section, a citation that does not resolve, a section that is empty without a gap. The last line is one JSON object.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher

from claimcheck.text.error_text import is_error_text
from deep_research.assembly.environment import RunEnvironment
from deep_research.data import Gap, Report, SearchResult
from deep_research.errors import ConfigError, ResearchError, Unreachable
from deep_research.ports import Progress
from deep_research.runs.research_run import create_run, resume_run
from deep_research.settings import Settings

QUESTION = "How do the ferries of the island differ, and what are they used for?"
FERRIES = ("Ferry Arden", "Ferry Brisa", "Ferry Calder", "Ferry Dunmore")
PLAN = {name: [f"{name} speed engine", f"{name} passengers route"] for name in FERRIES}
FAULTS = {
    "rate_limited": "429 with Retry-After",
    "server_error": "500",
    "overloaded": "529 (Anthropic), 503 (OpenAI)",
    "cut_stream": "connection cut in the answer",
    "error_in_stream": "error inside an answer",
    "slow_stream": "4 tokens a second",
    "timeout": "silence",
    "not_json": "502 with a web page",
    "context_too_long": "context too long",
    "invalid_json": "invalid JSON",
    "wrong_schema": "JSON of another schema",
    "empty": "empty answer",
    "refusal": "refusal in words",
    "content_filter": "refused by a content filter",
    "think_tags": "answer behind thinking tags",
    "unclosed_think": "nothing but thoughts",
    "unknown_tool": "call of an unknown tool",
    "broken_arguments": "tool arguments as broken JSON",
    "unknown_citation": "citations of ids that do not exist",
}
WIRES = {
    "OpenAI": ("compatible", "scripted", "OPENAI_COMPATIBLE_BASE_URL", "OPENAI_COMPATIBLE_API_KEY"),
    "Anthropic": ("anthropic", "claude-sonnet-5", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
}
_HEAD = """| what fails | wire | calls (failed) | outcome | sections | claims | gaps | broken |
|---|---|---|---|---|---|---|---|
"""


class Row(NamedTuple):
    """One run and what became of it."""

    what: str
    wire: str
    calls: int
    failed: int
    outcome: str
    sections: str
    claims: int
    gaps: int
    broken: int
    seconds: float


def notes(folder: Path, *, long: bool = False) -> Path:
    """Three notes about each ferry; `long` ones hold more than a small context does."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(FERRIES, 3):
        lines = {
            "engine": f"{name} has {number} engines and reaches {number * 4 + 3} knots. Its engines were built in {1980 + number} in Port Ellis.",
            "route": f"{name} carries {number * 110} passengers on the route to Skerry. The route of {name} takes {number * 20} minutes.",
            "history": f"{name} was launched in {1990 + number} by the Marlow yard. {name} was rebuilt in {2005 + number} for cars.",
        }
        for about, text in lines.items():
            trials = "\n\n".join(
                f"On crossing {n} the {about} of {name} was inspected by {n % 9 + 2} people of the Marlow yard. "
                f"Crossing {n} of {name} took {n + 20} minutes with {n * 3 + 40} passengers on board. " * 4
                for n in range(40 if long else 0)
            )
            (folder / f"{name} {about}.md").write_text(f"# {name}: {about}\n\n{text}\n\n{trials}\n", "utf-8")
    return folder


class Unanswering:
    """A place to search that never answers."""

    name = "web"
    purpose = "Pages nobody can reach."

    async def prepare(self, progress: Progress) -> Sequence[Gap]:
        """Nothing to do."""
        return ()

    async def search(self, query: str, *, limit: int) -> SearchResult:
        """Fail."""
        raise Unreachable("The search engine does not answer.", source="web")

    async def read(self, found: object) -> Any:
        """Nothing was found."""
        raise Unreachable("There is nothing to read.")

    async def close(self) -> None:
        """Nothing to do."""


def broken(report: Report) -> list[str]:
    """What must not be in a report."""
    numbers = {reference.number for reference in report.references}
    found = [n for n in re.findall(r"\[(\d+)\]", report.report) if int(n) not in numbers]
    found += re.findall(r"\[s\d+p\d+\]", report.report)
    for section in report.sections:
        found += [line for line in section.notes.splitlines() if is_error_text(line)]
        if not section.notes and not any(gap.what.endswith(section.title) for gap in report.gaps):
            found.append(f"empty without a gap: {section.title}")
    found += [key for claim in report.claims for key in claim.passages if key not in report.passages]
    return found


def try_run(
    what: str,
    wire: str,
    *,
    arrange: Callable[[ScriptedProvider], object] = lambda _: None,
    script: Callable[[Request], Any] | None = None,
    places: Any = None,
    long: bool = False,
    **settings: Any,
) -> Row:
    """Do one run and look at its report."""
    provider, model, address, key = WIRES[wire]
    server = ScriptedProvider(script or ScriptedResearcher(sections=PLAN, sentences=5), retry_after_seconds=0.1)
    with server, tempfile.TemporaryDirectory() as name:
        arrange(server)
        os.environ |= {address: server.base_url, key: "test-key"}
        values = {"model_provider": provider, "model_name": model, "allow_clarification": False, **settings}
        wanted = Settings(**{"model_timeout_seconds": 1, **values})
        home = Path(name)
        began = time.monotonic()
        report, outcome = None, ""
        try:
            folder = create_run(QUESTION, wanted, home=home, docs=[str(notes(home / "notes", long=long))])
            report = asyncio.run(resume_run(folder, RunEnvironment(home, places=places)))
        except ConfigError as error:
            outcome = f"stops: {error.message}"
        except ResearchError as error:
            outcome = f"fails: {error.message}"
        failed = sum(bool(call.fault) for call in server.calls)
        return _row(what, wire, len(server.calls), failed, outcome, report, time.monotonic() - began)


def _row(what: str, wire: str, calls: int, failed: int, outcome: str, report: Report | None, seconds: float) -> Row:
    if report is None:
        return Row(what, wire, calls, failed, outcome, "–", 0, 0, 0, seconds)
    written = sum(bool(section.notes) for section in report.sections)
    told = "report" if report.answered else "report that says that nothing was found"
    standing = sum(claim.stands for claim in report.claims)
    wrong = broken(report)
    for line in wrong:
        print(f"  broken: {line}", file=sys.stderr)
    of = f"{written} / {len(report.sections)}"
    return Row(what, wire, calls, failed, told, of, standing, len(report.gaps), len(wrong), seconds)


def rows(rate: float, seed: int) -> list[Row]:
    """All runs of the table."""
    found: list[Row] = []
    for fault, what in FAULTS.items():
        for wire in WIRES:
            found.append(try_run(what, wire, arrange=lambda s, f=fault: s.faults(rate, [f], seed=seed)))
            print(found[-1], file=sys.stderr)
    researcher = ScriptedResearcher(sections=PLAN, sentences=5)

    def one_section(request: Request) -> Reply:
        return Reply(fault="refusal") if researcher.section_of(request) == FERRIES[1] else researcher(request)

    def small(server: ScriptedProvider) -> None:
        server.context_limit = 12_000

    def other_key(server: ScriptedProvider) -> None:
        server.key = "another-key"

    wire = "OpenAI"
    found.append(try_run("nothing", wire))
    found.append(try_run("all calls of one section", wire, script=one_section))
    found.append(try_run("a context of 12,000 tokens", wire, arrange=small, long=True))
    found.append(try_run("every search", wire, places=[Unanswering()]))
    found.append(try_run("the budget ends (10,000 tokens)", wire, budget_tokens=10_000))
    found.append(try_run("the key", wire, arrange=other_key))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    found = rows(arguments.rate, arguments.seed)
    lines = [
        f"| {r.what} | {r.wire} | {r.calls} ({r.failed}) | {r.outcome} | {r.sections} | {r.claims} | {r.gaps} | {r.broken} |"
        for r in found
    ]
    print(_HEAD + "\n".join(lines) + "\n")
    reports = sum(r.outcome.startswith("report") for r in found)
    figures = {"runs": len(found), "reports": reports, "broken": sum(r.broken for r in found)}
    print(json.dumps(figures))
    return 1 if figures["broken"] or reports < len(found) - 1 else 0


if __name__ == "__main__":
    sys.exit(main())
