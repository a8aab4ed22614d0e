"""The fake web, asked with the standard library: it must be a real server to anybody."""

import http.client
import json
import threading
import urllib.error
import urllib.request

import pytest

from deep_research.errors import NotFound
from tests.support import FakeDns, FakeWeb
from tests.support import web_answers as answers


@pytest.fixture
def web():
    with FakeWeb() as web:
        yield web


def get(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_sites_answer_by_name_on_one_port(web):
    web.site("a.test").page("/", "A")
    web.site("b.test").page("/", "B").page("/ä b", "B2")
    assert get(web.base("a.test")) == (200, b"A")
    assert get(web.base("b.test") + "/?x=1") == (200, b"B")
    assert get(web.base("b.test") + "/%C3%A4%20b") == (200, b"B2")
    assert get(web.base("c.test") + "/")[0] == 404
    request = urllib.request.Request(f"http://127.0.0.1:{web.port}/", headers={"Host": "a.test:80"})
    with urllib.request.urlopen(request) as response:
        assert response.read() == b"A"
    assert web.count("a.test", "/") == 2
    assert web.requests[1].query == {"x": ["1"]}


def test_an_api_answers_one_after_the_other_or_by_the_request(web):
    site = web.site("api.test")
    site.on("/s", [answers.status(429, "slow", retry_after="3"), answers.json_answer({"hits": []})])
    site.on("/echo", lambda request: answers.json_answer([request.method, request.body.decode()]), method="POST")
    base = web.base("api.test")
    assert [get(f"{base}/s") for _ in range(3)] == [(429, b"slow"), (200, b'{"hits": []}'), (200, b'{"hits": []}')]
    with urllib.request.urlopen(f"{base}/echo", data=b"hello") as response:
        assert json.load(response) == ["POST", "hello"]
    assert get(f"{base}/echo")[0] == 404


def test_redirects_robots_and_feeds(web):
    site = web.site("a.test").redirect("/old", "/@a.test/new").page("/new", "N").robots("User-agent: *\nDisallow: /x")
    site.feed("/feed", [("One & two", "http://a.test/1?a=1&b=2")])
    assert get(web.base("a.test") + "/old") == (200, b"N")
    assert b"Disallow: /x" in get(web.base("a.test") + "/robots.txt")[1]
    assert b"<link>http://a.test/1?a=1&amp;b=2</link>" in get(web.base("a.test") + "/feed")[1]


def test_a_page_knows_its_etag(web):
    web.site("a.test").on("/", answers.validated("x", '"1"'))
    request = urllib.request.Request(web.base("a.test"), headers={"If-None-Match": '"1"'})
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request)
    assert caught.value.code == 304
    caught.value.close()
    assert get(web.base("a.test")) == (200, b"x")


def test_a_connection_is_kept_open(web):
    web.site("a.test").page("/", "A")
    connection = http.client.HTTPConnection("127.0.0.1", web.port)
    for _ in range(2):
        connection.request("GET", "/", headers={"Host": "a.test"})
        assert connection.getresponse().read() == b"A"
    connection.close()


def test_faults(web):
    site = web.site("bad.test").on("/drop", answers.DROP).on("/short", answers.truncated("abc", 10))
    site.on("/endless", answers.endless()).on("/bomb", answers.bomb(3)).on("/drip", answers.drip())
    connection = http.client.HTTPConnection("127.0.0.1", web.port)
    connection.request("GET", "/@bad.test/drop")
    with pytest.raises(http.client.RemoteDisconnected):
        connection.getresponse()
    connection.close()
    with pytest.raises(http.client.IncompleteRead):
        get(web.base("bad.test") + "/short")
    for path in ("/endless", "/drip"):
        with urllib.request.urlopen(web.base("bad.test") + path) as response:
            assert response.read(3) == b"xxx"
    assert len(get(web.base("bad.test") + "/bomb")[1]) < 30_000


def test_a_server_ends_while_a_client_still_waits():
    arrived = threading.Event()

    def hang(request):
        arrived.set()
        return answers.HANG

    with FakeWeb() as web:
        web.site("a.test").on("/", hang)
        connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=10)
        connection.request("GET", "/@a.test/")
        arrived.wait()
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        connection.getresponse()
    connection.close()


async def test_names():
    dns = FakeDns()
    dns.sequence("r.test", ["1.1.1.1"], ["127.0.0.1"])
    assert [await dns.resolve("r.test") for _ in range(3)] == [["1.1.1.1"], ["127.0.0.1"], ["127.0.0.1"]]
    assert await dns.resolve("a.test") == await dns.resolve("a.test") != await dns.resolve("b.test")
    dns.remove("a.test")
    for host in ("a.test", "unknown.example"):
        with pytest.raises(NotFound):
            await dns.resolve(host)
    assert dns.lookups.count("r.test") == 3
