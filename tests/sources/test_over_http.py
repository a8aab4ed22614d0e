"""Sources over the real client and a real server: what they send is what arrives, a wish to wait comes through."""

from collections.abc import Iterator

import pytest

from deep_research.errors import RateLimited
from deep_research.sources import api_sources
from tests.sources.answers import bodies, options_of, searched_over_http
from tests.support import web_answers
from tests.support.fake_web import FakeWeb

ONE_CALL = sorted(
    name for name in api_sources() if set(bodies(name, "one")) == {""} and "feeds" not in options_of(name)
)


@pytest.fixture
def internet() -> Iterator[FakeWeb]:
    with FakeWeb() as web:
        yield web


@pytest.mark.parametrize("name", ONE_CALL)
async def test_an_answer_over_http(internet, name):
    internet.otherwise = web_answers.page(bodies(name, "one")[""], "application/octet-stream")
    result = await searched_over_http(internet, name)
    assert [found.origin for found in result.found] == [name]
    request = internet.requests[0]
    assert request.host == "api.test"
    assert (
        "sparse" in f"{request.path} {request.query} {request.body}"
        or "Listing" in api_sources()[name].__mro__[1].__name__
    )
    assert request.headers["user-agent"]


@pytest.mark.parametrize("name", ONE_CALL[::4])
async def test_an_api_that_asks_to_wait_for_long(internet, name):
    internet.otherwise = web_answers.status(429, "Too Many Requests", retry_after="600")
    error = await searched_over_http(internet, name)
    assert type(error) is RateLimited
    assert error.retry_after == 600.0
