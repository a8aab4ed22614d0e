"""Pages: named, once, polite, kept."""

import asyncio

import pytest

from deep_research.errors import Blocked, NotFound, RateLimited
from deep_research.fetch.address_guard import Guard
from deep_research.fetch.addresses import KnownAddresses
from deep_research.fetch.http_cache import AnswerStore
from deep_research.fetch.page_fetcher import Fetcher, FetchOptions
from deep_research.fetch.transport import Transport
from deep_research.fetch.web import Web, WebOptions
from tests.fetch.conftest import why_not
from tests.support import web_answers as answers
from tests.support.fake_web import FakeWeb
from tests.support.turns import TOO_LONG, turns_of_tasks


async def test_only_what_was_named_is_opened(internet, make_fetcher):
    internet.otherwise = answers.page("found")
    site = internet.site("news.test")
    site.page("/", '<a href="/one">1</a> <!-- <a href="/comment"> --><script>"<a href=/script>"</script>')
    fetcher = make_fetcher(known=KnownAddresses(["https://news.test"]))
    assert await why_not(fetcher, "http://news.test/one", Blocked) == "not named"
    await fetcher.fetch("http://news.test/")
    assert (await fetcher.fetch("http://news.test/one")).body == b"found"
    for url in ("http://news.test/comment", "http://news.test/script", "http://news.test/one?q=what+you+know"):
        with pytest.raises(Blocked):
            await fetcher.fetch(url)
    assert {request.target for request in internet.requests} == {"/robots.txt", "/", "/one"}


async def test_a_page_that_holds_up_who_reads_its_links_names_none(internet, make_fetcher):
    """A style of 400 kB holds a pattern up for longer than a worker may take; in the program nothing could end it."""
    style = "transform:" * 40_000
    internet.site("a.test").page("/", f'<p style="{style}">Engines</p><a href="/b">b</a>').page("/b", "b")
    fetcher = make_fetcher(known=KnownAddresses(["http://a.test/"]))
    assert style.encode() in (await fetcher.fetch("http://a.test/")).body
    assert await why_not(fetcher, "http://a.test/b", Blocked) == "not named"


async def test_addresses_that_take_long_to_read_hold_up_nobody_else(internet, make_fetcher):
    """A thousand international names take a second, in which the loop of a server answers nobody."""
    name = ".".join(["xn--80ak6aa92e"] * 14)
    links = "".join(f'<p><a href="http://n{number}.{name}.test/?q">n</a></p>' for number in range(1_000))
    internet.site("a.test").page("/", links)
    fetcher = make_fetcher(known=KnownAddresses(["http://a.test/"]))
    async with turns_of_tasks() as held_up:
        await fetcher.fetch("http://a.test/")
    assert len(fetcher.known) > 1_000
    assert fetcher.links("http://a.test/") == {}
    assert max(held_up) < TOO_LONG


