"""One server for the tests that only look, with one finished run."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.runs.running import engines
from tests.server.serving import begin, client, serving, until_report

QUESTION = "Which kinds of engines are there?"


class Finished(NamedTuple):
    """A server with a finished run over uploaded documents."""

    address: str
    http: httpx.Client
    run_id: str
    report: dict[str, object]


@pytest.fixture
def http(own_state: Path) -> Iterator[httpx.Client]:
    """Give a client of an empty server."""
    with serving(own_state) as address, client(address) as made:
        yield made


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    """Give a server with a finished run."""
    home = tmp_path_factory.mktemp("served")
    docs = engines(tmp_path_factory.mktemp("engines"))
    with serving(home) as address, client(address) as made:
        run = begin(made, docs, QUESTION)
        yield Finished(address, made, run, until_report(made, run))
