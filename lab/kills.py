"""Kill runs at random moments and count repeated requests at the servers.

Each run is killed several times.

    python lab/kills.py --runs 10 --kills 3 --seed 7 [--postgres]

The command works with a scripted model, a web search like Tavily's with its extraction, and pages, all real servers on
127.0.0.1. A request counts as answered when its answer was sent 50 ms before the kill; none of those may come again.
What was sent later and comes again is counted apart, with the time that it had: between the last byte on the wire and
the journal's commit lies a window that no program can close. The process is stopped, looked at, and then killed: an answer
that the kernel still holds for its socket was never read by it, and is counted as unread only. The report's text must be that of a run which
nobody killed, and the ledger must name as many model calls and tokens as the server gave.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from html import escape
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.cli.terminal import COMMAND
from tests.support.fake_web import FakeWeb
from tests.support.scripted_provider import RecordedCall, ScriptedProvider
from tests.support.scripted_researcher import ScriptedResearcher
from tests.support.web_answers import SeenRequest, WebAnswer, json_answer, page, status

from deep_research.data import Report
from deep_research.stores.run_folder import FolderRuns
from deep_research.stores.run_store import RunStore, RunStores

QUESTION = "Which kinds of engines are there, and how do they differ?"
NAMES = ("Alpha", "Beta", "Gamma")
SETTLED = 0.05
_END_SECONDS = 180.0
_LATENCY = 0.05


class Seen(NamedTuple):
    """A request: kind, key, arrival, answer time (0: never answered), client port."""

    kind: str
    key: str
    came: float
    sent: float
    port: int


class Kill(NamedTuple):
    """A kill: stop time, client ports of the process, and ports with unread answers."""

    at: float = 0.0
    ports: frozenset[int] = frozenset()
    unread: frozenset[int] = frozenset()


class Servers:
    """The model, the search and the pages of a run, with all that they answered."""

    def __init__(self, web: FakeWeb) -> None:
        self.web = web
        self.seen: list[tuple[str, SeenRequest, float]] = []
        self._lock = threading.Lock()
        researcher = ScriptedResearcher(
            sections={f"{n} engine": [f"{n} engine speed", f"{n} engine use"] for n in NAMES}
        )

        self.think = researcher
        self.calls: list[RecordedCall] = []
        web.site("tavily.test").on("/search", self._counted("search", self._search), method="POST")
        web.site("tavily.test").on("/extract", self._counted("extract", self._extract), method="POST")
        for name in NAMES:
            for number in range(3):
                web.site(f"{name.lower()}{number}.test").on("/", self._counted("page", self._page(name, number)))

    def all(self) -> list[Seen]:
        """Return all requests so far, those to the model too."""
        asked = [Seen("model", call.digest, call.started, call.sent, call.port) for call in list(self.calls)]
        sent = self.web.sent
        with self._lock:
            return [
                *asked,
                *(Seen(kind, _key(one), came, sent.get(id(one), 0.0), one.port) for kind, one, came in self.seen),
            ]

    def _counted(self, kind: str, answer: Callable[[SeenRequest], WebAnswer]) -> Callable[[SeenRequest], WebAnswer]:
        def counted(request: SeenRequest) -> WebAnswer:
            with self._lock:
                self.seen.append((kind, request, time.monotonic()))
            return answer(request)

        return counted

    def _address(self, name: str, number: int) -> str:
        return self.web.base(f"{name.lower()}{number}.test") + "/"

    def _search(self, request: SeenRequest) -> WebAnswer:
        words = str(json.loads(request.body)["query"])
        wanted = [name for name in NAMES if name in words] or list(NAMES)
        rows = [
            {"title": f"{name} engine {number}", "url": self._address(name, number), "content": f"The {name} engine.",
             "score": 0.9, "raw_content": None}
            for name in wanted for number in range(3)
        ]  # fmt: skip
        return json_answer({"query": words, "results": rows})

    def _extract(self, request: SeenRequest) -> WebAnswer:
        """Give the text of every second page; the others are for the program to fetch."""
        urls = json.loads(request.body)["urls"]
        good = [url for url in urls if "0.test" in url]
        rows = [{"url": url, "raw_content": f"# Engine\n\n{_text(url.split('@')[1][:-8].title(), 0)}"} for url in good]
        return json_answer(
            {"results": rows, "failed_results": [{"url": u, "error": "x"} for u in urls if u not in good]}
        )

    @staticmethod
    def _page(name: str, number: int) -> Callable[[SeenRequest], WebAnswer]:
        body = (
            f"<html><head><title>{name} {number}</title></head><body><p>{escape(_text(name, number))}</p></body></html>"
        )
        return lambda _request: page(body)

    def repeated(self, kill: Kill, earlier: Kill) -> dict[tuple[str, str], float]:
        """Return requests repeated after a kill, with their age at the kill in seconds.

        Counted are requests whose answer had been read; the age is the time since that answer was sent.

        Only what the killed process had asked for itself counts, not what a server sent to a process that had died of the
        `earlier` kill. An answer has not been read where the kernel still holds bytes for the connection that it was the
        last on.
        """
        seen = self.all()
        later = {(one.kind, one.key) for one in seen if one.came > kill.at}
        own = [one for one in seen if one.came > earlier.at and one.port not in earlier.ports]
        answered = sorted((one for one in own if 0 < one.sent < kill.at), key=lambda one: one.sent)
        lost = {port: one for one in answered if (port := one.port) in kill.unread}
        return {
            (one.kind, one.key): kill.at - one.sent
            for one in answered
            if (one.kind, one.key) in later and one is not lost.get(one.port)
        }

    def surely_given(self, kills: Sequence[Kill]) -> set[str]:
        """Return the digests of model calls surely answered before any kill.

        The process lived on long enough after the answer to keep it.
        """
        return {
            call.digest
            for call in self.calls
            if call.sent and all(kill.at < call.started or kill.at - call.sent > SETTLED for kill in kills)
        }


def _key(request: SeenRequest) -> str:
    return f"{request.host}{request.target} {request.body.decode()}"


def _text(name: str, number: int) -> str:
    speed = 3000 + 500 * NAMES.index(name) + number if name in NAMES else 1000
    return (
        f"The {name} engine of series {number} is a rotary engine that turns at {speed} rpm. The {name} engine was built "
        f"in {1999 + number} in Graz. The {name} engine is best suited for small boats and weighs {80 + number} kg."
    )


@contextmanager
def _command(
    servers: Servers, provider: ScriptedProvider, home: Path, database: str
) -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    config = home.with_suffix(".toml")
    config.write_text(
        f'allowed_internal_hosts = ["127.0.0.1:{servers.web.port}"]\nobey_robots = false\n'
        f'[source_options.tavily]\nbase_url = "{servers.web.base("tavily.test")}"\n'
        "requests_per_second = 20\nwhole_pages = false\n",
        "utf-8",
    )
    environment = {
        **os.environ,
        "DEEP_RESEARCH_HOME": str(home),
        "DEEP_RESEARCH_CONFIG": str(config),
        "TAVILY_API_KEY": "tvly-scripted-key",
        "OPENAI_COMPATIBLE_BASE_URL": provider.base_url,
        "OPENAI_COMPATIBLE_API_KEY": "scripted-key",
        **({"DEEP_RESEARCH_DATABASE_URL": database} if database else {}),
    }
    yield lambda *words: subprocess.Popen(
        [str(COMMAND), *words, "--quiet"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def _runs(home: Path, database: str) -> RunStores:
    if not database:
        return FolderRuns(home)
    from deep_research_server.postgres.postgres_runs import PostgresRuns

    return PostgresRuns(database)


class Outcome(NamedTuple):
    """One run: number of kills, repeated requests by kind, and other errors.

    `late` are answers that were asked for again and do not count: how many seconds before a kill they were sent, and their
    kind; `unread` is on how many connections an answer lay unread at a kill.
    """

    killed: int
    again: Counter[str]
    late: list[tuple[float, str]]
    unread: int
    wrong: tuple[str, ...]
    requests: int
    text: str


def one_run(
    kills: int,
    draw: random.Random,
    *,
    total: int = 34,
    database: str = "",
    expected: str = "",
    home: Path | None = None,
) -> Outcome:
    """Do one run, killed up to `kills` times, each after a random number of requests.

    `expected` is the report of a run that was not killed; `home` keeps the run afterwards.
    """
    with FakeWeb() as web, tempfile.TemporaryDirectory() as folder:
        web.otherwise = status(404)
        servers = Servers(web)
        home = home or Path(folder) / "home"
        kept = _runs(home, database)
        before = {record.run_id for record in kept.list()}

        def begun() -> list[str]:
            return [record.run_id for record in kept.list() if record.run_id not in before]

        with (
            ScriptedProvider(servers.think, latency_seconds=_LATENCY) as provider,
            _command(servers, provider, home, database) as command,
        ):
            servers.calls = provider.calls
            words = [QUESTION, "-p", "compatible", "--model", "scripted", "--no-clarify", "--source", "tavily"]
            done: list[Kill] = []
            process = command(*words)
            for _ in range(kills):
                if not _reached(process, servers, len(servers.all()) + draw.randint(1, max(2, total // kills))):
                    break
                time.sleep(draw.random() * 0.2)
                process.send_signal(signal.SIGSTOP)
                done.append(_look({web.port, provider.port}))
                process.send_signal(signal.SIGKILL)
                process.communicate()
                process = command(*(["resume", *ids] if (ids := begun()) else words))
            _, said = process.communicate(timeout=_END_SECONDS)
            if process.returncode:
                wrong, text = [f"exit code {process.returncode}: {said.decode()[-300:]}"], ""
            else:
                store = kept.store(begun()[0])
                text = _text_of(store.load_result(), web.port)
                wrong = [*_wrong(store, servers, done)]
                if expected and text != expected:
                    wrong.append("the report is another one")
            again: Counter[str] = Counter()
            late: list[tuple[float, str]] = []
            for kill, earlier in zip(done, [Kill(), *done], strict=False):
                repeated = sorted((before, kind) for (kind, _), before in servers.repeated(kill, earlier).items())
                again.update(kind for before, kind in repeated if before > SETTLED)
                late += [(before, kind) for before, kind in repeated if before <= SETTLED]
    return Outcome(
        len(done), again, late, sum(len(kill.unread) for kill in done), tuple(wrong), len(servers.all()), text
    )


def _look(servers: set[int]) -> Kill:
    """Return the current connections to these local ports from the kernel (Linux)."""
    at = time.monotonic()
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ends = {_port(row[1]): int(row[4].partition(":")[2], 16) for row in rows if _port(row[2]) in servers}
    return Kill(at, frozenset(ends), frozenset(port for port, unread in ends.items() if unread))


def _port(address: str) -> int:
    return int(address[-4:], 16)


def _reached(process: "subprocess.Popen[bytes]", servers: Servers, count: int) -> bool:
    """Wait until so many requests were answered; False when the command ends before."""
    end = time.monotonic() + _END_SECONDS
    while len(servers.all()) < count:
        if process.poll() is not None or time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def _text_of(report: Report, port: int) -> str:
    """Return the report text without parts that vary by run: page ports and costs."""
    lines = report.report.replace(f":{port}", "").splitlines()
    return "\n".join(line for line in lines if " model calls." not in line)


def _wrong(store: RunStore, servers: Servers, kills: Sequence[Kill]) -> Iterator[str]:
    """Yield violations: gaps in the events, a ledger that differs from the servers."""
    report: Report = store.load_result()
    numbers = [event.number for event in store.read_events()]
    if numbers != list(range(1, len(numbers) + 1)):
        yield "the events have holes"
    given = {call.digest: call.counted for call in servers.calls if call.sent}
    sure = servers.surely_given(kills)
    counted = {"model_calls": len(sure), "prompt_tokens": sum(given[one].prompt for one in sure)}
    most = {"model_calls": len(given), "prompt_tokens": sum(one.prompt for one in given.values())}
    for name, least in counted.items():
        if not least <= (told := getattr(report.ledger, name)) <= most[name]:
            yield f"the ledger says {told} {name}, the server gave {least} to {most[name]}"
    searches = len({one.key for one in servers.all() if one.kind == "search"})
    if report.ledger.searches != searches:
        yield f"the ledger says {report.ledger.searches} searches, the server answered {searches}"
    if not report.answered:
        yield "the report answers nothing"


def main() -> int:
    """Print a line per run and a total; return 1 on repeated requests or faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--postgres", action="store_true", help="keep the runs in a PostgreSQL of their own")
    given = parser.parse_args()
    if not given.postgres:
        return count_kills(given.runs, given.kills, given.seed)
    from tests.support.postgres import new_database, postgres_server

    with tempfile.TemporaryDirectory(prefix="dr-pg-") as data:
        os.chmod(data, 0o777)
        with postgres_server(Path(data) / "db") as server:
            return count_kills(given.runs, given.kills, given.seed, lambda: new_database(server))


def count_kills(
    runs: int, kills: int, seed: int, make_database: Callable[[], AbstractContextManager[str]] = lambda: nullcontext("")
) -> int:
    """Do so many runs, each with a database of its own where one is made; see `main`."""
    draw = random.Random(seed)
    total: Counter[str] = Counter()
    late: list[tuple[float, str]] = []
    faults = killed = unread = 0
    with make_database() as database:
        expected = one_run(0, draw, database=database).text
    for number in range(runs):
        with make_database() as database:
            outcome = one_run(draw.randint(1, kills), draw, database=database, expected=expected)
        killed += outcome.killed
        total += outcome.again
        late += outcome.late
        unread += outcome.unread
        faults += len(outcome.wrong)
        print(f"run {number}: {outcome.killed} kills, {outcome.requests} requests, again {dict(outcome.again)}, wrong {outcome.wrong}", flush=True)  # fmt: skip
    window = [f"{kind} {before * 1000:.1f} ms" for before, kind in sorted(late)]
    print(
        f"{runs} runs, {killed} kills: again {dict(total)}, {faults} wrong; read just before a kill: {window}; unread: {unread}"
    )
    return 1 if total or faults else 0


if __name__ == "__main__":
    sys.exit(main())
