"""Sessions over HTTP: nobody takes those of others, nobody uses them, and idle ones end."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.server.mcpserver import Context

from deep_research.concurrency import OWNER
from deep_research_server import mcp_server, owners_mcp
from deep_research_server.access_tokens import AccessTokens, owner_home
from deep_research_server.mcp_server import make_http_app, make_server
from deep_research_server.owners_mcp import OwnersSessions
from deep_research_server.request_guard import RequestGuard
from deep_research_server.run_service import ServerOptions
from tests.model.harness import QUESTION, served
from tests.server.serving import Held, serving_app
from tests.support.made_reports import RUN_ID, save_run

_HEAD = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}


@contextmanager
def _client(home: Path, address: str, owner: str) -> Iterator[httpx.Client]:
    headers = {**_HEAD, "authorization": f"Bearer {AccessTokens(home).create(owner)}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60, trust_env=False) as http:
        yield http


def _say(http: httpx.Client, method: str, session: str = "", **params: Any) -> httpx.Response:
    said = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return http.post("/mcp", json=said, headers={"mcp-session-id": session} if session else {})


def _begin(http: httpx.Client) -> str:
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    answer = _say(http, "initialize", **about)
    assert answer.status_code == 200, answer.text
    session = answer.headers["mcp-session-id"]
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert http.post("/mcp", json=done, headers={"mcp-session-id": session}).status_code == 202
    return session


def _lives(http: httpx.Client, session: str) -> bool:
    answer = _say(http, "tools/list", session)
    assert answer.status_code in (200, 404), answer.text
    return answer.status_code == 200


@pytest.fixture
def address(own_state: Path) -> Iterator[str]:
    with serving_app(make_http_app(ServerOptions(own_state, AccessTokens(own_state)))) as (served, _):
        yield served


def test_who_opens_many_sessions_loses_their_own(
    own_state: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owners_mcp, "MOST_SESSIONS", 4)
    with _client(own_state, address, "anna") as anna, _client(own_state, address, "ben") as ben:
        of_ben = [_begin(ben) for _ in range(2)]
        of_anna = [_begin(anna) for _ in range(10)]
        assert [_lives(ben, one) for one in of_ben] == [True, True]
        assert [_lives(anna, one) for one in of_anna] == [False] * 6 + [True] * 4
        assert _lives(ben, _begin(ben))
        alone = [_begin(anna) for _ in range(3)]
        assert all(_lives(anna, one) for one in alone)


def test_a_session_is_that_of_the_owner_who_opened_it(own_state: Path, address: str) -> None:
    with _client(own_state, address, "anna") as anna, _client(own_state, address, "ben") as ben:
        session = _begin(anna)
        assert not _lives(ben, session)
        assert ben.delete("/mcp", headers={"mcp-session-id": session}).status_code == 404
        assert _lives(anna, session)
        assert anna.delete("/mcp", headers={"mcp-session-id": session}).status_code == 200
        assert not _lives(anna, session)


def test_an_idle_session_ends(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mcp_server.IDLE_SECONDS <= 900
    monkeypatch.setattr(mcp_server, "IDLE_SECONDS", 0.2)
    app = make_http_app(ServerOptions(own_state, AccessTokens(own_state)))
    with serving_app(app) as (address, _), _client(own_state, address, "anna") as anna:
        session = _begin(anna)
        for seconds in (0.4, 1, 3, 10):  # each question begins its time anew
            threading.Event().wait(seconds)
            if not _lives(anna, session):
                return
        pytest.fail("it is still there")


def where(context: Context) -> str:
    """Tell in which thread a tool is done, and whose call it is."""
    assert context
    return f"{threading.current_thread().name.partition('_')[0]} of {OWNER.get()}"


def test_a_tool_that_is_a_plain_function_is_done_in_its_owners_turn(own_state: Path) -> None:
    tokens = AccessTokens(own_state)
    server = make_server(ServerOptions(own_state, tokens))
    server.add_tool(where)
    app = RequestGuard(OwnersSessions(server.streamable_http_app()), tokens=tokens)
    with serving_app(app) as (address, _), _client(own_state, address, "anna") as anna:
        session = _begin(anna)
        assert "answers of anna" in _say(anna, "tools/call", session, name="where", arguments={}).text
        assert "Extra inputs" in _say(anna, "tools/call", session, name="where", arguments={"more": 1}).text


def test_calls_that_wait_for_runs_are_counted_also_when_their_clients_have_left(
    own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held()
    assert owners_mcp._MOST_WAITING <= 48
    monkeypatch.setattr(owners_mcp, "_MOST_WAITING", 5)
    monkeypatch.setenv("DEEP_RESEARCH_MODEL_PROVIDER", "compatible")
    monkeypatch.setenv("DEEP_RESEARCH_MODEL_NAME", "scripted")
    app = make_http_app(ServerOptions(own_state, AccessTokens(own_state)))
    with (
        served(monkeypatch, held),
        serving_app(app) as (address, _),
        _client(own_state, address, "anna") as anna,
        _client(own_state, address, "ben") as ben,
    ):
        of_anna, of_ben = _begin(anna), _begin(ben)
        try:
            for number in range(5):
                assert "Run " in _first_said(anna, of_anna, number)
            assert "5 calls of yours that wait for runs are under way" in _first_said(anna, of_anna, 5)
            assert "Run " in _first_said(ben, of_ben, 0)
        finally:
            held.go.set()


def _first_said(http: httpx.Client, session: str, number: int) -> str:
    """Have a question researched, and leave when something is said; return it."""
    call = {"name": "research", "arguments": {"question": QUESTION}, "_meta": {"progressToken": number}}
    said = {"jsonrpc": "2.0", "id": 100 + number, "method": "tools/call", "params": call}
    with http.stream("POST", "/mcp", json=said, headers={"mcp-session-id": session}) as answer:
        return next(line for line in answer.iter_lines() if line.startswith("data: {"))


def test_a_result_that_is_too_large_for_an_answer_is_refused(
    own_state: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_run(owner_home(own_state, "anna"))
    with _client(own_state, address, "anna") as anna:
        session, uri = _begin(anna), f"research://runs/{RUN_ID}/result"
        assert "Alpha engine" in _say(anna, "resources/read", session, uri=uri).text
        monkeypatch.setattr(mcp_server, "MOST_ENCODED", 1_000)
        assert "too large for an answer" in _say(anna, "resources/read", session, uri=uri).text
