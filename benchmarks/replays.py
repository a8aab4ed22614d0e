"""Replay recorded runs without network and keys, at home and from a bundle elsewhere, and compare byte for byte.

    python benchmarks/replays.py [--postgres]

Twenty runs over real HTTP: four workflows without a model and with the scripted one, three wires, three languages,
depths, failing servers, a search of the web, one that is killed and resumed. Each is replayed with sockets refused and no
key in the environment, then written to a bundle, read into an empty home and replayed there. Prints one line.
"""

import argparse
import asyncio
import os
import random
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
from benchmarks.kills import one_run
from tests.model.harness import PLAN, QUESTION, chinese, korean, served
from tests.runs.running import engines, run
from tests.support.scripted_researcher import ScriptedResearcher

from deep_research import api
from deep_research.stores.open_stores import open_runs
from deep_research.stores.run_store import RunStore

_ZH, _KO = "甲型发动机和乙型发动机有什么不同？", "알파 엔진과 베타 엔진은 어떻게 다른가?"
_WORKFLOWS = ("sections", "loop", "supervisor", "quick")
RUNS: list[tuple[str, dict[str, Any]]] = [
    *(("finder", {"workflow": name}) for name in _WORKFLOWS),
    *(("compatible", {"workflow": name}) for name in _WORKFLOWS),
    ("finder", {"question": _ZH}),
    ("finder", {"question": _KO}),
    ("compatible", {"question": _ZH}),
    ("compatible", {"question": _KO}),
    ("compatible", {"depth": "brief"}),
    ("compatible", {"depth": "deep"}),
    ("anthropic", {}),
    ("ollama", {}),
    ("compatible", {"faults": ["server_error", "empty", "cut_stream"]}),
    ("compatible", {"faults": ["rate_limited", "not_json"], "workflow": "supervisor"}),
]  # fmt: skip
"""Provider and settings; two runs over the web are added to these."""


def record(home: Path, folder: Path, number: int, provider: str, about: dict[str, Any]) -> str:
    """Do a run and return its id."""
    settings = dict(about)
    question, faults = settings.pop("question", QUESTION), settings.pop("faults", ())
    docs = {_ZH: chinese, _KO: korean}.get(question, engines)(folder / f"docs{number}")
    with pytest.MonkeyPatch.context() as patch:
        if provider == "finder":
            ran = run(question, home=home, docs=[docs], model_provider=provider, **settings)
        else:
            researcher = ScriptedResearcher(sections=PLAN, sentences=4, retry=["Beta engine"])
            with served(patch, researcher, wire=provider) as server:
                server.faults(0.2, faults, seed=7) if faults else None
                named = {"model_provider": provider, "model_name": "scripted", "model_timeout_seconds": 1}
                ran = run(question, home=home, docs=[docs], **named, **settings)
    for file in docs.iterdir():
        file.unlink()
    return ran.report.run_id


def record_killed(home: Path, seed: int, kills: int, database: str) -> None:
    """Do a run over the web, killed so many times."""
    outcome = one_run(kills, random.Random(seed), database=database, home=home)
    assert outcome.killed == kills, outcome


@contextmanager
def offline() -> Iterator[None]:
    """Refuse all connections but those to a database of this machine, and hide all keys and addresses."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.endswith(("_KEY", "_BASE_URL", "_HOST")):
                patch.delenv(name)

        def refuse(*_: object) -> None:
            raise AssertionError("a replay opened a connection")

        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket.socket, "connect_ex", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        yield


def is_same(store: RunStore, home: Path) -> str:
    """Replay a run; return "" where its report is the same byte for byte, else why not."""
    from deep_research.runs.replay import replay_run

    recorded = store.load_result()
    try:
        made = asyncio.run(replay_run(store, home))
    except Exception as error:  # noqa: BLE001 - each is a replay that failed
        return f"{store.run_id}: {type(error).__name__}: {error}"[:300]
    return "" if made.model_dump_json() == recorded.model_dump_json() else f"{store.run_id}: another report"


def main() -> int:
    """Print the figures; return 1 when a replay differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", action="store_true", help="keep the runs in a PostgreSQL")
    if not parser.parse_args().postgres:
        return replay_all("")
    from tests.support.postgres import postgres_server

    with tempfile.TemporaryDirectory(prefix="dr-pg-") as data:
        os.chmod(data, 0o777)
        with postgres_server(Path(data) / "db") as url:
            os.environ["DEEP_RESEARCH_DATABASE_URL"] = url
            return replay_all(url)


def replay_all(database: str) -> int:
    """Record all runs, replay them here and from bundles; see `main`."""
    differ: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        home, other = folder / "home", folder / "other"
        for number, (provider, about) in enumerate(RUNS):
            record(home, folder, number, provider, about)
        record_killed(home, 1, 0, database)
        record_killed(home, 4, 3, database)
        records = open_runs(home).list()
        bundles = [folder / f"{one.run_id}.zip" for one in records]
        for one, bundle in zip(records, bundles, strict=True):
            api.open_run(one.run_id, home=home).write_bundle(bundle)
        with offline():
            differ += filter(None, (is_same(open_runs(home).store(one.run_id), home) for one in records))
            os.environ.pop("DEEP_RESEARCH_DATABASE_URL", None)
            for bundle in bundles:
                read = api.read_bundle(bundle, home=other)
                differ += filter(None, [is_same(open_runs(other).store(read.id), other)])
    print("\n".join(differ))
    print(f"{len(records)} runs replayed at home and {len(bundles)} from bundles: {len(differ)} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
