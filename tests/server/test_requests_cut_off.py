"""Chat clients that leave before the answer: the same request again goes on with its run, and nothing is paid twice."""

import asyncio
import json
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from deep_research import api
from deep_research_server import run_service
from tests.model.harness import QUESTION, served
from tests.server.serving import TIMEOUT, Held, client, events_of, serving
from tests.support.scripted_http import HttpRequest, HttpResponse, json_response, listening
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import step_of

ASKED = {"model": "deep-research", "messages": [{"role": "user", "content": QUESTION}]}


class HeldSearches(Held):
    """A scripted researcher that does not say what it searches for before `go` is set."""

    def __call__(self, request: Request) -> Reply:
        if step_of(request) == "research":
            self.held.set()
            assert self.go.wait(60)
        return super().__call__(request)


class Chat(NamedTuple):
    """A server with a model that is held up, and a client of it."""

    http: httpx.Client
    provider: ScriptedProvider
    script: Held

    def until_held(self) -> None:
        """Wait until the research is held up."""
        assert self.script.held.wait(TIMEOUT)

    def assert_paid_once(self) -> None:
        assert all(call.sent for call in self.provider.calls)
        assert max(Counter(call.digest for call in self.provider.calls).values()) == 1


async def _finds_nothing(_: HttpRequest) -> HttpResponse:
    return json_response(200, {"batchcomplete": True, "query": {"search": [], "pages": []}})


@pytest.fixture
def chat(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    script = HeldSearches()
    settings = 'model_provider = "compatible"\nmodel_name = "scripted"\nsources = ["wikipedia"]\n'
    own_state.mkdir(parents=True, exist_ok=True)
    with (
        listening(_finds_nothing) as source,
        served(monkeypatch, script) as provider,
        serving(own_state) as address,
        client(address) as http,
    ):
        (own_state / "settings.toml").write_text(f'{settings}[source_options.wikipedia]\nbase_url = "{source}"\n')
        yield Chat(http, provider, script)
        script.go.set()


def run_ids(own_state: Path) -> list[str]:
    return [record.run_id for record in api.list_runs(home=own_state)]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
async def test_a_request_whose_client_left_goes_on_when_it_is_made_again(
    chat: Chat, own_state: Path, path: str
) -> None:
    asked = ASKED if path.endswith("completions") else {"model": "deep-research", "input": QUESTION}
    async with httpx.AsyncClient(base_url=chat.http.base_url, timeout=TIMEOUT, trust_env=False) as http:
        leaving = asyncio.create_task(http.post(path, json=asked))
        await asyncio.to_thread(chat.until_held)
        leaving.cancel()
        await asyncio.wait([leaving])
    threading.Timer(0.5, chat.script.go.set).start()
    done = chat.http.post(path, json=asked)
    assert done.status_code == 200, done.text
    (run,) = run_ids(own_state)
    assert done.json()["id"].endswith(run)
    chat.assert_paid_once()

    assert not chat.http.post(path, json=asked).json()["id"].endswith(run)  # that client had its answer


def test_a_stream_that_was_left_goes_on_also_when_its_run_has_come_to_its_end(chat: Chat, own_state: Path) -> None:
    with chat.http.stream("POST", "/v1/chat/completions", json={**ASKED, "stream": True}) as answer:
        next(answer.iter_bytes())
        chat.until_held()
    chat.script.go.set()
    (run,) = run_ids(own_state)
    assert events_of(chat.http, f"/api/v1/runs/{run}/events")[-1]["event"] == "end"  # finished, or stopped by then
    done = chat.http.post("/v1/chat/completions", json=ASKED).json()
    assert done["id"].endswith(run)
    assert done["choices"][0]["message"]["content"]
    chat.assert_paid_once()


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
def test_an_answer_that_nobody_waited_for_was_not_given(chat: Chat, own_state: Path, path: str) -> None:
    asked = ASKED if path.endswith("completions") else {"model": "deep-research", "input": QUESTION}
    with pytest.raises(httpx.ReadTimeout):
        chat.http.post(path, json=asked, timeout=httpx.Timeout(TIMEOUT, read=1))
    chat.until_held()
    chat.script.go.set()
    (run,) = run_ids(own_state)
    assert events_of(chat.http, f"/api/v1/runs/{run}/events")[-1]["event"] == "end"
    for _ in range(8):  # the run has ended, and its answer is on its way at once
        send_and_leave(chat.http, path, asked)
    done = chat.http.post(path, json=asked)
    assert (done.status_code, done.json()["id"].endswith(run)) == (200, True)
    chat.assert_paid_once()
    assert not chat.http.post(path, json=asked).json()["id"].endswith(run)  # that client had its answer


def send_and_leave(http: httpx.Client, path: str, asked: dict[str, object]) -> None:
    """Send a request whole and be gone before its answer."""
    body = json.dumps(asked)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    with socket.create_connection((http.base_url.host, http.base_url.port)) as leaving:
        leaving.sendall(f"{head}\r\n\r\n{body}".encode())


def test_two_clients_that_ask_the_same_at_once_share_a_run(chat: Chat, own_state: Path) -> None:
    with chat.http.stream("POST", "/v1/chat/completions", json={**ASKED, "stream": True}) as answer:
        chunks = answer.iter_bytes()
        next(chunks)
        chat.until_held()
        with pytest.raises(httpx.ReadTimeout):  # one that leaves does not end it for the other
            chat.http.post("/v1/chat/completions", json=ASKED, timeout=httpx.Timeout(TIMEOUT, read=1))
        chat.script.go.set()
        assert b"".join(chunks).endswith(b"data: [DONE]\n\n")
    assert len(run_ids(own_state)) == 1


def test_a_run_whose_client_left_before_its_stream_began_is_stopped(
    chat: Chat, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_service, "_LEFT_SECONDS", 0.2)
    send_and_leave(chat.http, "/v1/chat/completions", {**ASKED, "stream": True})
    # Its events end at once where they are asked for before it is carried out.
    while [record.status for record in api.list_runs(home=own_state)] != ["stopped"]:
        threading.Event().wait(0.05)
