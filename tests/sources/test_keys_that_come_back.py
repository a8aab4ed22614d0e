"""Servers that repeat the key they were sent: it is in nothing that a source or a provider hands on."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from deep_research.errors import ResearchError, SourceError
from deep_research.fetch.web_api import JournaledApi
from deep_research.providers.provider_catalog import PROVIDERS, VARIABLES
from deep_research.settings import load_keys
from deep_research.sources import api_sources
from deep_research.stores.journal import SqliteJournal
from tests.providers.served import asking, completed, serving
from tests.sources.answers import ScriptedClient, answer, bodies, searched_over_http
from tests.support import web_answers
from tests.support.fake_web import FakeWeb

STATUSES = (200, 302, 400, 401, 403, 429, 500)
CANARY = "CANARY0123456789"
WITH_KEYS = sorted(name for name, kind in api_sources().items() if kind.variables() and kind.over_http)


def _keys(patch: pytest.MonkeyPatch, variables: Any) -> dict[str, str]:
    for variable in variables:
        if not variable.endswith(("_URL", "_HOST")):
            patch.setenv(variable, f"{CANARY}{variable.lower()}:part-{CANARY}")
    return {name: key for name, key in load_keys(variables).items() if CANARY in key}


@pytest.mark.parametrize("name", WITH_KEYS)
async def test_a_source(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = _keys(monkeypatch, api_sources()[name].variables())
    echo = f"your key {' '.join(keys.values())} was seen"
    said: dict[str, Any] = {"error": echo, "message": echo, "detail": echo, "errors": [{"message": echo}]}
    known = bodies(name, "one").get("", b"")
    found = json.loads(known) if known.lstrip().startswith(b"{") else {}
    with FakeWeb() as internet:
        for status in STATUSES:
            reply = web_answers.json_answer(said | (found if status == 200 else {}), status)
            reply.headers.update({"location": f"/?key={CANARY}", "x-echo": echo, "retry-after": "600"})
            internet.otherwise = reply
            result = await searched_over_http(internet, name, keys)
            told = f"{vars(result)} {result}" if isinstance(result, SourceError) else result.model_dump_json()
            assert all(value not in told for value in keys.values()), status
        assert len(internet.requests) >= len(STATUSES)


def test_an_access_token_is_asked_for_by_each_process_and_kept_nowhere(tmp_path: Path) -> None:
    records = bodies("patents_epo", "one")[""].decode()
    client = ScriptedClient(
        {"": answer(records), "accesstoken": answer({"access_token": CANARY, "expires_in": "1199"})}
    )
    journal = SqliteJournal(tmp_path / "journal.db")
    for _process in range(2):
        source = api_sources()["patents_epo"].build({}, JournaledApi(client, journal), {"EPO_OPS_KEY": "key:secret"})
        assert asyncio.run(source.search("rotary engine", limit=1)).found
    journal.close()
    assert [call.url.rpartition("/")[2] for call in client.calls] == ["accesstoken", "biblio", "accesstoken"]
    assert all(CANARY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize("name", [name for name in PROVIDERS if name not in ("finder", "langchain")])
async def test_a_provider(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = _keys(monkeypatch, VARIABLES)
    echo = f"your key {' '.join(keys.values())} was seen"
    body = json.dumps({"error": {"message": echo, "type": echo, "code": echo}, "message": echo}).encode()
    for status in STATUSES:
        with serving(body, status=status, headers={"location": f"/?key={CANARY}"}) as served:
            try:
                told = (await completed(asking(), served.url, provider=name, keys=keys)).model_dump_json()
            except ResearchError as error:
                told = f"{error.message} {error}"
        assert all(value not in told for value in keys.values()), status
