"""The web of two engines, which reports cite."""

from collections.abc import Iterator

import pytest

from tests.support.fake_web import FakeWeb
from tests.verify.reports import engines_web


@pytest.fixture
def web() -> Iterator[tuple[FakeWeb, str]]:
    with engines_web() as made:
        yield made
