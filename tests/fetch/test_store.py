"""The cache between runs."""

import sqlite3
from pathlib import Path

import pytest

from deep_research.fetch.addresses import parse_address
from deep_research.fetch.http_cache import AnswerStore, fresh_seconds
from deep_research.fetch.page_fetcher import FetchOptions
from deep_research.fetch.transport import Answer
from deep_research.fetch.web import WebOptions
from deep_research.protocol.http_semantics import parse_http_date
from tests.support import web_answers as answers


@pytest.fixture
def options(tmp_path):
    return WebOptions(cache=tmp_path / "pages.sqlite", fetch=FetchOptions(obey_robots=False))


async def test_a_fresh_page_is_not_asked_for_by_the_next_run(internet, make_web, make_fetcher, clock, options):
    internet.site("a.test").on("/", answers.page("x", cache_control="max-age=60"))
    web = make_web(options)
    first = await make_fetcher(web=web).fetch("http://a.test/")
    clock.advance(59)
    again = await make_fetcher(web=web).fetch("http://a.test/")
    assert again == first
    assert len(internet.requests) == 1
    clock.advance(2)
    await make_fetcher(web=web).fetch("http://a.test/")
    assert len(internet.requests) == 2


async def test_the_cache_outlives_the_process(internet, make_web, make_fetcher, options):
    internet.site("a.test").on("/", answers.page(b"\x00\xff", "application/pdf", cache_control="max-age=60"))
    first = await make_fetcher(web=make_web(options)).fetch("http://a.test/")
    assert await make_fetcher(web=make_web(options)).fetch("http://a.test/") == first
    assert len(internet.requests) == 1


async def test_a_stale_page_is_asked_for_by_its_etag(internet, make_web, make_fetcher, clock, options):
    internet.site("a.test").on("/", answers.validated("x", '"v1"', cache_control="max-age=10"))
    web = make_web(options)
    await make_fetcher(web=web).fetch("http://a.test/")
    clock.advance(100)
    page = await make_fetcher(web=web).fetch("http://a.test/")
    assert page.body == b"x"
    assert page.retrieved_at == "2026-01-01T00:01:40+00:00"
    assert [request.headers.get("if-none-match") for request in internet.requests] == [None, '"v1"']
    clock.advance(9)
    await make_fetcher(web=web).fetch("http://a.test/")
    assert len(internet.requests) == 2


@pytest.mark.parametrize(
    "headers", [{"cache_control": "no-store, max-age=60"}, {"vary": "*", "cache_control": "max-age=60"}]
)
async def test_what_must_not_be_kept_is_not(internet, make_web, make_fetcher, options, headers):
    internet.site("a.test").on("/", answers.page("secret words", **headers))
    web = make_web(options)
    fetcher = make_fetcher(web=web)
    await fetcher.fetch("http://a.test/")
    await fetcher.fetch("http://a.test/")
    assert len(internet.requests) == 1
    await make_fetcher(web=web).fetch("http://a.test/")
    assert len(internet.requests) == 2
    assert b"secret words" not in b"".join(path.read_bytes() for path in options.cache.parent.iterdir())


async def test_errors_are_not_kept_between_runs(internet, make_web, make_fetcher, options):
    internet.site("a.test").on("/", [answers.status(404, cache_control="max-age=60"), answers.page("back")])
    web = make_web(options)
    with pytest.raises(Exception, match="does not exist"):
        await make_fetcher(web=web).fetch("http://a.test/")
    assert (await make_fetcher(web=web).fetch("http://a.test/")).body == b"back"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"cache-control": "max-age=60"}, 60),
        ({"cache-control": "max-age=60", "age": "20"}, 40),
        ({"cache-control": "no-cache, max-age=60"}, 0),
        ({"cache-control": "max-age=99999999999"}, 30 * 86_400),
        ({"expires": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30),
        ({"cache-control": "max-age=5", "expires": "Thu, 01 Jan 2026 00:00:30 GMT"}, 5),
        ({"last-modified": "Wed, 31 Dec 2025 23:50:00 GMT"}, 60),
        ({"last-modified": "Mon, 01 Jan 2001 00:00:00 GMT"}, 86_400),
    ],
)
def test_how_long_an_answer_is_fresh(headers, seconds):
    at = parse_http_date("Thu, 01 Jan 2026 00:00:00 GMT")
    assert at is not None
    assert fresh_seconds(headers, at) == seconds


def test_a_full_cache_forgets_what_was_used_longest_ago(tmp_path):
    store = AnswerStore(tmp_path / "c.sqlite", max_bytes=2_500)
    for number in range(3):
        if number == 2:
            assert store.get("http://a.test/0", now=10.0)
        store.put(Answer(parse_address(f"http://a.test/{number}"), 200, {}, b"x" * 1_000), at=float(number))
    assert [bool(store.get(f"http://a.test/{number}", now=20.0)) for number in range(3)] == [True, False, True]
    store.close()


@pytest.mark.parametrize("damage", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_damaged_cache_is_set_aside(tmp_path, damage):
    (path := tmp_path / "c.sqlite").write_bytes(damage)
    store = AnswerStore(path)
    store.put(Answer(parse_address("http://a.test/"), 200, {}, b"x"), at=0.0)
    assert store.get("http://a.test/", now=0.0)
    store.close()
    assert (tmp_path / "c.sqlite.damaged").read_bytes() == damage


def test_a_cache_that_is_damaged_while_it_is_used_costs_what_it_held(tmp_path):
    store = AnswerStore(tmp_path / "c.sqlite")
    address = parse_address("http://a.test/")
    store.put(Answer(address, 200, {}, b"x" * 20_000), at=0.0)
    store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store._db.execute("PRAGMA cache_size=0")
    with (tmp_path / "c.sqlite").open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 30_000)
    assert store.get(address.url, now=0.0) is None
    store.put(Answer(address, 200, {}, b"y"), at=0.0)
    assert store.get(address.url, now=0.0)
    store.close()


def test_another_process_that_writes_is_waited_for_no_longer_than_told(tmp_path: Path) -> None:
    path = tmp_path / "pages.db"
    answer = Answer(parse_address("https://news.test/a"), 200, {}, b"x")
    store, other = AnswerStore(path), sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.put(answer, at=1.0, patience=0.01) is False
    other.execute("ROLLBACK")
    assert store.put(answer, at=1.0, patience=0.01) is True
    assert store.get("https://news.test/a", now=1.0) is not None
    other.close()
    store.close()
