"""MCP servers for tests: the pocket server as a process of its own, and over real HTTP with faults."""

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from deep_research.data.outside_tools import McpServer
from tests.mcp import pocket_server

POCKET = Path(pocket_server.__file__)
HIDDEN = "swordfish-77-swordfish"


def stdio(calls: Path | None = None, fault: str = "", **settings: Any) -> dict[str, Any]:
    """The settings of the pocket server as a program."""
    env = {"FAULT": fault, **({"CALLS": str(calls)} if calls else {}), **settings.pop("env", {})}
    return {"command": sys.executable, "args": [str(POCKET)], "env": env, "timeout_seconds": 60, **settings}


def server_of(**settings: Any) -> McpServer:
    """The same as a noun."""
    return McpServer.model_validate(settings)


def pids(calls: Path) -> list[int]:
    """The programs that noted their start in this file."""
    lines = calls.read_text().splitlines() if calls.exists() else []
    return [int(line.split()[1]) for line in lines if line.startswith("started")]


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@dataclass
class HttpPocket:
    """The pocket server behind HTTP. `answer` is given instead of it: (status, media type, body).

    Nobody gets an answer to a request whose body holds `hangs_at`; to the next `unknown` POSTs it says 404, as a server that
    does not know the session any more.
    """

    url: str = ""
    answer: tuple[int, str, bytes] | None = None
    hangs_at: bytes = b""
    unknown: int = 0
    seen: list[dict[str, str]] = field(default_factory=list)


async def _unless_it_hangs(mark: bytes, receive: Any) -> Any:
    """Give the request on, or wait until the client has gone when its body holds the mark."""
    first = await receive()
    if mark in first.get("body", b""):
        while (await receive())["type"] != "http.disconnect":
            pass
    waiting = [first]

    async def again() -> Any:
        return waiting.pop() if waiting else await receive()

    return again


@contextmanager
def served_http(calls: Path | None = None, fault: str = "") -> Iterator[HttpPocket]:
    """Serve the pocket server over streamable HTTP on this computer."""
    pocket = HttpPocket()
    inner = pocket_server.build(calls, fault).streamable_http_app()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            pocket.seen.append({k.decode(): v.decode() for k, v in scope["headers"]})
            is_unknown = pocket.unknown > 0 and scope["method"] == "POST"
            pocket.unknown -= is_unknown
            if (answer := (404, "text/plain", b"") if is_unknown else pocket.answer) is not None:
                status, media, body = answer
                headers = [(b"content-type", media.encode())]
                await send({"type": "http.response.start", "status": status, "headers": headers})
                await send({"type": "http.response.body", "body": body})
                return
            if pocket.hangs_at:
                receive = await _unless_it_hangs(pocket.hangs_at, receive)
        await inner(scope, receive, send)

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    pocket.url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    try:
        yield pocket
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
