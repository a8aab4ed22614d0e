"""How sources call their APIs."""

import asyncio
from dataclasses import replace

import pytest

from deep_research.concurrency import Rate
from deep_research.errors import Blocked, NotFound, RateLimited, Unreachable, Unreadable
from deep_research.fetch.fetch_policies import FetchLimits
from deep_research.fetch.web import WebOptions
from deep_research.fetch.web_api import WebApiClient
from tests.support import web_answers as answers

API = "https://api.test/v1/search"


@pytest.fixture
def api(make_web) -> WebApiClient:
    return make_web().api


async def test_params_json_form_and_headers(internet, api):
    internet.site("api.test").on("/v1/search", answers.json_answer({"hits": 1}))
    internet.site("api.test").on("/v1/search", answers.json_answer({"hits": 2}), method="POST")
    got = await api.request("GET", API + "?a=1", params={"q": "ü b&c", "n": 3}, headers={"X-Key": "k"})
    assert (got.status, got.body, got.headers["content-type"]) == (200, b'{"hits": 1}', "application/json")
    assert internet.requests[0].query == {"a": ["1"], "q": ["ü b&c"], "n": ["3"]}
    assert internet.requests[0].headers["x-key"] == "k"
    await api.request("POST", API, json={"q": "ü"})
    assert internet.requests[1].body == b'{"q": "\\u00fc"}'
    assert internet.requests[1].headers["content-type"] == "application/json"
    await api.request("POST", API, form={"grant_type": "client credentials"})
    assert internet.requests[2].body == b"grant_type=client+credentials"


@pytest.mark.parametrize("code", [201, 400, 404, 432, 501])
async def test_answers_come_back_whatever_their_status(internet, api, code):
    internet.site("api.test").on("/v1/search", answers.status(code, "the parser judges"))
    got = await api.request("GET", API)
    assert (got.status, got.body) == (code, b"the parser judges")
    assert len(internet.requests) == 1


async def test_an_api_that_keeps_asking_to_wait(internet, api, clock):
    internet.site("api.test").on("/v1/search", answers.status(429, "Rate exceeded."))
    with pytest.raises(RateLimited, match="Rate exceeded") as caught:
        await api.request("GET", API)
    assert caught.value.status == 429
    assert len(internet.requests) == 3
    assert clock.slept == [2.0, 4.0]


async def test_a_used_up_quota_is_a_wait(internet, api, clock):
    reset = str(int(clock.now().timestamp()) + 20)
    spent = answers.status(403, "API rate limit exceeded", x_ratelimit_remaining="0", x_ratelimit_reset=reset)
    internet.site("api.test").on("/v1/search", [spent, answers.json_answer([])])
    assert (await api.request("GET", API)).status == 200
    assert clock.monotonic() == 20


@pytest.mark.parametrize("fault", [answers.DROP, answers.status(502)])
async def test_reading_calls_are_repeated_and_others_only_where_no_answer_came(internet, api, fault):
    internet.site("api.test").on("/v1/search", [fault, answers.json_answer([])])
    assert (await api.request("GET", API)).status == 200
    internet.site("pay.test").on("/pay", fault, method="POST")
    if fault is answers.DROP:
        with pytest.raises(Unreachable):
            await api.request("POST", "https://pay.test/pay", json={})
    else:
        assert (await api.request("POST", "https://pay.test/pay", json={})).status == 502
    assert internet.count("pay.test", "/pay") == (2 if fault is answers.DROP else 1)


async def test_a_call_that_was_not_taken_is_repeated(internet, api):
    internet.site("api.test").on(
        "/pay", [answers.status(429, retry_after="1"), answers.json_answer("ok")], method="POST"
    )
    assert (await api.request("POST", "https://api.test/pay", json={"a": 1})).body == b'"ok"'
    assert [request.body for request in internet.requests] == [b'{"a": 1}'] * 2


