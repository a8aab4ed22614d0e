"""A web of one's own, and fetchers that look out into it."""

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from deep_research.errors import SourceError
from deep_research.fetch.addresses import KnownAddresses
from deep_research.fetch.page_fetcher import Fetcher
from deep_research.fetch.web import Web, WebOptions
from tests.support.clock import FakeClock
from tests.support.fake_web import FakeWeb


class Everything(KnownAddresses):
    """Knows every address: for tests about other things."""

    def check(self, address: object) -> None:
        return


async def why_not(fetcher: Fetcher, url: str, kind: type[SourceError]) -> str | None:
    """Return the reason for which a page is not opened; the error is one of `kind`."""
    with pytest.raises(kind) as caught:
        await fetcher.fetch(url)
    return caught.value.reason


@pytest.fixture
def internet() -> Iterator[FakeWeb]:
    with FakeWeb() as web:
        yield web


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def make_web(internet: FakeWeb, clock: FakeClock) -> AsyncIterator[Callable[..., Web]]:
    made: list[Web] = []

    def make(options: WebOptions | None = None) -> Web:
        made.append(Web(options, resolver=internet.dns, dial=internet.dial, clock=clock))
        return made[-1]

    yield make
    for web in made:
        await web.close()


@pytest.fixture
async def make_fetcher(make_web: Callable[..., Web]) -> AsyncIterator[Callable[..., Fetcher]]:
    made: list[Fetcher] = []

    def make(options: WebOptions | None = None, known: KnownAddresses | None = None, web: Web | None = None) -> Fetcher:
        made.append((web or make_web(options)).fetcher(known or Everything()))
        return made[-1]

    yield make
    for fetcher in made:
        await fetcher.close()
