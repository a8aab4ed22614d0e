"""Runs of several owners: each owner's come in turn, the last place is left to others, and who is alone takes all."""

import asyncio
import shutil
import socket
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import APIRouter

from deep_research.concurrency import OWNER, Turns
from deep_research_server import evidence_routes, openai_routes, run_routes, server_routes
from deep_research_server.access_tokens import AccessTokens, owner_home
from deep_research_server.fair_turns import FairStream, OwnersRoute
from deep_research_server.http_app import make_app
from deep_research_server.run_service import ServerOptions, turns_of_runs
from tests.model.harness import served
from tests.runs.running import engines
from tests.server.serving import Held, begin, client, client_of, serving_app, serving_runs, until_report
from tests.support.made_reports import save_run

QUICK = {"question": "How does speculative decoding work?", "model_provider": "finder", "workflow": "quick"}
LONG = {"question": "Which kinds of engines are there?", "model_provider": "compatible", "model_name": "scripted"}


def _begun(http: httpx.Client, number: int, asked: dict[str, Any]) -> list[httpx.Response]:
    return [http.post("/api/v1/runs", json=asked) for _ in range(number)]


def test_an_owner_who_fills_the_server_holds_nobody_up(
    own_state: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(index, owner_home(own_state, "ben") / "documents")
    held = Held()
    with served(monkeypatch, held), serving_runs(own_state, require_tokens=True, max_runs=2) as server:
        server.service._most = 5
        with client_of(own_state, server.address, "anna") as anna, client_of(own_state, server.address, "ben") as ben:
            statuses = [made.status_code for made in _begun(anna, 7, LONG)]
            assert statuses == [201] * 5 + [429] * 2
            (made,) = _begun(ben, 1, QUICK)
            assert until_report(ben, made.json()["id"])["claims"]
            for run in anna.get("/api/v1/runs").json()["runs"]:
                anna.post(f"/api/v1/runs/{run['id']}/cancel")
            held.go.set()


def test_what_is_refused_for_want_of_room_is_not_made(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, done = Held(), save_run(own_state).run_id
    with served(monkeypatch, held), serving_runs(own_state, max_runs=1) as server, client(server.address) as http:
        server.service._most = 1
        going = http.post("/api/v1/runs", json=LONG).json()["id"]
        for path, given in (
            (f"/api/v1/runs/{done}/refresh", None),
            (f"/api/v1/runs/{done}/follow-ups", {"question": "And now?"}),
            ("/api/v1/runs", QUICK),
            ("/api/v1/verifications", {"text": "The engine was built in 1871."}),
        ):
            assert http.post(path, json=given).status_code == 429, path
        assert http.get("/api/v1/runs").json()["total"] == 2
        assert http.get(f"/api/v1/runs/{done}/follow-ups").json() == []
        http.post(f"/api/v1/runs/{going}/cancel")
        held.go.set()


async def _taken(turns: Turns, owners: str) -> tuple[list[str], asyncio.Event, list[asyncio.Task[None]]]:
    """Let owners ask for turns in this order; return who got one, what ends all turns, and the tasks."""
    got, over = list[str](), asyncio.Event()

    async def take(owner: str) -> None:
        async with turns.turn_of(owner):
            got.append(owner)
            await over.wait()

    tasks = [asyncio.create_task(take(owner)) for owner in owners]
    for _ in range(20):
        await asyncio.sleep(0)
    return got, over, tasks


@pytest.mark.parametrize(
    ("asking", "is_shared", "got"),
    [
        ("aaaaa", False, "aaaa"),  # alone: all places
        ("aaaaab", True, "aaab"),  # the last is for another
        ("aaaaabbc", True, "aaab"),
        ("abababcd", True, "abac"),
    ],
)
async def test_who_gets_the_places(asking: str, is_shared: bool, got: str) -> None:
    taken, over, tasks = await _taken(turns_of_runs(4, lambda: is_shared), asking)
    assert "".join(taken) == got
    over.set()
    await asyncio.wait(tasks)
    assert sorted(taken) == sorted(asking)


async def test_one_place_goes_round_and_one_who_stops_waiting_takes_none() -> None:
    taken, over, tasks = await _taken(turns_of_runs(1, lambda: True), "aaabc")
    tasks[1].cancel()
    over.set()
    await asyncio.wait(tasks)
    assert "".join(taken) == "abca"


async def test_a_turn_given_to_one_who_has_just_left_goes_on() -> None:
    turns = turns_of_runs(1, lambda: False)
    taken, over, tasks = await _taken(turns, "ab")
    over.set()
    for _ in range(20):
        if turns._running["b"]:
            break
        await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.wait(tasks)
    async with asyncio.timeout(30), turns.turn_of("c"):
        taken.append("c")
    assert taken[-1] == "c"


def test_requests_under_way_are_counted_until_they_end(
    own_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held()
    monkeypatch.setattr("deep_research_server.request_guard.MOST_UNDER_WAY", 1)
    with (
        served(monkeypatch, held),
        serving_runs(own_state, require_tokens=True) as server,
        client_of(own_state, server.address, "anna") as anna,
        client_of(own_state, server.address, "bert") as bert,
    ):
        run = begin(anna, engines(tmp_path / "docs"), **LONG)
        with anna.stream("GET", f"/api/v1/runs/{run}/events") as events:
            lines = events.iter_lines()
            assert next(lines)
            assert anna.get("/api/v1/runs").status_code == 429
            assert bert.get("/api/v1/runs").status_code == 200
            held.go.set()
            assert list(lines)
        assert anna.get("/api/v1/runs").status_code == 200


def _where() -> dict[str, str]:
    """Tell in which thread a route or tool is done, and whose it is."""
    return {"thread": threading.current_thread().name.partition("_")[0], "owner": OWNER.get()}


async def _here() -> dict[str, str]:
    return _where()


def test_a_route_that_is_a_plain_function_is_done_in_its_owners_turn(own_state: Path) -> None:
    app, router = make_app(ServerOptions(own_state, AccessTokens(own_state))), APIRouter(route_class=OwnersRoute)
    router.get("/new")(_where)
    router.get("/page/here")(_here)  # needs no token
    app.router.routes[:0] = router.routes
    with serving_app(app) as (address, _), client_of(own_state, address, "anna") as anna, client(address) as stranger:
        assert anna.get("/new").json() == {"thread": "answers", "owner": "anna"}
        assert anna.get("/page/here").json()["owner"] == "anna"
        assert stranger.get("/page/here").json()["owner"] == "?"  # not the user of this machine, who may have all


def test_every_route_that_reads_is_a_plain_function() -> None:
    waiting = {"follow_run", "follow_follow_up", "export_report", "list_models", "show_response"}
    for module in (run_routes, evidence_routes, server_routes, openai_routes):
        for route in module.router.routes:
            assert isinstance(route, OwnersRoute)
            is_read = "GET" in route.methods and route.name not in waiting
            assert hasattr(route.endpoint, "__wrapped__") or not is_read, route.path


async def test_a_stream_leaves_others_their_turn() -> None:
    over, turns = asyncio.Event(), 0

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"data: {}\n\n"

    async def sent(_message: Any) -> None:
        pass

    async def count() -> None:
        nonlocal turns
        while not over.is_set():
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await FairStream(parts()).stream_response(sent)
    over.set()
    await counting
    assert turns >= 100


def test_what_needs_no_token_is_counted_apart_and_not_before_it_came(
    own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deep_research_server.request_guard.MOST_UNDER_WAY", 1)
    app, router = make_app(ServerOptions(own_state, AccessTokens(own_state))), APIRouter()
    begun, go = threading.Event(), threading.Event()

    @router.get("/page/held")
    async def hold() -> None:
        begun.set()
        await asyncio.to_thread(go.wait, 60)

    app.router.routes[:0] = router.routes
    with (
        serving_app(app) as (address, _),
        client_of(own_state, address, "anna") as anna,
        client(address) as stranger,
        socket.create_connection(("127.0.0.1", int(address.rsplit(":", 1)[1])), 20) as unsent,
        ThreadPoolExecutor(1) as other,
    ):
        unsent.sendall(b"POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n")
        holding = other.submit(httpx.get, f"{address}/page/held", timeout=60)
        try:
            assert begun.wait(60)
            assert stranger.get("/page/api.js").status_code == 429
            assert stranger.get("/healthz").status_code == 200
            assert stranger.post("/api/v1/session", json={"token": "drt_wrong"}).status_code == 401
            assert anna.get("/page/api.js").status_code == 200
        finally:
            go.set()
        assert holding.result(60).status_code == 200
        assert stranger.get("/page/api.js").status_code == 200


def test_the_document_of_the_routes_is_made_once(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app, made = make_app(ServerOptions(own_state)), list[int]()
    make = app.openapi
    monkeypatch.setattr(app, "openapi", lambda: made.append(1) or make())
    with serving_app(app) as (address, _), client(address) as http:
        answers = [http.get("/openapi.json") for _ in range(3)]
        assert answers[2].json() == make()
        same = http.get("/openapi.json", headers={"if-none-match": answers[0].headers.get("etag", "none")})
        assert same.status_code == 304
    assert len(made) == 1
