"""Web search, code, discussions and feeds."""

import base64

import pytest

from deep_research.errors import Blocked, NotFound, RateLimited, SourceError, Unreachable, Unreadable
from deep_research.sources import feeds, github, hackernews
from deep_research.sources._web import page_key
from deep_research.sources.web_engines import parse_bocha, parse_duckduckgo, parse_searxng, parse_tavily
from tests.sources.answers import ScriptedClient, answer, bodies, opened

PAGE = {"title": "T", "url": "https://example.org/a"}


def one(source, parse, kind="one"):
    return parse(answer(bodies(source, kind)[""]))[0]


@pytest.mark.parametrize(
    ("status", "headers", "message", "kind"),
    [
        (403, {"x-ratelimit-remaining": "0"}, "API rate limit exceeded for 203.0.113.7.", RateLimited),
        (403, {}, "You have triggered an abuse detection mechanism.", RateLimited),
        (403, {"x-ratelimit-remaining": "12"}, "Resource not accessible by integration", Blocked),
    ],
)
def test_the_refusals_of_github(status, headers, message, kind):
    with pytest.raises(kind) as error:
        github.parse_repositories(answer({"message": message}, status, headers))
    assert type(error.value) is kind
    assert "203.0.113.7" not in error.value.message


async def test_reading_a_repository_gives_its_readme():
    content = base64.encodebytes(b"# Sparse\n\nA *fast* index.\n\n## Use\n\n```sh\nmake\n```\n" * 3).decode()
    readme = answer({"name": "README.md", "encoding": "base64", "content": content})
    client = ScriptedClient({"": answer(bodies("github", "one")[""]), "readme": readme})
    source = opened("github", client)
    found = (await source.search("sparse", limit=5)).found[0]
    read = await source.read(found)
    assert client.calls[-1].url.endswith("/repos/ada/sparse/readme")
    assert read.text.startswith("# Ada/Sparse: Sparse retrieval in Rust\n\n- Repository: https://github.com/Ada/Sparse")
    assert "42 stars" in read.text
    assert "A fast index." in read.text
    assert [heading.title for heading in read.headings[:3]] == ["Ada/Sparse: Sparse retrieval in Rust", "Sparse", "Use"]
    assert all(read.text[heading.start :].startswith("#") for heading in read.headings)
    client.answers["readme"] = answer({"message": "Not Found"}, 404)
    assert "42 stars" in (await source.read(found)).text


def test_a_discussion_in_order_without_deleted_comments():
    comment = {
        "id": 2,
        "author": "bo",
        "text": "<p>Yes &#x2F; no",
        "children": [{"id": 4, "author": "cy", "text": "Why?"}],
    }
    deleted = {"id": 3, "author": None, "text": None, "children": []}
    item = {"id": 1, "title": "T", "children": [comment, deleted, {"id": 5, "text": "End"}]}
    (found,) = hackernews.parse_items(answer(item))
    assert found.document.text.endswith("bo: Yes / no\n\ncy: Why?\n\nunknown: End")
    with pytest.raises(Unreadable):
        hackernews.parse_items(answer("null"))


async def test_reading_an_article_of_wikipedia():
    page = {
        "pageid": 5,
        "title": "Sparse retrieval",
        "extract": "It is a method.\nIt is old.\n\n\n== History ==\nLong ago.\n\n=== Early ===\nEarlier.\n\n== References ==\nNone.\n\n=== Notes ===\nNo.",
    }
    pages = answer({"query": {"pages": [page]}})
    client = ScriptedClient(answer(bodies("wikipedia", "one")[""]))
    source = opened("wikipedia", client)
    found = (await source.search("sparse retrieval", limit=5)).found[0]
    assert (found.key, found.url) == ("wikipedia:en:Sparse retrieval", "https://en.wikipedia.org/wiki/Sparse_retrieval")
    assert found.snippet == "Sparse retrieval & ranking"
    client.answers[""] = pages
    read = await source.read(found)
    assert [(heading.level, heading.title) for heading in read.headings] == [
        (1, "Sparse retrieval"), (2, "History"), (3, "Early"),
    ]  # fmt: skip
    assert "It is a method.\n\nIt is old." in read.text
    client.answers[""] = answer({"query": {"pages": [{"title": "Gone", "missing": True}]}})
    with pytest.raises(NotFound):
        await source.read(found)


async def test_wikipedia_is_asked_in_the_language_of_the_question():
    client = ScriptedClient(answer(bodies("wikipedia", "one")[""]))
    result = await opened("wikipedia", client).search("大语言模型 推理优化", limit=5)
    assert client.calls[0].url == "https://zh.wikipedia.org/w/api.php"
    assert result.found[0].url.startswith("https://zh.wikipedia.org/wiki/")


