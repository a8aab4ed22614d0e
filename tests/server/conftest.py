"""One server for the tests that only look, with one finished run."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from playwright.sync_api import Browser

from tests.runs.running import run
from tests.server.browser import browsing
from tests.server.serving import client, serving
from tests.support.made_reports import RUN_ID, save_run


class Finished(NamedTuple):
    """A server with a finished run."""

    address: str
    http: httpx.Client
    run_id: str
    report: dict[str, object]


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the index of the bundled library, made once."""
    home = tmp_path_factory.mktemp("indexed")
    run("How does speculative decoding work?", home=home, workflow="quick")
    return home / "documents"


@pytest.fixture
def indexed(own_state: Path, index: Path) -> Path:
    """Give a state folder without runs in which the bundled library is indexed."""
    shutil.copytree(index, own_state / "documents")
    own_state.chmod(0o700)
    return own_state


@pytest.fixture
def http(indexed: Path) -> Iterator[httpx.Client]:
    """Give a client of a server without runs."""
    with serving(indexed) as address, client(address) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give a browser; one for a module, because the tests beside it have event loops of their own."""
    with browsing() as made:
        yield made


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    """Give a server with a finished run."""
    home = tmp_path_factory.mktemp("served")
    save_run(home)
    with serving(home) as address, client(address) as made:
        yield Finished(address, made, RUN_ID, made.get(f"/api/v1/runs/{RUN_ID}/report").json())
