"""What becomes of the pages behind search results: read once, cut, told apart from walls, copies and the dead."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from deep_research.assembly.page_access import RunPages
from deep_research.assembly.web_search import WebPlace
from deep_research.data import Found
from deep_research.errors import SourceError
from deep_research.fetch.addresses import KnownAddresses
from deep_research.fetch.web import Web
from deep_research.sources import open_source
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.readers.pdf_files import make_pdf
from tests.runs.soundness import assert_sound, body
from tests.support.clock import FakeClock
from tests.support.web_answers import SeenRequest, WebAnswer, json_answer
from tests.support.web_answers import page as page_answer
from tests.web.world import ALPHA, BETA, World, research, why

LONG = [
    f"The Alpha engine was measured at dock {n}, where it turned {n + 3000} times a minute in rain." for n in range(90)
]


def _listed_by(world: World, host: str) -> None:
    """A second search engine, in Brave's way, that lists the same pages under addresses with a tracker."""

    def answer(request: SeenRequest) -> WebAnswer:
        results = [{"title": title, "url": f"{url}?utm_source=x"} for url, title in world.listed.items()]
        return json_answer({"type": "search", "web": {"results": results}})

    world.web.site(host).on("/res/v1/web/search", answer)


def test_a_long_page_is_read_whole_and_cut_into_passages(world: World, own_state: Path) -> None:
    world.page("long.test", "/alpha", "Alpha engine", *LONG)
    ran = research(world.web, "How often does the Alpha engine turn at dock 85?", home=own_state)
    assert "turned 3085 times a minute" in ran.report.report
    library = SqliteLibrary(ran.folder.library)
    passages = library.passages("s1")
    library.close()
    assert len(passages) > 3
    assert passages[-1].text.endswith("turned 3089 times a minute in rain.")
    assert_sound(ran.report, ran.folder)


def test_b14_no_page_and_no_search_is_asked_for_twice(
    world: World, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "brave-test-key")
    world.engines()
    world.wikipedia({"Alpha engine": ALPHA, "Beta engine": BETA})
    _listed_by(world, "brave.test")
    ran = research(
        world.web, home=own_state, sources=("searxng", "brave", "wikipedia"),
        source_options={"brave": {"base_url": "http://brave.test"}},
    )  # fmt: skip
    asked = Counter((request.host, request.target) for request in world.web.requests)
    assert {what: times for what, times in asked.items() if times > 1} == {}
    assert world.web.count("alpha.test", "/engine") == 1
    assert world.web.count("brave.test", "/res/v1/web/search") > 1
    assert {"searxng", "brave"} & {source.origin for source in ran.report.sources.values()}


WALLS = {
    "a paywall or login": "<p>The Alpha engine is …</p><p>Subscribe to continue reading. Already a subscriber? Log in to read.</p>",
    "a consent wall": "<p>Before you continue to Alpha engine, we and our partners store cookies. Accept all cookies.</p>",
    "a check for robots": "<p>Checking your browser. Please verify that you are human about the Alpha engine.</p>",
    "a page that needs JavaScript": "<p>The Alpha engine page requires JavaScript. Please enable JavaScript.</p>",
    "has no text": "<div id=root></div><script>alpha()</script><noscript>Enable JavaScript</noscript>",
}


def test_walls_and_pages_that_are_gone_forbidden_or_refused_are_gaps_and_never_content(
    world: World, own_state: Path
) -> None:
    world.web.dns.set("archive.org", "8.8.9.1")
    world.web.site("archive.org").on("/wayback/available", json_answer({"archived_snapshots": {}}))
    world.page("alpha.test", "/", "Alpha engine", ALPHA)
    world.list_page("http://gone.test/", "Alpha engine gone")
    world.page("shy.test", "/alpha", "Alpha engine shy", BETA)
    world.web.site("shy.test").robots("User-agent: *\nDisallow: /")
    for number, html in enumerate(WALLS.values()):
        head = "<html><head><title>Alpha engine</title></head>"
        world.web.site(f"wall{number}.test").page("/", f"{head}<body>{html}</body></html>")
        world.list_page(f"http://wall{number}.test/", "Alpha engine")
    ran = research(world.web, "What is the Alpha engine?", home=own_state)
    for number, wall in enumerate(WALLS):
        told = [
            f"{gap.what} {gap.why}" for gap in ran.report.gaps if f"http://wall{number}.test/" in gap.what + gap.why
        ]
        assert any(wall in one for one in told), (wall, told)
    assert "http://gone.test/" in why(ran)
    assert "robots.txt" in why(ran)
    assert world.web.count("shy.test", "/alpha") == 0
    assert {source.url for source in ran.report.sources.values()} == {"http://alpha.test/"}
    assert ran.report.answered


def test_of_a_dead_page_the_archived_copy_is_read_and_told(world: World, own_state: Path) -> None:
    copy = "/web/20200101000000id_/http://dead.test/alpha"
    closest = {"available": True, "status": "200", "url": f"http://web.archive.org{copy.replace('id_', '')}"}
    world.web.dns.set("archive.org", "8.8.9.1")
    world.web.dns.set("web.archive.org", "8.8.9.2")
    said = json_answer({"archived_snapshots": {"closest": closest}})
    world.web.site("archive.org").on("/wayback/available", said)
    world.web.site("web.archive.org").page(copy, f"<h1>Alpha engine</h1><p>{ALPHA}</p>")
    world.list_page("http://dead.test/alpha", "Alpha engine")
    ran = research(world.web, "What is the Alpha engine?", home=own_state)
    assert "3,000 rpm" in ran.report.report
    assert "http://dead.test/alpha is gone; an archived copy was read: https://web.archive.org" in why(ran)