async def test_nothing_of_ours_is_sent_along(internet, make_fetcher, monkeypatch):
    """No cookies, no referrer, no credentials, no proxy from the environment."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    internet.site("a.test").on("/", answers.page('<a href="/b">', set_cookie="id=1; Path=/")).page("/b", "b")
    fetcher = make_fetcher(WebOptions(contact="mailto:me@example.org"))
    await fetcher.fetch("http://a.test/")
    await fetcher.fetch("http://a.test/b")
    page = internet.requests[-1]
    assert set(page.headers) == {"host", "user-agent", "accept", "accept-encoding"}
    assert page.headers["user-agent"].startswith("deep-research/")
    assert "(+mailto:me@example.org)" in page.headers["user-agent"]


async def test_host_and_tls_name_stay_the_names(internet, make_fetcher):
    internet.dns.set("secure.test", "93.184.216.34")
    internet.site("secure.test").page("/", "safe")
    await make_fetcher().fetch("https://secure.test/")
    assert internet.dial.dialled == [("93.184.216.34", 443)]
    assert internet.dial.server_names == ["secure.test"]
    assert internet.requests[-1].headers["host"] == "secure.test"


async def test_a_page_is_fetched_and_a_failure_asked_for_once_in_a_run(internet, make_fetcher):
    internet.site("a.test").page("/", "page").redirect("/old", "/").redirect("/older", "/old")
    fetcher = make_fetcher()
    async with asyncio.TaskGroup() as group:
        for path in ("", "/", "/#part", "/old", "/older", "/x/..") * 3:
            group.create_task(fetcher.fetch("http://a.test" + path))
    assert internet.count("a.test", "/") == 1
    assert internet.count("a.test", "/old") == 1
    assert internet.count("a.test", "/robots.txt") == 1

    for _ in range(3):
        with pytest.raises(NotFound):
            await fetcher.fetch("http://a.test/nothing")
    assert internet.count("a.test", "/nothing") == 1


async def test_one_reader_that_gives_up_does_not_stop_the_other(internet, make_fetcher):
    arrived, released = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(request):
        loop.call_soon_threadsafe(arrived.set)
        asyncio.run_coroutine_threadsafe(released.wait(), loop).result()
        return answers.page("late")

    internet.site("a.test").on("/", slow)
    fetcher = make_fetcher()
    first, second = (asyncio.create_task(fetcher.fetch("http://a.test/")) for _ in range(2))
    await arrived.wait()
    first.cancel()
    released.set()
    assert (await second).body == b"late"
    with pytest.raises(asyncio.CancelledError):
        await first
    assert internet.count("a.test", "/") == 1


async def test_passing_failures_are_tried_again(internet, make_fetcher, clock):
    internet.site("a.test").on("/", [answers.status(500), answers.DROP, answers.page("at last")])
    assert (await make_fetcher().fetch("http://a.test/")).body == b"at last"
    assert internet.count("a.test", "/") == 3


@pytest.mark.parametrize(("code", "wait", "seconds"), [(429, "17", 17), (503, "Thu, 01 Jan 2026 00:00:20 GMT", 20)])
async def test_retry_after_is_obeyed(internet, make_fetcher, clock, code, wait, seconds):
    internet.site("a.test").on("/", [answers.status(code, retry_after=wait), answers.page("now")])
    assert (await make_fetcher().fetch("http://a.test/")).body == b"now"
    assert clock.monotonic() >= seconds


async def test_who_asks_to_wait_too_long_is_left_alone(internet, make_fetcher):
    internet.site("a.test").on("/", answers.status(429, retry_after="3600")).page("/b", "b")
    fetcher = make_fetcher()
    with pytest.raises(RateLimited) as caught:
        await fetcher.fetch("http://a.test/")
    assert caught.value.retry_after == 3600
    with pytest.raises(RateLimited):
        await fetcher.fetch("http://a.test/b")
    assert internet.count("a.test", "/") == 1
    assert internet.count("a.test", "/b") == 0


async def test_one_host_is_asked_by_few_at_once_who_do_not_hurry(internet, make_fetcher, clock):
    for number in range(8):
        internet.site("a.test").page(f"/{number}", "x")
    fetcher = make_fetcher()
    async with asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(fetcher.fetch(f"http://a.test/{number}"))
    assert internet.most_at_once <= 2
    assert len(internet.requests) == 9  # robots.txt and eight pages
    assert clock.monotonic() >= 0.5 * 8


async def test_an_archived_copy_of_a_dead_page(internet, make_fetcher):
    said = {"archived_snapshots": {"closest": {
        "available": True, "status": "200", "timestamp": "20200101000000",
        "url": "http://web.archive.org/web/20200101000000/http://dead.test/page",
    }}}  # fmt: skip
    internet.dns.set("archive.org", "207.241.224.2")
    internet.dns.set("web.archive.org", "207.241.237.3")
    internet.site("archive.org").on("/wayback/available", answers.json_answer(said))
    internet.site("web.archive.org").page("/web/20200101000000id_/http://dead.test/page", "<p>as it was")
    page = await make_fetcher().archived("http://dead.test/page")
    assert page.body == b"<p>as it was"
    assert page.archived_url == page.url == "http://dead.test/page"
    assert page.final_url.startswith("https://web.archive.org/web/20200101000000id_/")
    assert internet.requests[0].query == {"url": ["http://dead.test/page"]}


@pytest.mark.parametrize(
    ("snapshots", "kind"),
    [
        ({}, NotFound),
        ({"closest": {"available": False, "url": "http://x.test/"}}, NotFound),
        ({"closest": {"available": True, "url": "http://169.254.169.254/web/2020/x"}}, Blocked),
    ],
)
async def test_no_archived_copy_or_one_that_leads_inside(internet, make_fetcher, snapshots, kind):
    internet.dns.set("archive.org", "207.241.224.2")
    internet.site("archive.org").on("/wayback/available", answers.json_answer({"archived_snapshots": snapshots}))
    with pytest.raises(kind):
        await make_fetcher().archived("http://dead.test/page")


async def test_chosen_internal_hosts_are_opened(internet, make_fetcher):
    internet.site("10.1.2.3").page("/", "an internal page")
    internet.dns.set("wiki.corp", "10.1.2.4")
    internet.site("wiki.corp").page("/", "the wiki")
    fetcher = make_fetcher(WebOptions(allowed_internal_hosts=("10.1.0.0/16", "wiki.corp:80")))
    assert (await fetcher.fetch("http://10.1.2.3/")).body == b"an internal page"
    assert (await fetcher.fetch("http://wiki.corp/")).body == b"the wiki"
    for url in ("http://10.2.2.3/", "http://other.corp/", "http://wiki.corp:8080/", "http://10.1.2.3:22/"):
        with pytest.raises(Blocked):
            await fetcher.fetch(url)


async def test_in_earnest_on_loopback(internet, make_fetcher):
    """The computer's own resolver and connections, as another process would use the fake web."""
    internet.site("a.test").page("/", '<a href="/@a.test/b">').page("/b", "b")
    base = internet.base("a.test")
    web = Web(WebOptions(allowed_internal_hosts=(f"127.0.0.1:{internet.port}", f"localhost:{internet.port}")))
    fetcher = make_fetcher(web=web, known=KnownAddresses([base + "/"]))
    await fetcher.fetch(base + "/")
    assert (await fetcher.fetch(base + "/b")).body == b"b"
    refusing = Web()
    with pytest.raises(Blocked):
        await make_fetcher(web=refusing).fetch(base + "/")
    await web.close()
    await refusing.close()


async def test_after_an_interruption_a_page_of_this_run_is_not_asked_for_again(tmp_path):
    with FakeWeb() as web:
        web.site("news.test").page("/", "<p>Hello</p>")
        for began, asked in ((0.0, 1), (0.0, 1), (float("inf"), 2)):
            cache = AnswerStore(tmp_path / "pages.db")
            transport = Transport(Guard(), resolver=web.dns, dial=web.dial)
            fetcher = Fetcher(
                transport,
                KnownAddresses(["http://news.test/"]),
                options=FetchOptions(run_began=began),
                cache=cache,
            )
            assert (await fetcher.fetch("http://news.test/")).status == 200
            assert web.count("news.test", "/") == asked
            await fetcher.close()
            await transport.close()
            cache.close()
