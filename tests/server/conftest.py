"""One server for the tests that only look, with one finished run."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from playwright.sync_api import Browser

from tests.server.browser import browsing
from tests.server.serving import client, serving
from tests.support.made_reports import RUN_ID, save_run


class Finished(NamedTuple):
    """A server with a finished run."""

    address: str
    http: httpx.Client
    run_id: str
    report: dict[str, object]


@pytest.fixture
def http(own_state: Path) -> Iterator[httpx.Client]:
    """Give a client of an empty server."""
    with serving(own_state) as address, client(address) as made:
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