async def test_who_wants_seconds_between_calls_is_called_one_after_the_other(internet, make_web, clock):
    internet.otherwise = answers.json_answer([])
    api = make_web(WebOptions(api_rates=(("slow.test", Rate(1 / 3)),))).api
    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(api.request("GET", f"http://slow.test/{number}"))
    assert clock.monotonic() == 9.0
    assert internet.most_at_once == 1


async def test_a_header_is_sent_once_whatever_its_case(internet, api):
    internet.site("api.test").on("/v1/search", answers.json_answer([]))
    await api.request("GET", API, headers={"accept": "application/xml", "USER-AGENT": "x", "Host": "evil.test"})
    assert internet.requests[0].headers["accept"] == "application/xml"
    assert internet.requests[0].host == "api.test"
    assert internet.requests[0].headers["user-agent"].startswith("deep-research/")


async def test_keys_stay_with_the_host_they_are_for(internet, api):
    internet.site("api.test").redirect("/v1/search", "/v2").redirect("/v2", "https://other.test/")
    internet.site("other.test").on("/", answers.json_answer([]))
    got = await api.request("GET", API, headers={"Authorization": "Bearer k", "Accept": "application/json"})
    assert got.url == "https://other.test/"
    assert [request.headers.get("authorization") for request in internet.requests] == ["Bearer k", "Bearer k", None]


async def test_an_error_names_no_key(internet, api):
    internet.site("api.test").on("/v1/search", answers.DROP)
    with pytest.raises(Unreachable) as caught:
        await api.request("GET", API, params={"api_key": "very-secret"})
    assert "very-secret" not in f"{caught.value.message} {vars(caught.value)}"
    for url in ("http://127.0.0.1/", "http://127.1/"):
        with pytest.raises(Blocked) as blocked:
            await api.request("GET", url, params={"api_key": "very-secret"})
        assert "very-secret" not in f"{blocked.value.message} {vars(blocked.value)}"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://169.254.169.254/", "file:///etc/passwd", "http://intranet/"]
)
async def test_the_guard_judges_apis_too(internet, api, url):
    with pytest.raises(Blocked):
        await api.request("GET", url)
    assert internet.requests == []


async def test_a_redirect_of_an_api_cannot_lead_inside(internet, api):
    internet.site("api.test").redirect("/v1/search", "http://169.254.169.254/latest/")
    with pytest.raises(Blocked):
        await api.request("GET", API)


async def test_a_base_address_of_the_settings_may_be_internal_and_opens_no_page(internet, make_web, make_fetcher):
    internet.dns.set("searx.intranet", "10.0.0.9")
    internet.site("searx.intranet").on("/search", answers.json_answer({}))
    web = make_web(WebOptions(base_addresses=("http://searx.intranet:8888/",)))
    assert (await web.api.request("GET", "http://searx.intranet:8888/search")).status == 200
    with pytest.raises(Blocked):
        await web.api.request("GET", "http://searx.intranet:9999/search")
    with pytest.raises(Blocked):
        await make_fetcher(web=web).fetch("http://searx.intranet:8888/search")


async def test_sizes_and_hosts(internet, make_web, clock):
    internet.site("api.test").on("/v1/search", answers.endless())
    internet.dns.remove("gone.test")
    web = make_web()
    small = replace(web.api, transport=web.pages, limits=FetchLimits(max_bytes=1_000))
    with pytest.raises(Unreadable):
        await small.request("GET", API)
    with pytest.raises(NotFound):
        await web.api.request("GET", "http://gone.test/")


async def test_a_key_that_cannot_be_sent_is_not_quoted(internet, api):
    with pytest.raises(Unreachable) as caught:
        await api.request("GET", API, headers={"Authorization": "Bearer very-secret\n"})
    assert "very-secret" not in f"{caught.value.message} {vars(caught.value)}"
    assert internet.requests == []


async def test_redirects_without_end(internet, api):
    internet.site("api.test").redirect("/v1/search", "/v1/search?again")
    with pytest.raises(Unreachable, match="redirects"):
        await api.request("GET", API)
    assert len(internet.requests) == 4
