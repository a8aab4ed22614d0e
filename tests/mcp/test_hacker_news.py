"""Hacker News through MCP, through tools that a program hands in, and directly where neither works."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deep_research import build_deep_research_graph, run_deep_research
from deep_research.data import Report
from deep_research.events import Searched
from deep_research.fetch.web import Web, WebOptions
from deep_research.stores.run_folder import RunFolder
from tests.mcp.pocket_server import STORIES
from tests.mcp.serving import stdio
from tests.mcp.test_langchain_tools import adapted, top_stories
from tests.mcp.test_runs import FIND, QUESTION, ToolUser, research
from tests.model.harness import served
from tests.runs.running import Ran
from tests.runs.soundness import assert_sound
from tests.support.clock import FakeClock
from tests.support.fake_web import FakeWeb
from tests.support.scripted_replies import Call
from tests.support.web_answers import json_answer

ALGOLIA = "hn.algolia.com"


def _research(web: FakeWeb, home: Path, servers: dict[str, Any], **settings: Any) -> Ran:
    """Do a whole run that searches Hacker News, with Algolia on the fake web."""

    def make_web(options: WebOptions) -> Web:
        return Web(options, resolver=web.dns, dial=web.dial, clock=FakeClock())

    given = {"make_web": make_web}
    return research(home, servers, given=given, sources=("hackernews",), workflow="quick", **settings)


@pytest.fixture
def web() -> Any:
    with FakeWeb() as made:
        made.dns.set(ALGOLIA, "8.8.4.5")
        made.site(ALGOLIA).on("/api/v1/search", json_answer({"hits": STORIES}))
        yield made


def _asked_at(ran: Ran) -> set[str]:
    return {event.source for event in ran.of(Searched)}


def _origins(report: Report) -> set[str]:
    return {source.origin for source in report.sources.values()}


def test_e1_a_server_of_that_name_stands_in_for_the_source(own_state: Path, web: FakeWeb) -> None:
    ran = _research(web, own_state, {"hackernews": stdio(tools=["search_stories"])})
    assert_sound(ran.report, ran.folder)
    assert "3,000 rpm" in ran.report.report
    assert _asked_at(ran) == {"hackernews"}
    assert _origins(ran.report) == {"mcp:hackernews"}
    assert web.requests == []


def test_e1_a_server_that_does_not_come_up_is_told_and_algolia_asked(own_state: Path, web: FakeWeb) -> None:
    ran = _research(web, own_state, {"hn": stdio(fault="start")})
    assert_sound(ran.report, ran.folder)
    assert "'hn' has ended the connection" in " ".join(gap.why for gap in ran.report.gaps)
    assert _origins(ran.report) == {"hackernews"}


def test_b9_servers_are_settings_of_a_graph(own_state: Path) -> None:
    servers = {"hn": stdio(tools=["search_stories"])}
    config: Any = {"configurable": {"sources": "hackernews", "model_provider": "finder", "mcp_servers": servers}}
    assert _origins(asyncio.run(run_deep_research(QUESTION, build_deep_research_graph(workflow="quick"), config))) == {
        "mcp:hn"
    }


def test_b11_tools_handed_in_are_called_by_a_model_over_a_whole_run(
    own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = ToolUser([FIND, Call("top_stories", {"count": 2})])
    graph = build_deep_research_graph(
        hn_mcp_tools=[adapted(), top_stories],
        model_provider="compatible",
        model_name="scripted",
        sources=["hackernews"],
    )
    config: Any = {"configurable": {"thread_id": "with-tools", "home": str(own_state), "allow_clarification": False}}
    with served(monkeypatch, script) as provider:
        report = asyncio.run(run_deep_research(QUESTION, graph, config))
        offered = {name for one in provider.calls for name in one.request["tools"]}
    assert_sound(report, RunFolder(own_state, "with-tools"))
    assert {"search_stories", "top_stories"} <= offered
    assert "3,000 rpm" in report.report
    assert _origins(report) == {"mcp:hackernews"}
