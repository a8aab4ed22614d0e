"""A real server on a port of this machine, for tests: uvicorn in a thread, closed at the end of the block."""

import asyncio
import contextlib
import itertools
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import uvicorn

from deep_research_server.access_tokens import AccessTokens
from deep_research_server.http_app import make_app
from deep_research_server.listening import server_config
from deep_research_server.run_service import RunService, ServerOptions
from tests.model.harness import PLAN
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of

TIMEOUT = 60.0


class Held:
    """A scripted researcher that hands over no notes before `go` is set: there is time to look at the run, and to steer it.

    `held` is set once it waits, and `waiting` says how often.
    """

    def __init__(self) -> None:
        self.go, self.held, self.waiting = threading.Event(), threading.Event(), 0
        self._script = ScriptedResearcher(sections=PLAN, sentences=4)

    def __call__(self, request: Request) -> Reply:
        reply = self._script(request)
        if step_of(request) in ("research", "notes") and not reply.tool_calls:
            self.waiting += 1
            self.held.set()
            assert self.go.wait(60)
        return reply


class _Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self.loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.loop = asyncio.get_running_loop()
        self.ready.set()


class Served(NamedTuple):
    """A server: its address, what carries out its runs, and the loop in which it does."""

    address: str
    service: RunService
    loop: asyncio.AbstractEventLoop


@contextlib.contextmanager
def serving(home: Path, **options: Any) -> Iterator[str]:
    """Give the address of a server for the state folder `home`."""
    with serving_runs(home, **options) as served:
        yield served.address


@contextlib.contextmanager
def serving_runs(home: Path, *, require_tokens: bool = False, **options: Any) -> Iterator[Served]:
    """Give a server for the state folder `home`."""
    app = make_app(ServerOptions(home, AccessTokens(home) if require_tokens else None, **options))
    with serving_app(app) as (address, loop):
        yield Served(address, app.state.service, loop)


@contextlib.contextmanager
def serving_app(app: Any) -> Iterator[tuple[str, asyncio.AbstractEventLoop]]:
    """Give the address of a server of an application, and its loop."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = _Server(server_config(app, log_level="critical", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    try:
        assert server.ready.wait(TIMEOUT)
        assert server.loop is not None
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", server.loop
    finally:
        server.should_exit = True
        thread.join(TIMEOUT)


class Wire:
    """A connection to a server that can be cut: what goes through it is ended, and nothing comes through until it is mended."""

    def __init__(self, address: str) -> None:
        self._target = ("127.0.0.1", int(address.rsplit(":", 1)[1]))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        self._is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections, and let none through."""
        self._is_cut = True
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Let connections through again."""
        self._is_cut = False

    def close(self) -> None:
        """End everything."""
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self._is_cut:
                    near.close()
                    continue
                far = socket.create_connection(self._target)
                self._open += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def client(address: str, **options: Any) -> httpx.Client:
    """Return a client of the server."""
    return httpx.Client(base_url=address, timeout=TIMEOUT, trust_env=False, **options)


def client_of(home: Path, address: str, owner: str) -> httpx.Client:
    """Return a client of the server with a token of its own for an owner."""
    return client(address, headers={"Authorization": f"Bearer {AccessTokens(home).create(owner)}"})


def begin(http: httpx.Client, docs: Path, question: str, **settings: object) -> str:
    """Begin a run over uploaded documents, and return its id."""
    ids = [
        http.post("/api/v1/documents", files={"file": (path.name, path.read_bytes())}).json()["id"]
        for path in sorted(docs.iterdir())
    ]
    new = {"question": question, "documents": ids, "model_provider": "finder", **settings}
    made = http.post("/api/v1/runs", json=new)
    assert made.status_code == 201, made.text
    return made.json()["id"]


def events_of(http: httpx.Client, path: str, *, last: int = 0, most: int = 100_000) -> list[dict[str, Any]]:
    """Return the events of a stream, at most `most`, the `end` among them."""
    return list(itertools.islice(followed(http, path, last=last), most))


def followed(http: httpx.Client, path: str, *, last: int = 0) -> Iterator[dict[str, Any]]:
    """Give the events of a stream as they come, the `end` among them."""
    headers = {"Last-Event-ID": str(last)} if last else {}
    with http.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        event: dict[str, Any] = {}
        for line in answer.iter_lines():
            if not line:
                if "data" in event:
                    yield event
                event = {}
            else:
                name, _, value = line.partition(": ")
                event[name] = json.loads(value) if name == "data" else value


def until_report(http: httpx.Client, run_id: str) -> dict[str, Any]:
    """Wait for a run's report and return it."""
    end = events_of(http, f"/api/v1/runs/{run_id}/events")[-1]
    assert end["data"] == {"status": "finished"}, end
    return http.get(f"/api/v1/runs/{run_id}/report").json()
