"""Feeds and answers of APIs that are long: read and ranked in a worker, to a bound."""

import os

import pytest

from deep_research.errors import Unreadable
from deep_research.fetch.web import Web, WebOptions
from deep_research.ports import ApiResponse
from deep_research.sources import api_sources
from deep_research.sources._api import in_a_worker, read_answer
from deep_research.sources.feeds import parse_feed
from deep_research.sources.paper_indexes import parse_crossref
from tests.support import web_answers
from tests.support.fake_web import FakeWeb

_TAKEN = 2_000
_FEED = (
    b"<rss><channel><title>Bridges</title>"
    + b"".join(b"<item><title>Bridge %d</title><link>http://a.test/%d</link></item>" % (n, n) for n in range(60_000))
    + b"</channel></rss>"
)


def _response(body: bytes) -> ApiResponse:
    return ApiResponse(200, {"retry-after": "7"}, body, "http://a.test/feed.xml?key=x")


def _end() -> list[int]:
    """End this process, as the limits of a worker do."""
    os._exit(3)


def _process(response: ApiResponse) -> int:
    """Return which process reads an answer."""
    return os.getpid()


async def test_a_long_answer_is_read_in_another_process() -> None:
    assert await read_answer(_process, _response(_FEED)) != os.getpid()
    assert await read_answer(_process, _response(b"short")) == os.getpid()


async def test_of_a_feed_without_end_the_newest_entries_are_read_and_ranked() -> None:
    with FakeWeb() as internet:
        internet.otherwise = web_answers.packed(_FEED, "application/rss+xml")
        base = internet.base("api.test")
        web = Web(WebOptions(base_addresses=(base,)))
        source = api_sources()["feeds"].build({"feeds": [f"{base}/feed.xml"]}, web.api, {})
        try:
            found = (await source.search("bridge 1999", limit=3)).found
        finally:
            await web.close()
    assert [one.title for one in found] == ["Bridge 1999"]
    assert len(await read_answer(parse_feed, _response(_FEED))) == _TAKEN


@pytest.mark.parametrize("body", [b"<html>" + b"x" * 100, b"x" * 100_000], ids=["markup", "no data"])
async def test_an_error_in_a_worker_is_told_as_one_here(body: bytes) -> None:
    with pytest.raises(Unreadable) as here:
        parse_crossref(_response(body))
    with pytest.raises(Unreadable) as there:
        await read_answer(parse_crossref, _response(body))
    assert vars(there.value) == vars(here.value)
    assert (there.value.source, there.value.status, there.value.url) == ("crossref", 200, "http://a.test/feed.xml")


async def test_what_takes_too_long_is_not_read() -> None:
    with pytest.raises(Unreadable, match="the answer was not read"):
        await in_a_worker(_end, size=1)