def test_bocha_puts_its_code_inside():
    found = one("bocha", parse_bocha)
    assert (found.title, found.snippet, found.published) == ("稀疏检索", "稀疏检索的摘要。", "2024-05-06")
    with pytest.raises(Blocked, match="BOCHA_API_KEY"):
        parse_bocha(answer({"code": "401", "message": "Invalid API KEY"}, 200))
    with pytest.raises(RateLimited):
        parse_bocha(answer({"code": "429", "message": "You have reached the request limit"}, 200))
    with pytest.raises(SourceError):
        parse_bocha(answer({"code": 17, "msg": "odd"}, 200))


def test_long_excerpts_are_documents_that_say_so_and_answers_of_engines_are_not():
    body = {
        "answer": "An engine wrote this.",
        "results": [PAGE | {"content": "word " * 100}, PAGE | {"url": "ftp://x"}],
    }
    found = parse_tavily(answer(body))
    assert len(found) == 1
    assert found[0].document.warnings == ("an excerpt by tavily, not the whole page",)
    assert "An engine wrote this" not in found[0].document.text


async def test_an_engine_of_searxng_that_fails_is_a_gap():
    result = await opened("searxng", ScriptedClient(answer(bodies("searxng", "one")[""]))).search("sparse", limit=5)
    assert [gap.why for gap in result.gaps] == ["brave: timeout"]
    with pytest.raises(Unreachable, match="brave: timeout"):
        parse_searxng(answer({"results": [], "unresponsive_engines": [["brave", "timeout"]]}))
    with pytest.raises(Blocked, match=r"search\.formats"):
        parse_searxng(answer("<!doctype html><title>403</title>", 403))
    with pytest.raises(Unreadable, match=r"search\.formats"):
        parse_searxng(answer("<!doctype html><title>SearXNG</title>"))


async def test_listings_are_fetched_once_and_failing_pages_are_gaps():
    client = ScriptedClient({"": answer({"statusCode": 500}, 500), "good": answer(bodies("feeds", "one")[""])})
    source = feeds.FeedsSource.build(
        {"feeds": ["https://example.org/good.xml", "https://example.org/bad.xml"]}, client, {}
    )
    first = await source.search("sparse retrieval", limit=5)
    again = await source.search("retrieval news", limit=5)
    assert len(first.found) == len(again.found) == 1
    assert [gap.source for gap in first.gaps] == ["feeds"]
    assert len(client.calls) == 2


@pytest.mark.parametrize(
    ("entry", "url", "published"),
    [
        (
            "<item><title>T</title><link>/a</link><pubDate>Mon, 06 May 2024 07:08:09 GMT</pubDate></item>",
            "https://f.org/a",
            "2024-05-06",
        ),
        ("<item><title>T</title><guid isPermaLink='false'>tag:1</guid></item>", "https://f.org/feed", None),
        ("<item><title>T&nbsp;U</title><link>https://f.org/n</link></item>", "https://f.org/n", None),
    ],
)
def test_entries_of_rss(entry, url, published):
    body = f"<rss version='2.0'><channel><title>F</title>{entry}</channel></rss>"
    found = feeds.parse_feed(answer(body, url="https://f.org/feed"))[0]
    assert (found.url, found.published) == (url, published)


def test_atom_and_rdf_feeds():
    atom = """<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><entry><title type="html">A &lt;b&gt;b&lt;/b&gt;</title>
      <link rel="edit" href="/edit"/><link href="/x"/><author><name>Ada</name></author><updated>2024-05-06T00:00:00Z</updated>
      <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One.</p><p>Two.</p></div></content></entry></feed>"""
    found = feeds.parse_feed(answer(atom, url="https://f.org/atom"))[0]
    assert (found.title, found.url, found.authors) == ("A b", "https://f.org/x", ("Ada",))
    assert found.snippet == "One. Two."
    rdf = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
      <channel><title>F</title></channel><item><title>R</title><link>https://f.org/r</link></item></rdf:RDF>"""
    assert feeds.parse_feed(answer(rdf))[0].title == "R"


def test_duckduckgo_page_and_challenge():
    found = one("duckduckgo", parse_duckduckgo)
    assert (found.title, found.url, found.snippet) == ("Sparse retrieval", "https://example.org/a", "An excerpt.")
    with pytest.raises(RateLimited):
        parse_duckduckgo(answer("<html><div class='anomaly-modal'>", 202))


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://www.arxiv.org/pdf/2401.00001v2", "arxiv:2401.00001"),
        ("https://doi.org/10.1234/ABC", "doi:10.1234/abc"),
        ("https://pubmed.ncbi.nlm.nih.gov/123/", "pmid:123"),
        ("https://github.com/Ada/Sparse", "github:ada/sparse"),
        ("https://Example.org/a/?utm_source=x&b=1#top", "https://example.org/a?b=1"),
    ],
)
def test_one_page_has_one_key(url, key):
    assert page_key(url) == key


def test_a_link_that_is_no_address_costs_its_own_entry_alone():
    feed = "<rss><channel><item><title>A</title><link>http://[</link></item><item><title>B</title><link>/b</link></item></channel></rss>"
    assert [found.title for found in feeds.parse_feed(answer(feed, url="https://f.org/feed"))] == ["B"]
