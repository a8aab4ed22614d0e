"""What every source behind a web API promises, tested on all that are registered; none is named here."""

import base64
import json
import sys

import pytest

from deep_research import registry
from deep_research.data import Found
from deep_research.errors import Blocked, ConfigError, NotFound, RateLimited, SourceError
from deep_research.ports import ApiResponse
from deep_research.sources import FAMILIES, api_rates, api_sources, source_rows, variables
from deep_research.sources._api_answers import Declaration
from tests.sources.answers import Call, ScriptedClient, answer, bodies, opened, options_of, searched, secret

OVER_HTTP = sorted(name for name, kind in api_sources().items() if kind.over_http)
pytestmark = pytest.mark.parametrize("name", OVER_HTTP)
QUERY = "sparse retrieval"
PAGE = (
    "<!doctype html><html><head><title>Welcome</title></head><body><h1>Sign in</h1><p>Enable scripts.</p></body></html>"
)


def scripted(name: str, kind: str) -> ScriptedClient:
    return ScriptedClient({word: answer(body) for word, body in bodies(name, kind).items()})


def failing(name: str, response: ApiResponse) -> ScriptedClient:
    """Every call fails, or every call but those for a token."""
    tokens = {word: answer(body) for word, body in bodies(name, "one").items() if "token" in word}
    return ScriptedClient({"": response, **tokens})


async def test_a_source_has_recorded_answers_and_finds_what_is_in_them(name):
    source = opened(name, scripted(name, "one"))
    result = await source.search(QUERY, limit=5)
    assert len(result.found) == 1
    found = result.found[0]
    assert found.origin == name
    assert found.key
    assert found.title.strip() == found.title
    assert found.url.startswith("https://")
    assert "<" not in found.title.replace("List<String>", "")


async def test_documents_are_whole_and_their_headings_are_where_they_say(name):
    source = opened(name, scripted(name, "one"))
    for found in (await source.search(QUERY, limit=5)).found:
        if found.document is None and not found.page_text:
            continue
        document = await source.read(found)
        assert found.document in (document, None)
        assert document.text.strip()
        for heading in document.headings:
            assert document.text[heading.start :].lstrip("#").startswith(f" {heading.title}")


async def test_no_long_answer_is_read_on_the_event_loop(name):
    answers = {word: answer(body.rstrip() + b" " * 70_000) for word, body in bodies(name, "one").items()}
    source = opened(name, ScriptedClient(answers))
    long = []

    def look(frame, event, _argument):
        if event == "call" and frame.f_code in (json.loads.__code__, Declaration.xml_of.__func__.__code__):
            given = frame.f_locals.get("s") or frame.f_locals["response"].body
            long.extend([name] * (len(given) > 70_000))

    sys.setprofile(look)
    try:
        result = await source.search(QUERY, limit=5)
    finally:
        sys.setprofile(None)
    assert len(result.found) == 1
    assert not long


async def test_nothing_found_is_an_empty_result(name):
    result = await opened(name, scripted(name, "empty")).search("xyzzy", limit=5)
    assert result.found == ()


async def test_an_empty_query_and_a_limit_of_nothing_make_no_call(name):
    client = scripted(name, "one")
    assert (await opened(name, client).search("   ", limit=5)).found == ()
    assert (await opened(name, client).search(QUERY, limit=0)).found == ()
    assert client.calls == []


async def test_a_very_long_query_is_shortened(name):
    client = scripted(name, "empty")
    await opened(name, client).search("sparse retrieval " * 2000, limit=5)
    sent = [json.dumps([*call.params.values(), call.json, call.url]) for call in client.calls]
    assert sent
    assert max(map(len, sent)) < 2500


async def test_too_many_requests_says_how_long_to_wait(name):
    client = failing(name, answer({"message": "Too Many Requests"}, 429, {"retry-after": "7"}))
    with pytest.raises(RateLimited) as error:
        await opened(name, client).search(QUERY, limit=5)
    assert error.value.retry_after == 7.0
    assert name in error.value.message


async def test_a_failure_is_a_source_error_and_never_a_result(name):
    needs = api_sources()[name].needs
    for status in (400, 401, 402, 403, 404, 422, 451, 500, 502, 503, 504):
        client = failing(name, answer({"error": {"message": "it went wrong"}}, status))
        result = await searched(opened(name, client), QUERY)
        if isinstance(result, SourceError):
            assert name in result.message
        else:
            assert (status, result.found) == (404, ())
        if status in (401, 403):
            assert isinstance(result, Blocked)
            assert needs is None or needs in result.message or needs.endswith("_URL")


NO_ANSWERS = ("", "   ", "null", "[]", "{}", '"text"', "17", "Rate exceeded.", "\0\1\2", "{" * 5000, "<a><b></a>", PAGE)


async def test_what_is_no_answer_of_the_api_is_an_error_or_nothing(name):
    for body in NO_ANSWERS:
        result = await searched(opened(name, failing(name, answer(body))), QUERY)
        assert isinstance(result, SourceError) or (result.found == () and body != PAGE), body


