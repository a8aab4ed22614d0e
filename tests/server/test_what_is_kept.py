"""What an owner keeps is bounded, and what one does with much of it holds up nobody else."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import httpx
import pytest

from deep_research.concurrency import OWNER
from deep_research.data import Claim, Verdict
from deep_research.runs import report_changes
from deep_research_server import run_service
from deep_research_server.access_tokens import AccessTokens, owner_home
from deep_research_server.fair_turns import make_answer
from deep_research_server.http_app import make_app
from deep_research_server.mcp_server import make_http_app
from deep_research_server.run_service import ServerOptions
from tests.mcp_server.clients import over_http
from tests.server.serving import client, client_of, serving, serving_app
from tests.support.made_reports import RUN_ID, make_report, save_run

QUESTION = {"question": "How does speculative decoding work?", "workflow": "quick", "sources": []}


def _token(home: Path, owner: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {AccessTokens(home).create(owner)}"}


class Two:
    """A server with two owners, of whom one is at work at much."""

    def __init__(self, app: Any, address: str, loop: asyncio.AbstractEventLoop, home: Path) -> None:
        self.service, self.loop, self.home = app.state.service, loop, owner_home(home, "mallory")
        self.mallory, self.anna = (client_of(home, address, owner) for owner in ("mallory", "anna"))

    def begin(self, work: Any) -> "Future[Any]":
        """Have something done in the loop of the server."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def begin_answers(self, number: int, work: Callable[[], Any]) -> "list[Future[Any]]":
        """Have so many answers of mallory's made."""

        async def make() -> Any:
            OWNER.set("mallory")
            return await make_answer(work)

        return [self.begin(make()) for _ in range(number)]


@pytest.fixture
def two(own_state: Path) -> Iterator[Two]:
    app = make_app(ServerOptions(own_state, AccessTokens(own_state)))
    with serving_app(app) as (address, loop):
        made = Two(app, address, loop, own_state)
        with made.mallory, made.anna:
            yield made


def _begun_and_stopped(http: httpx.Client) -> httpx.Response:
    made = http.post("/api/v1/runs", json=QUESTION)
    if made.status_code == 201:
        http.post(f"/api/v1/runs/{made.json()['id']}/cancel")
    return made


async def test_an_owner_keeps_so_many_runs_and_so_many_bytes_and_no_more(
    two: Two, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_service, "MOST_KEPT_RUNS", 3)
    save_run(two.home)
    made = [_begun_and_stopped(two.mallory) for _ in range(3)]
    assert [one.status_code for one in made] == [201, 201, 429]
    assert "You keep 3 runs" in made[-1].json()["detail"]
    assert "delete runs" in made[-1].json()["detail"]
    assert two.mallory.post(f"/api/v1/runs/{RUN_ID}/refresh").status_code == 429
    chat = {"model": "deep-research-quick", "messages": [{"role": "user", "content": "Why?"}]}
    assert two.mallory.post("/v1/chat/completions", json=chat).status_code == 429
    desk = make_http_app(ServerOptions(own_state, AccessTokens(own_state)))
    with serving_app(desk) as (address, _):
        async with over_http(f"{address}/mcp", **_token(own_state, "mallory")) as agent:
            refused = await agent.call_tool("begin_research", {"question": "Why?"})
            assert refused.is_error
            assert "delete runs" in refused.content[0].text
    assert two.mallory.get("/api/v1/runs").json()["total"] == 3
    assert _begun_and_stopped(two.anna).status_code == 201
    assert two.mallory.delete(f"/api/v1/runs/{made[0].json()['id']}").status_code == 204
    assert _begun_and_stopped(two.mallory).status_code == 201
    # And so many bytes.
    monkeypatch.setattr(run_service, "MOST_KEPT_BYTES", 1_000)
    assert two.mallory.delete(f"/api/v1/runs/{made[1].json()['id']}").status_code == 204
    assert two.mallory.post("/api/v1/runs", json=QUESTION).status_code == 429
    assert two.mallory.post(f"/api/v1/runs/{RUN_ID}/follow-ups", json={"question": "And?"}).status_code == 429
    # The user of this machine keeps what there is room for.
    with serving(own_state) as address, client(address) as http:
        assert _begun_and_stopped(http).status_code == 201


def test_nobody_waits_for_what_another_owner_begins(two: Two) -> None:
    begun, go = threading.Event(), threading.Event()

    async def begin_slowly() -> None:
        async with two.service.room_for_one(two.home):
            begun.set()
            await asyncio.to_thread(go.wait)

    beginning = two.begin(begin_slowly())
    assert begun.wait(30)
    try:
        with pytest.raises(httpx.ReadTimeout):  # her own come one after the other
            two.mallory.post("/api/v1/runs", json=QUESTION, timeout=0.5)
        assert _begun_and_stopped(two.anna).status_code == 201
    finally:
        go.set()
    beginning.result(30)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_beginning_reads_no_other_run(own_state: Path) -> None:
    stuck = own_state / "runs" / "20990101-000000-stuck"
    stuck.mkdir(parents=True)
    os.mkfifo(stuck / "run.json")  # who reads it waits for ever
    with serving(own_state) as address, client(address) as http:
        made = http.post("/api/v1/runs", json=QUESTION, headers={"Idempotency-Key": "one"})
        assert made.status_code == 201
        asked = {"model": "deep-research-quick", "input": "Why?", "stream": True}
        with http.stream("POST", "/v1/responses", json=asked, timeout=10) as answer:
            assert answer.status_code == 200


def test_long_answers_are_made_in_turns_of_their_owners(two: Two) -> None:
    save_run(two.home)
    go = threading.Event()
    long = two.begin_answers(40, go.wait)
    try:
        for path in ("", f"/{RUN_ID}", f"/{RUN_ID}/report", f"/{RUN_ID}/follow-ups", f"/{RUN_ID}/changes"):
            with pytest.raises(httpx.ReadTimeout):
                two.mallory.get(f"/api/v1/runs{path}", timeout=0.3)
        assert two.anna.get("/api/v1/runs").json()["total"] == 0
        assert two.anna.get("/readyz").status_code == 200
    finally:
        go.set()
    assert all(one.result(30) for one in long)


def test_two_deletions_that_meet_are_no_failure_of_the_server(two: Two) -> None:
    save_run(two.home)
    go = threading.Event()
    long = two.begin_answers(2, go.wait)
    found = list[int]()

    def delete() -> None:
        found.append(two.mallory.delete(f"/api/v1/runs/{RUN_ID}").status_code)

    deleting = [threading.Thread(target=delete) for _ in range(6)]
    for one in deleting:
        one.start()
    go.set()
    for one in deleting:
        one.join(60)
    assert 204 in found
    assert set(found) <= {204, 404, 409}
    assert all(one.result(30) for one in long)


def test_so_many_statements_are_compared_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def claims(*texts: str) -> tuple[Claim, ...]:
        verdict = Verdict(kind="supported")
        return tuple(
            Claim(id=f"c{number}", text=text, where="", passages=("s1p1",), verdict=verdict)
            for number, text in enumerate(texts)
        )

    before, after = make_report(), make_report()
    before = before.model_copy(update={"claims": claims("The mast is 21 m high.", "The deck is made of oak.", "Same.")})
    after = after.model_copy(
        update={"claims": claims("The mast is 22 m high.", "The deck is made of old oak.", "Same.")}
    )
    monkeypatch.setattr(report_changes, "_MOST_COMPARED", 1)
    changes = report_changes.compare_reports(before, after, before="", after="")
    assert [one.kind for one in changes.statements] == ["changed", "new", "gone"]
    assert changes.unchanged == 1
