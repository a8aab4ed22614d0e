"""robots.txt after RFC 9309."""

import pytest

from deep_research.errors import Blocked, Unreachable
from deep_research.fetch.page_fetcher import ROBOTS_BYTES, FetchOptions, parse_robots
from deep_research.fetch.web import WebOptions
from tests.fetch.conftest import why_not
from tests.support import web_answers as answers

AGENT = "deep-research"


@pytest.mark.parametrize(
    ("text", "target", "allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("user-AGENT : *\ndisallow : /a # because", "/a", False),
        ("User-agent: other\nUser-agent: deep-research\nDisallow: /", "/a", False),
        ("User-agent: Deep-Research/2.0\nDisallow: /", "/a", False),
        ("User-agent: deep-research-other\nDisallow: /", "/a", True),
        # One's own group counts alone; groups of one name count together.
        ("User-agent: *\nDisallow: /\nUser-agent: deep-research\nAllow: /", "/a", True),
        (
            "User-agent: deep-research\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: deep-research\nDisallow: /c",
            "/c",
            False,
        ),
        # The longest rule decides, Allow wins a tie.
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /a*b*c", "/aXbYcZ", False),
        # Spellings of one path meet.
        ("User-agent: *\nDisallow: /ä", "/%C3%A4", False),
        ("User-agent: *\nDisallow: /%61", "/a", False),
        ("\ufeffUser-agent: *\r\nDisallow: /a\r\n", "/a", False),
        ("Disallow: /", "/a", True),
        ("<html>not found</html>", "/a", True),
    ],
)
def test_rules(text, target, allowed):
    assert parse_robots(text.encode()).can_fetch(f"http://a.test{target}", AGENT) is allowed


def test_crawl_delay_and_what_is_none():
    assert parse_robots(b"User-agent: *\nCrawl-delay: 2.5").crawl_delay(AGENT) == 2.5
    assert parse_robots(b"User-agent: *\nCrawl-delay: soon").crawl_delay(AGENT) is None
    assert parse_robots(b"User-agent: x\nCrawl-delay: 9").crawl_delay(AGENT) is None


def test_a_pattern_of_many_stars_is_no_trap():
    """A backtracking matcher would need longer than this machine will exist."""

    def allows(pattern: str, path: str) -> bool:
        return parse_robots(f"User-agent: *\nDisallow: {pattern}".encode()).can_fetch(f"http://a.test{path}", AGENT)

    assert allows("/" + "*a" * 5_000 + "$", "/" + "a" * 4_999 + "b")
    assert not allows("/" + "*a" * 50 + "$", "/" + "a" * 60)
    assert allows("/" + "*a*b" * 5_000, "/" + "ab" * 2_000)


async def test_a_forbidden_page_is_not_asked_for(internet, make_fetcher):
    internet.site("a.test").robots("User-agent: *\nDisallow: /private").page("/private", "x").page("/public", "y")
    fetcher = make_fetcher()
    for path in ("private", "x/%2e%2e/private"):
        assert await why_not(fetcher, f"http://a.test/{path}", Blocked) == "robots"
    assert (await fetcher.fetch("http://a.test/public")).body == b"y"
    assert [request.path for request in internet.requests] == ["/robots.txt", "/public"]


async def test_a_redirect_is_judged_by_the_rules_of_where_it_leads(internet, make_fetcher):
    internet.site("a.test").redirect("/", "http://b.test/private")
    internet.site("b.test").robots("User-agent: deep-research\nDisallow: /private").page("/private", "x")
    assert await why_not(make_fetcher(), "http://a.test/", Blocked) == "robots"


@pytest.mark.parametrize("code", [401, 404])
async def test_no_rules_forbid_nothing(internet, make_fetcher, code):
    internet.site("a.test").on("/robots.txt", answers.status(code)).page("/", "x")
    assert (await make_fetcher().fetch("http://a.test/")).body == b"x"


@pytest.mark.parametrize("answer", [answers.status(503), answers.DROP])
async def test_rules_that_cannot_be_read_forbid_everything(internet, make_fetcher, answer):
    internet.site("a.test").on("/robots.txt", answer).page("/", "x")
    assert await why_not(make_fetcher(), "http://a.test/", Unreachable) == "robots"
    assert internet.count("a.test", "/") == 0


async def test_rules_are_followed_where_they_moved(internet, make_fetcher):
    internet.site("a.test").redirect("/robots.txt", "http://b.test/rules").page("/", "x")
    internet.site("b.test").page("/rules", "User-agent: *\nDisallow: /", "text/plain")
    assert await why_not(make_fetcher(), "http://a.test/", Blocked) == "robots"


async def test_rules_that_moved_inside_are_no_rules(internet, make_fetcher):
    internet.site("a.test").redirect("/robots.txt", "http://127.0.0.1/robots.txt").page("/", "x")
    assert (await make_fetcher().fetch("http://a.test/")).body == b"x"
    assert all(host == "a.test" for host in (request.host for request in internet.requests))


async def test_endless_rules_are_read_up_to_their_limit(internet, make_fetcher):
    def rules():
        yield b"User-agent: *\nDisallow: /private\n"
        while True:
            yield b"# more\n" * 1_000

    internet.site("a.test").on("/robots.txt", answers.WebAnswer(chunks=rules)).page("/private", "x")
    assert await why_not(make_fetcher(), "http://a.test/private", Blocked) == "robots"
    assert ROBOTS_BYTES == 524_288


async def test_crawl_delay_is_obeyed_within_reason(internet, make_fetcher, clock):
    for host, delay in (("a.test", 4), ("b.test", 3600)):
        internet.site(host).robots(f"User-agent: *\nCrawl-delay: {delay}").page("/1", "x").page("/2", "x")
    fetcher = make_fetcher()
    for host, most in (("a.test", 4.0), ("b.test", 10.0)):
        before = clock.monotonic()
        await fetcher.fetch(f"http://{host}/1")
        await fetcher.fetch(f"http://{host}/2")
        assert clock.monotonic() - before == 0.5 + most  # which is known when robots.txt is there


async def test_the_user_may_decide_otherwise(internet, make_fetcher):
    internet.site("a.test").robots("User-agent: *\nDisallow: /").page("/", "x")
    fetcher = make_fetcher(WebOptions(fetch=FetchOptions(obey_robots=False)))
    assert (await fetcher.fetch("http://a.test/")).body == b"x"
    assert internet.count("a.test", "/robots.txt") == 0