async def test_an_answer_cut_off_is_an_error_or_less_of_the_same(name):
    whole = await opened(name, scripted(name, "one")).search(QUERY, limit=5)
    known = {found.url for found in whole.found}
    for share in (0.1, 0.3, 0.5, 0.7, 0.9, 0.97):
        cut = {word: answer(body[: int(len(body) * share)]) for word, body in bodies(name, "one").items()}
        result = await searched(opened(name, ScriptedClient(cut)), QUERY)
        assert isinstance(result, SourceError) or {found.url for found in result.found} <= known, share


def _places_of(value: str, call: Call) -> list[str]:
    """Return where a call carries `value`: in its address, by parameter or header, in its body."""
    headers = {key: _decoded(text) for key, text in call.headers.items()}
    pairs = [*call.params.items(), *headers.items(), ("address", call.url), ("body", json.dumps(call.json))]
    return [key for key, text in pairs if value in str(text)]


def _decoded(header: str) -> str:
    """Return a header with the user name and password of basic authentication in clear."""
    scheme, _, rest = header.partition(" ")
    return base64.b64decode(rest).decode() if scheme == "Basic" else header


async def test_each_key_is_sent_to_the_service_and_stands_in_one_place_of_a_call(name):
    client = scripted(name, "one")
    await opened(name, client).search(QUERY, limit=5)
    for variable in api_sources()[name].variables():
        if variable.endswith("_URL"):
            continue  # an address is where calls go; nothing carries it
        places = [_places_of(secret(variable), call) for call in client.calls]
        assert any(places), variable
        assert all(len(place) <= 1 for place in places), (variable, places)


async def test_without_its_key_a_source_says_which_variable_to_set(name):
    kind = api_sources()[name]
    source = opened(name, scripted(name, "one"), with_keys=False)
    missing = kind.missing(source.options, {})
    gaps = await source.prepare(lambda what, done, total: None)
    assert [gap.why for gap in gaps] == ([missing] if missing else [])
    if missing:
        assert kind.needs in missing
        with pytest.raises(Blocked, match=kind.needs):
            await source.search(QUERY, limit=5)


async def test_a_result_that_is_no_longer_known_is_not_found(name):
    source = opened(name, failing(name, answer({"message": "Not Found"}, 404)))
    with pytest.raises(NotFound):
        await source.read(Found(key="of:nobody", title="Gone", url="https://example.org/gone", origin=name))
    await source.close()


def test_options_have_the_official_address_a_pace_and_bounds(name):
    kind = api_sources()[name]
    options = kind.read_options(options_of(name))
    assert 0 < options.requests_per_second <= 10
    if options.base_url:
        assert options.base_url.startswith("https://")
        assert "{" in options.base_url or api_rates([options])
    for field, about in type(options).model_fields.items():
        assert about.description, f"{field} says nothing about itself"
    with pytest.raises(ConfigError, match=rf"source_options\.{name}\.nonsense"):
        kind.read_options({"nonsense": 1})
    with pytest.raises(ConfigError, match=rf"source_options\.{name}\.requests_per_second") as caught:
        kind.read_options({"requests_per_second": 0})
    assert caught.value.setting == f"source_options.{name}.requests_per_second"
    with pytest.raises(ConfigError, match="base_url"):
        kind.read_options({"base_url": "ftp://example.org"})


def test_a_period_that_ends_before_it_begins_is_refused(name):
    kind = api_sources()[name]
    if "since" in kind.options_type.model_fields:
        with pytest.raises(ConfigError, match="later than"):
            kind.read_options({"since": "2024-02-01", "until": "2024-01-01"})
        with pytest.raises(ConfigError, match="since"):
            kind.read_options({"since": "last week"})


async def test_a_base_address_that_was_set_is_the_one_that_is_called(name):
    kind = api_sources()[name]
    if not kind.read_options(options_of(name)).base_url:
        return
    client = scripted(name, "one")
    keys = {variable: secret(variable) for variable in kind.variables()}
    source = kind.build(options_of(name) | {"base_url": "http://127.0.0.1:8099/mirror/"}, client, keys)
    await source.search(QUERY, limit=5)
    assert client.calls
    assert all(call.url.startswith("http://127.0.0.1:8099/mirror/") for call in client.calls)


def test_a_source_declares_itself_once(name):
    kind = api_sources()[name]
    assert registry.component("sources", name) is kind
    module = kind.__module__.removeprefix("deep_research.sources.")
    assert name in FAMILIES.get(module, (module,))
    assert kind.name == name
    assert kind.build({"base_url": "https://example.org"} | options_of(name), ScriptedClient({}), {}).name == name
    assert all(variable.isupper() for variable in kind.variables())
    assert set(kind.variables()) <= set(variables())
    row = next(row for row in source_rows() if row.name == name)
    assert row.purpose == kind.purpose
    assert row.purpose.endswith(".")
