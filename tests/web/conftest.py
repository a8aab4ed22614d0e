"""A web of one's own for every test, and the world in it."""

from collections.abc import Iterator

import pytest

from tests.support.fake_web import FakeWeb
from tests.web.world import World


@pytest.fixture
def world() -> Iterator[World]:
    with FakeWeb() as web:
        made = World(web)
        made.searxng()
        yield made
