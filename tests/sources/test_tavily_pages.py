"""Tavily's pages: with the results, else asked for, and each only once."""

import pytest

from deep_research.data import Found
from deep_research.errors import NotFound, Unreachable
from deep_research.fetch.web_api import JournaledApi
from deep_research.sources.web_engines import TavilySource
from deep_research.stores.journal import SqliteJournal
from tests.sources.answers import ScriptedClient, answer


def service(*known: str) -> ScriptedClient:
    """Answers extractions with the pages that it has, searches with the same as results."""
    rows = [{"url": one, "title": one, "raw_content": f"About {one}."} for one in known]
    return ScriptedClient(answer({"results": rows}))


def found(url: str) -> Found:
    return Found(key=url, title="A page", url=url, origin="tavily")


def tavily(client) -> TavilySource:
    source = TavilySource.build({}, client, {"TAVILY_API_KEY": "tvly-test"})
    assert isinstance(source, TavilySource)
    return source


PAGES = [f"https://a.test/{n}" for n in range(3)]


async def test_a_page_that_did_not_come_with_the_result_is_asked_for_once_and_may_be_missing(tmp_path):
    journal, client = SqliteJournal(tmp_path / "journal.db"), service(PAGES[0])
    for source in [tavily(JournaledApi(client, journal)) for _ in range(2)]:
        assert f"About {PAGES[0]}." in (await source.read(found(PAGES[0]))).text
    assert [call.json["urls"] for call in client.calls] == [[PAGES[0]]]
    with pytest.raises(NotFound):
        await source.read(found(PAGES[1]))
    journal.close()


async def test_the_page_that_came_with_the_result_is_read_without_a_call():
    source = tavily(client := service(PAGES[0]))
    (result,) = (await source.search("engines", limit=3)).found
    assert result.document is None
    assert f"About {PAGES[0]}." in (await source.read(result)).text
    assert [call.json["query"] for call in client.calls] == ["engines"]


async def test_a_failure_of_the_service_is_not_kept(tmp_path):
    journal, client = SqliteJournal(tmp_path / "journal.db"), ScriptedClient(answer("", 500))
    source = tavily(JournaledApi(client, journal))
    with pytest.raises(Unreachable):
        await source.search("engines", limit=3)
    client.answers = service(PAGES[0]).answers
    assert len((await source.search("engines", limit=3)).found) == 1
    assert (await source.search("engines", limit=3)).found
    assert len(client.calls) == 2
    journal.close()


async def test_a_key_among_the_parameters_is_not_in_the_journal(tmp_path):
    journal = SqliteJournal(tmp_path / "journal.db")
    client = JournaledApi(ScriptedClient(answer(b"\xff\x00", headers={"set-cookie": "session"})), journal)
    asked = {"params": {"key": "a-secret-key"}, "headers": {"authorization": "Bearer a-secret-key"}}
    for _ in range(2):
        response = await client.request("GET", "https://api.test/v1?key=a-secret-key", **asked)
        assert response.body == b"\xff\x00"
    journal.close()
    assert b"a-secret-key" not in (tmp_path / "journal.db").read_bytes()
