"""Scripted answers of web APIs: a client that answers from bodies in a folder, and the folder's bodies."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from deep_research.data import SearchResult
from deep_research.errors import SourceError
from deep_research.fetch.guarded_network import system_dial
from deep_research.fetch.web import Web, WebOptions
from deep_research.ports import ApiResponse
from deep_research.sources import api_sources
from deep_research.sources._api import ApiSource
from tests.support.clock import FakeClock
from tests.support.fake_web import FakeWeb

BODIES = Path(__file__).parent / "bodies"
ADDRESS = "https://api.example.org/search"


def answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None, url: str = ADDRESS) -> ApiResponse:
    """Return an answer; what is no text or bytes is sent as JSON."""
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    return ApiResponse(status, dict(headers or {}), body, url)


class Call(NamedTuple):
    """One call that a source made."""

    method: str
    url: str
    params: Mapping[str, str | int]
    json: Any
    headers: Mapping[str, str]


class ScriptedClient:
    """Answers calls: by a word in the address, else with the answer of ""; remembers what it was asked."""

    def __init__(self, answers: Mapping[str, ApiResponse] | ApiResponse) -> None:
        self.answers = {"": answers} if isinstance(answers, ApiResponse) else dict(answers)
        self.calls: list[Call] = []

    async def request(self, method, url, *, params=None, json=None, form=None, headers=None):
        self.calls.append(Call(method, url, params or {}, json if json is not None else form, headers or {}))
        words = sorted((word for word in self.answers if word in url), key=len)
        return self.answers[words[-1]]._replace(url=url)


def bodies(source: str, kind: str) -> dict[str, bytes]:
    """Return the bodies `kind.ext` ("" as their word) and `kind.word.ext` of a source."""
    found = {}
    for file in sorted((BODIES / source).glob(f"{kind}.*")):
        parts = file.name.split(".")
        found[parts[1] if len(parts) == 3 else ""] = file.read_bytes()
    return found


def secret(variable: str) -> str:
    """Return the value of a variable in these tests."""
    return f"value-of-{variable}-1f0e9d"


def options_of(source: str) -> dict[str, Any]:
    file = BODIES / source / "options.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


def opened(source: str, client: ScriptedClient, *, with_keys: bool = True) -> ApiSource[Any]:
    """Return a source with all its keys, over a scripted client."""
    kind = api_sources()[source]
    keys = {name: secret(name) for name in kind.variables()} if with_keys else {}
    return kind.build(options_of(source), client, keys)


def outcome(parse: Callable[[ApiResponse], Any], response: ApiResponse) -> Any:
    """Return what a parser returns, or the SourceError that it raises."""
    try:
        return parse(response)
    except SourceError as error:
        return error


async def searched_over_http(
    internet: FakeWeb, name: str, keys: Mapping[str, str] | None = None
) -> SearchResult | SourceError:
    """Search at a source whose base address is a site of the fake web."""
    kind = api_sources()[name]
    base = internet.base("api.test")
    # A network of its own: what one test's host asks for must not hold for the next one on the same port.
    web = Web(WebOptions(base_addresses=(base,)), dial=partial(system_dial), clock=FakeClock())
    keys = keys or {variable: secret(variable) for variable in kind.variables()}
    try:
        return await searched(kind.build(options_of(name) | {"base_url": base}, web.api, keys), "sparse retrieval")
    finally:
        await web.close()


async def searched(source: ApiSource[Any], query: str, *, limit: int = 5) -> SearchResult | SourceError:
    """Return what a search returns, or the SourceError that it raises."""
    try:
        return await source.search(query, limit=limit)
    except SourceError as error:
        return error