def test_of_copies_of_one_text_one_is_quoted(world: World, own_state: Path) -> None:
    world.engines()
    world.page("mirror.test", "/alpha", "Alpha engine", ALPHA)
    world.page(
        "other.test", "/beta", "Beta engine", "The Beta engine is a piston engine of 85 kg that trucks use.", BETA[-99:]
    )
    ran = research(world.web, home=own_state)
    quoted = {reference.url for reference in ran.report.references}
    assert len(quoted & {"http://alpha.test/engine", "http://mirror.test/alpha"}) == 1
    assert {"http://beta.test/engine", "http://other.test/beta"} <= quoted
    assert body(ran.report).count("turns at 3,000 rpm") == 1


def test_addresses_written_in_what_was_read_may_be_opened(world: World) -> None:
    lines = ["More about engines: http://more.test/engines.html.", "And about tests."]
    document = make_pdf([lines], links=[("72 740 500 758", "http://behind.test/words")])
    world.web.site("pdf.test").page("/a.pdf", document, "application/pdf")
    world.web.site("text.test").page("/a.txt", "Engines: http://plain.test/engines", "text/plain")
    known = KnownAddresses()

    async def read() -> None:
        web = Web(resolver=world.web.dns, dial=world.web.dial)
        fetcher = web.fetcher(known)
        place = WebPlace(open_source("searxng", web.api, {}, {"base_url": "http://search.test"}), fetcher, print)
        for url in ("http://pdf.test/a.pdf", "http://text.test/a.txt"):
            known.add(url)
            await place.read(Found(key=url, title="", url=url, origin="searxng"))
        await fetcher.close()
        await web.close()

        assert fetcher.links("http://pdf.test/a.pdf") == {"http://behind.test/words": "And about tests."}

    asyncio.run(read())
    assert "http://more.test/engines.html" in known
    assert "http://plain.test/engines" in known
    assert "http://other.test/" not in known


@pytest.mark.parametrize(
    ("url", "is_read"),
    [
        ("http://found.test/walled", True),
        ("http://found.test/scripts", True),
        ("http://found.test/gone", False),
        ("http://other.test/walled", False),
        ("http://found.test/named-by-nobody", False),
    ],
)
def test_what_a_site_refuses_us_is_read_by_the_service_that_found_the_site(
    world: World, url: str, is_read: bool
) -> None:
    site = world.web.site("found.test").on("/walled", WebAnswer(403, body=b"no")).on("/gone", WebAnswer(404))
    site.page("/scripts", "<html><body><script>go()</script></body></html>")
    world.web.site("other.test").on("/walled", WebAnswer(403, body=b"no"))
    world.web.site("archive.org").on("/wayback/available", json_answer({}))
    row = {"title": "Found", "url": "http://found.test/first", "content": "Engines."}
    text = "# Engines\n\nThe Alpha engine turns at 3,000 rpm. See [its tests](/tests)."
    service = world.web.site("tavily.test").on("/search", json_answer({"results": [row]}), method="POST")
    service.on("/extract", json_answer({"results": [{"url": url, "raw_content": text}]}), method="POST")
    known = KnownAddresses(
        ["http://other.test/walled", *(f"http://found.test/{n}" for n in ("walled", "scripts", "gone"))]
    )

    async def read() -> Found:
        web = Web(resolver=world.web.dns, dial=world.web.dial, clock=FakeClock())
        fetcher = web.fetcher(known)
        source = open_source("tavily", web.api, {"TAVILY_API_KEY": "k"}, {"base_url": "http://tavily.test"})
        place = WebPlace(source, fetcher, print)
        try:
            await place.search("engines", limit=3)
            return await RunPages(fetcher, print, readers=[place.page]).open(url)
        finally:
            await fetcher.close()
            await web.close()

    if not is_read:
        with pytest.raises(SourceError):
            asyncio.run(read())
        assert world.web.count("tavily.test", "/extract") == 0
        return
    page = asyncio.run(read())
    assert page.document is not None
    assert "3,000 rpm" in page.document.text
    assert (page.title, page.url) == ("Engines", url)


def test_searches_that_fail_together_count_once_and_two_failures_in_turn_end_it(world: World) -> None:
    """A small server that refuses some of many connections at once is no server that is down."""
    world.web.site("search.test").on("/search", page_answer("<!doctype html><p>busy"))

    async def asked() -> list[bool]:
        web = Web(resolver=world.web.dns, dial=world.web.dial)
        fetcher = web.fetcher(KnownAddresses())
        place = WebPlace(open_source("searxng", web.api, {}, {"base_url": "http://search.test"}), fetcher, print)
        seen: list[bool] = []
        for queries in (("a", "b", "c"), ("d",), ("e",)):
            searches = [asyncio.create_task(place.search(f"engines {query}", limit=3)) for query in queries]
            done, _ = await asyncio.wait(searches)
            failed = [task.exception() for task in done]
            seen.append(any(isinstance(error, SourceError) and error.given_up for error in failed))
        await fetcher.close()
        await web.close()
        return seen

    assert asyncio.run(asked()) == [False, False, True]
