"""Our MCP server in this process or in one of its own, and the official client that speaks to it."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

import deep_research
import deep_research_server
from deep_research_server.access_tokens import AccessTokens
from deep_research_server.mcp_server import make_http_app, make_server
from deep_research_server.run_service import ServerOptions
from mcp import Client, StdioServerParameters, stdio_client
from tests.server.serving import serving_app


def environment(home: Path) -> dict[str, str]:
    """The variables of a server; its source is that of the tests."""
    source = os.pathsep.join(
        str(Path(str(package.__file__)).parents[1]) for package in (deep_research, deep_research_server)
    )
    return {"PATH": os.defpath, "DEEP_RESEARCH_HOME": str(home), "LANG": "C.UTF-8", "PYTHONPATH": source}


@asynccontextmanager
async def in_process(home: Path, **variables: str) -> AsyncIterator[Client]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        async with Client(make_server(ServerOptions(home)), read_timeout_seconds=90) as client:
            yield client


@contextmanager
def served_here(home: Path) -> Iterator[str]:
    """Serve over HTTP in a thread of this process to owners with tokens; the address."""
    with serving_app(make_http_app(ServerOptions(home, AccessTokens(home)))) as (address, _):
        yield f"{address}/mcp"


@asynccontextmanager
async def over_stdio(home: Path, **variables: str) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "deep_research", "mcp"], env={**environment(home), **variables}
    )
    async with Client(stdio_client(parameters), read_timeout_seconds=90) as client:
        yield client


@contextmanager
def served(home: Path, *flags: str) -> Iterator[str]:
    """Serve over HTTP in a process of its own; the address, which it shows once it takes connections."""
    command = [sys.executable, "-m", "deep_research", "mcp", "--http", "--port", "0", *flags]
    process = subprocess.Popen(command, env=environment(home), stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        shown = re.search(r"http://\S+", line)
        assert shown, line + process.stderr.read()
        yield shown[0]
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stderr.close()


@asynccontextmanager
async def over_http(url: str, **headers: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), read_timeout_seconds=90) as client,
    ):
        yield client
