"""What strangers do with connections: half heads, bodies that do not end, more of them than files may be open."""

import asyncio
import contextlib
import os
import re
import select
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from deep_research_server import listening, request_bodies
from deep_research_server.access_tokens import AccessTokens
from deep_research_server.request_bodies import MOST_LARGE
from deep_research_server.request_guard import MOST_UNDER_WAY, RequestGuard
from tests.server.serving import serving, serving_app
from tests.support.turns import TOO_LONG, turns_of_tasks

_HALF_HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-a: "
_SLOW_BODY = (
    b"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b'Content-Length: 100000\r\n\r\n{"question":"'
)
_FILES = 256


class Served(NamedTuple):
    """A server in a process of its own that may open few files; `log` is what it has written."""

    port: int
    log: Path


@pytest.fixture(scope="module")
def small_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Give a server that may open 256 files."""
    folder = tmp_path_factory.mktemp("small")
    log = folder / "log"
    limited = (
        f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({_FILES}, {_FILES}));"
        "from deep_research.cli.main import main; main(['serve', '--port', '0'])"
    )
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-c", limited],
            stdout=written,
            stderr=written,
            env={**os.environ, "DEEP_RESEARCH_HOME": str(folder / "home")},  # noqa: TID251 - what it inherits
        )
    try:
        port = 0
        deadline = time.monotonic() + 60
        while not port and time.monotonic() < deadline and process.poll() is None:
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", log.read_text())
            port = int(found[1]) if found else 0
            threading.Event().wait(0.05)
        assert port, log.read_text()
        yield Served(port, log)
    finally:
        process.terminate()
        process.wait(30)


@contextlib.contextmanager
def held(port: int, number: int, said: bytes) -> Iterator[list[socket.socket]]:
    """Open connections that all say the same and go no further."""
    with contextlib.ExitStack() as stack:
        opened: list[socket.socket] = []
        for _ in range(number):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), 20))
            one.sendall(said)
            opened.append(one)
        yield opened


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of open files")
@pytest.mark.parametrize("said", [_HALF_HEAD, _SLOW_BODY], ids=["half heads", "slow bodies"])
def test_more_connections_than_files_leave_the_server_alive(small_server: Served, said: bytes) -> None:
    health = f"http://127.0.0.1:{small_server.port}/healthz"
    with held(small_server.port, _FILES + 100, said):
        for _ in range(3):
            assert httpx.get(health, timeout=20).json() == {"status": "ok"}
    assert httpx.get(health, timeout=20).status_code == 200
    assert len(small_server.log.read_bytes()) < 50_000, "a line for each connection would be much more"


def test_half_a_head_and_the_rest_of_a_refused_body_are_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "HEAD_SECONDS", 0.3)
    with serving(tmp_path) as address:
        port = int(address.rsplit(":", 1)[1])
        with held(port, 1, _HALF_HEAD) as (one,), contextlib.suppress(ConnectionResetError):
            assert one.recv(1) == b""
        head = b"POST /api/v1/runs HTTP/1.1\r\nHost: elsewhere.example\r\nContent-Length: 900000\r\n\r\n{"
        with held(port, 1, head) as (one,), contextlib.suppress(OSError):
            assert one.recv(12) == b"HTTP/1.1 421"
            for _ in range(60):  # a byte now and then keeps no connection
                one.sendall(b"x")
                threading.Event().wait(0.1)
            pytest.fail("the connection is still there")


def test_a_body_that_does_not_come_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_bodies, "_BODY_SECONDS", 0.2)
    monkeypatch.setattr(request_bodies, "_LEAST_BYTES_PER_SECOND", 10_000_000)
    with serving(tmp_path) as address:
        port = int(address.rsplit(":", 1)[1])
        with held(port, 1, _SLOW_BODY) as (one,):
            assert one.recv(12) == b"HTTP/1.1 408"
        kept = httpx.get(f"{address}/healthz")
        assert kept.status_code == 200


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of open files")
@pytest.mark.parametrize(
    "rest",
    [
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"Content-Length: 100\r\n\r\n{",
        b"Content-Length: 5\r\n\r\n{}{}{GET / HTTP/0\r\n\r\n",
    ],
    ids=["no chunk", "half a body", "no second head"],
)
def test_what_is_no_http_writes_no_log(small_server: Served, rest: bytes) -> None:
    before = small_server.log.read_bytes()
    start, _, body = rest.partition(b"\r\n\r\n")
    for host in (b"127.0.0.1", b"elsewhere.example"):
        for pause in (False, True):  # with its head, or when that may have its answer
            head = b"POST /api/v1/runs HTTP/1.1\r\nHost: " + host + b"\r\n" + start + b"\r\n\r\n"
            with held(small_server.port, 1, head if pause else head + body) as (one,):
                if pause:
                    select.select([one], [], [], 0.1 if host == b"127.0.0.1" else 1)  # nothing comes before the body
                    one.sendall(body)
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_WR)
                    while one.recv(4_000):
                        pass
    assert httpx.get(f"http://127.0.0.1:{small_server.port}/healthz", timeout=20).status_code == 200
    assert small_server.log.read_bytes() == before


async def test_a_body_in_chunks_of_one_byte_leaves_others_their_turn() -> None:
    async def app(_scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    chunks = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 40_000
    with serving_app(app) as (address, loop):
        port = int(address.rpartition(":")[2])

        async def watched() -> list[float]:
            async with turns_of_tasks() as shares:
                await asyncio.to_thread(_answer_to, port, chunks + b"0\r\n\r\n")
            return shares

        shares = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(watched(), loop))
    assert max(shares) < TOO_LONG


def _answer_to(port: int, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as one:
        one.sendall(sent)
        return one.recv(100)


async def _statuses(guard: RequestGuard, path: str, number: int) -> Counter[int]:
    """Return how so many requests are answered by clients that take nothing until the last of them is."""
    statuses: list[int] = []
    taken, all_begun = asyncio.Event(), asyncio.Event()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
            if len(statuses) == number:
                all_begun.set()
        else:
            assert len(message["body"]) < 100_000  # a piece, or the refusal
            await taken.wait()

    async with asyncio.TaskGroup() as asking:
        for _ in range(number):
            scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"host", b"localhost")]}
            asking.create_task(guard(scope, _nothing, send))
        await all_begun.wait()
        taken.set()
    return Counter(statuses)


async def _large(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2000000")]})
    await send({"type": "http.response.body", "body": b"a" * 2_000_000})


async def test_of_large_answers_that_nobody_takes_there_are_few() -> None:
    guard = RequestGuard(_large, tokens=None)
    assert await _statuses(guard, "/", MOST_LARGE + 2) == {200: MOST_LARGE, 429: 2}


async def test_strangers_who_take_nothing_keep_out_nobody_who_asks_whether_it_is_alive(tmp_path: Path) -> None:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})

    guard = RequestGuard(app, tokens=AccessTokens(tmp_path))
    assert await _statuses(guard, "/healthz", MOST_UNDER_WAY + 2) == {200: MOST_UNDER_WAY + 2}
    assert await _statuses(guard, "/", MOST_UNDER_WAY + 2) == {200: MOST_UNDER_WAY, 429: 2}


async def _nothing() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def test_requests_that_wait_behind_another_are_left_with_the_system(small_server: Served) -> None:
    asked, most = b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 1000, 40_000_000
    with socket.create_connection(("127.0.0.1", small_server.port), timeout=20) as client:
        reading = threading.Thread(target=_take_all, args=(client,), daemon=True)
        reading.start()
        client.setblocking(False)
        sent, until = 0, time.monotonic() + 5
        while sent < most and time.monotonic() < until:
            if select.select([], [client], [], 0.2)[1]:
                with contextlib.suppress(BlockingIOError):
                    sent += client.send(asked)
        client.shutdown(socket.SHUT_RDWR)
        reading.join(20)
    assert sent < most


def _take_all(client: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while select.select([client], [], [], 20)[0] and client.recv(1 << 20):
            pass


@pytest.mark.parametrize("where", ["head", "trailer"])
def test_more_header_lines_than_anyone_needs_are_refused_before_they_are_read(small_server: Served, where: str) -> None:
    many = b"a:1\r\n" * 1_000
    chunked = b"Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    rest = many if where == "head" else chunked + many
    with socket.create_connection(("127.0.0.1", small_server.port), timeout=20) as client:
        client.sendall(b"POST /api/v1/runs HTTP/1.1\r\n" + rest + b"\r\n")
        assert client.recv(100).split()[1] in (b"400", b"431")
