"""Every end of an exchange, against a server that goes beyond it."""

import gzip
import zlib

import pytest

from deep_research.errors import Blocked, NotFound, RateLimited, SourceError, Unreachable, Unreadable
from deep_research.fetch.fetch_policies import FetchLimits
from deep_research.fetch.page_fetcher import FetchOptions
from deep_research.fetch.web import WebOptions
from tests.fetch.conftest import Everything, why_not
from tests.support import web_answers as answers

A_MEGABYTE = FetchLimits(max_bytes=1_000_000)


def options(limits: FetchLimits) -> WebOptions:
    return WebOptions(fetch=FetchOptions(limits=limits, obey_robots=False))


@pytest.mark.parametrize(
    ("answer", "limits", "kind", "rule"),
    [
        pytest.param(answers.endless(), A_MEGABYTE, Unreadable, "size", id="endless body"),
        pytest.param(answers.truncated("x", 10**10), A_MEGABYTE, Unreadable, "size", id="announces 10 GB"),
        pytest.param(answers.bomb(500), A_MEGABYTE, Unreadable, "size", id="zip bomb"),
        pytest.param(answers.long_headers(90_000), A_MEGABYTE, Unreadable, "headers", id="long headers"),
        pytest.param(answers.long_headers(900_000), A_MEGABYTE, Unreachable, "connection", id="endless headers"),
        pytest.param(answers.truncated("abc", 1_000), A_MEGABYTE, Unreachable, "connection", id="truncated"),
        pytest.param(answers.DROP, A_MEGABYTE, Unreachable, "connection", id="dropped"),
        pytest.param(answers.HANG, FetchLimits(total_seconds=0.1), Unreachable, "time", id="says nothing, total time"),
        pytest.param(answers.HANG, FetchLimits(read_seconds=0.1), Unreachable, "time", id="says nothing, read time"),
        pytest.param(answers.drip(0.001), FetchLimits(total_seconds=0.2), Unreachable, "time", id="slow drip, total time"),
        pytest.param(
            answers.packed(b"a" * 1_000, encoding="br"), A_MEGABYTE, Unreadable, "encoding", id="encoding not asked for"
        ),
        pytest.param(
            answers.page(b"no gzip", content_encoding="gzip"), A_MEGABYTE, Unreadable, "encoding", id="damaged gzip"
        ),
        pytest.param(
            answers.page(b"x", content_encoding="gzip, gzip"), A_MEGABYTE, Unreadable, "encoding", id="packed twice"
        ),
        pytest.param(
            answers.page(answers.packed(b"a" * 1_000).body[:-9], content_encoding="gzip"),
            A_MEGABYTE, Unreadable, "truncated", id="gzip that ends early",
        ),
    ],
)  # fmt: skip
async def test_ends_of_an_exchange(internet, make_fetcher, answer, limits, kind, rule):
    internet.site("big.test").on("/x", answer)
    with pytest.raises(kind) as caught:
        await make_fetcher(options(limits)).fetch("http://big.test/x")
    assert caught.value.reason == rule
    advice = " at most 1,000,000 bytes are read. To have http://big.test/x read, download it and name it with --docs."
    assert caught.value.message.endswith(advice) == (rule == "size")
    assert internet.count("big.test", "/x") <= 1 or rule == "connection", "who is too slow is not asked again"


async def test_a_server_that_drips_is_left_by_its_pace(internet, make_web, clock):
    """Each piece comes in time, but together too little: the clock of the test runs, the server's pieces are tiny."""

    def piece_and_tick():
        while True:
            clock.advance(1.0)
            yield b"x" * 10

    drip = answers.WebAnswer(headers={"content-type": "text/html"}, chunks=piece_and_tick, pause=0.001)
    internet.site("slow.test").on("/", drip)
    web = make_web(options(FetchLimits(min_bytes_per_second=200, slow_after_seconds=5.0)))
    assert await why_not(web.fetcher(Everything()), "http://slow.test/", Unreachable) == "pace"


LONG = b"<p>" + b"word " * 100_000
BARE = zlib.compressobj(wbits=-15)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (answers.packed(LONG, encoding="gzip"), LONG),
        (answers.packed(LONG, encoding="deflate"), LONG),
        (answers.page(BARE.compress(b"bare") + BARE.flush(), content_encoding="deflate"), b"bare"),
        (answers.page(gzip.compress(b"one ") + gzip.compress(b"two"), content_encoding="gzip"), b"one two"),
    ],
    ids=["gzip", "deflate", "bare deflate", "joined members"],
)
async def test_packed_bodies_are_unpacked(internet, make_fetcher, answer, text):
    internet.site("packed.test").on("/", answer)
    assert (await make_fetcher(options(A_MEGABYTE)).fetch("http://packed.test/")).body == text


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (204, Unreadable), (206, Unreadable), (304, Unreadable), (400, Blocked), (403, Blocked), (404, NotFound),
        (408, Unreachable), (410, NotFound), (429, RateLimited), (451, Blocked), (500, Unreachable), (503, Unreachable),
    ],
)  # fmt: skip
async def test_what_a_status_means(internet, make_fetcher, code, kind):
    internet.site("s.test").on("/", answers.status(code, "the text of an error is no page"))
    with pytest.raises(SourceError) as caught:
        await make_fetcher(options(FetchLimits())).fetch("http://s.test/")
    assert type(caught.value) is kind
    assert caught.value.status == code


async def test_the_next_ip_address_is_tried(internet, make_fetcher):
    internet.dns.set("two.test", "2606:4700::1", "93.184.216.34", "93.184.216.35")
    internet.dial.refuse("93.184.216.34")
    internet.site("two.test").page("/", "here")
    assert (await make_fetcher().fetch("http://two.test/")).body == b"here"
    assert [ip for ip, _ in internet.dial.dialled][:2] == ["93.184.216.34", "93.184.216.35"]
