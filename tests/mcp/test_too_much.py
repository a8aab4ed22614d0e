"""Servers that send too much: in lists, in values, in messages; over a program's output, HTTP and its event streams."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deep_research.data.outside_tools import McpServer, OfferedTool, ToolAnswer
from deep_research.errors import SourceError
from deep_research.mcp.mcp_connection import McpConnection
from deep_research.mcp.tool_offers import chosen
from tests.mcp.serving import server_of
from tests.support.scripted_http import HttpRequest, HttpResponse, listening

ABOUT = '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}'
SEARCH = '{"name":"search","inputSchema":{"type":"object","properties":{"query":{"type":"string"}}}}'
FEW = '{"content":[{"type":"text","text":"It turns."}]}'
PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
PROGRAM = """
import json, pathlib, sys
for line in sys.stdin:
    asked = json.loads(line)
    result = json.loads(pathlib.Path(sys.argv[1]).read_text()).get(asked.get("method"))
    said = '"error":{"code":-32601,"message":"no"}' if result is None else '"result":' + result
    for _ in range(int(sys.argv[2]) if asked.get("method") == "tools/call" else 0):
        print('PING', flush=True)
    if "id" in asked and "method" in asked:
        print('{"jsonrpc":"2.0","id":%s,%s}' % (asked["id"], said), flush=True)
""".replace("PING", PING)


@dataclass
class Harmful:
    """A server that answers as `results` have it, one JSON text for a method; once a tool is called streams send `flood`."""

    results: dict[str, str]
    flood: Callable[[], HttpResponse] | None = None
    url: str = ""
    is_stream: bool = False
    answered: int = 0
    streams: int = 0
    called: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: HttpRequest) -> HttpResponse:
        if request.method != "POST":
            self.streams += 1
            if request.method != "GET" or self.flood is None:
                return HttpResponse(405, b"")
            await self.called.wait()
            return self.flood()
        asked = json.loads(request.body)
        self.answered += "method" not in asked
        result = self.results.get(asked.get("method"))
        if asked.get("method") == "tools/call" and result is None:
            self.called.set()
            await asyncio.Event().wait()
        if result is None:
            return HttpResponse(202, b"")
        body = f'{{"jsonrpc":"2.0","id":{asked["id"]},"result":{result}}}'.encode()
        if self.is_stream:
            return HttpResponse(200, b"data: " + body + b"\n\n", content_type="text/event-stream; charset=utf-16")
        return HttpResponse(200, body, {"mcp-session-id": "1"})


@contextmanager
def harmful(wire: str, folder: Path, results: dict[str, str], *, pings: int = 0) -> Iterator[McpServer]:
    """Serve these answers over `wire`: a program, HTTP, or HTTP with an event stream for each answer."""
    results = {"initialize": ABOUT, "tools/list": f'{{"tools":[{SEARCH}]}}', **results}
    if wire == "program":
        (folder / "answers").write_text(json.dumps(results))
        (folder / "server.py").write_text(PROGRAM)
        arguments = [str(folder / name) for name in ("server.py", "answers")]
        yield server_of(command=sys.executable, args=[*arguments, str(pings)])
        return
    server = Harmful(results, is_stream=wire == "events")
    with listening(server.answer) as url:
        yield server_of(url=url)


def _asked(server: McpServer, times: int = 1) -> tuple[tuple[OfferedTool, ...], list[ToolAnswer | SourceError]]:
    """What a server lists, and what it answers."""

    async def main() -> tuple[tuple[OfferedTool, ...], list[ToolAnswer | SourceError]]:
        connection, said = McpConnection("hn", server), list[ToolAnswer | SourceError]()
        try:
            listed = await connection.open()
            for _ in range(times):
                try:
                    said.append(await connection.call("search", {}))
                except SourceError as error:
                    said.append(error)
            return listed, said
        finally:
            await connection.close()

    return asyncio.run(main())


WIRES = ["program", "http", "events"]


@pytest.mark.parametrize("wire", ["program", "http"])
def test_of_a_list_of_no_tools_each_is_left_out_and_a_longer_one_is_refused(wire: str, tmp_path: Path) -> None:
    none = ",".join(f'{{"name":"{n}"}}' for n in range(900))
    with harmful(wire, tmp_path, {"tools/list": f'{{"tools":[{none},{SEARCH}]}}', "tools/call": FEW}) as server:
        listed, _ = _asked(server)
    assert [tool.name for tool in listed if not tool.unfit] == ["search"]
    assert [tool.name for tool in listed if tool.unfit] == [str(n) for n in range(900)]
    assert [len(note) < 1_000 for note in chosen(listed, ())[1]] == [True]
    pages = {"tools/list": f'{{"nextCursor":"more","tools":[{none}]}}'}
    with harmful(wire, tmp_path, pages) as server, pytest.raises(SourceError) as failed:
        _asked(server)
    assert failed.value.message == "The MCP server 'hn' was not read any further: it lists more than 1,000 tools."


VALUES = {
    "lists": '{"content":[],"structuredContent":{"a":[%s0]}}' % ("[]," * 150_000),
    "parts": '{"content":[%s{}]}' % ('{"type":"text","text":""},' * 70_000),
    "after a string": '{"content":[],"a":"\\\\\\"","structuredContent":{"a":[%s0]}}' % ("0," * 200_000),
}


@pytest.mark.parametrize(
    ("wire", "kind"), [*((wire, "lists") for wire in WIRES), ("http", "parts"), ("events", "after a string")]
)
def test_an_answer_of_too_many_values_is_refused_before_it_is_parsed(wire: str, kind: str, tmp_path: Path) -> None:
    with harmful(wire, tmp_path, {"tools/call": VALUES[kind]}) as server:
        _, said = _asked(server, 2)
    assert all("the answer has more than 50,000 values" in str(error) for error in said), said
    assert [isinstance(one, SourceError) and one.given_up for one in said] == [wire == "program"] * 2


@pytest.mark.parametrize("wire", ["program", "events"])
def test_what_stands_in_a_text_is_no_value(wire: str, tmp_path: Path) -> None:
    text = 'a,b,[{\\"\\n' * 200_000
    with harmful(wire, tmp_path, {"tools/call": f'{{"content":[{{"type":"text","text":"{text}"}}]}}'}) as server:
        _, (answer,) = _asked(server)
    assert isinstance(answer, ToolAnswer)
    assert [part.kind for part in answer.parts] == ["text", "cut"]


async def _pieces(pieces: list[bytes]) -> AsyncIterator[bytes]:
    for _ in range(10_000):
        for piece in pieces:
            yield piece


def _flood(*pieces: bytes) -> Callable[[], HttpResponse]:
    return lambda: HttpResponse(200, _pieces([*pieces]), content_type="text/event-stream")


def _short(body: bytes) -> Callable[[], HttpResponse]:
    return lambda: HttpResponse(200, body, content_type="text/event-stream")


DATA = b"data: " + PING.encode()
FLOODS = {
    "one piece": _short((DATA + b"\n\n") * 10_000),
    "ends apart": _flood(DATA, b"\r", b"\n", b"\r", b"\n"),
    "new streams": _short(b"retry: 0\nid: 1\n" + (DATA + b"\n\n") * 100),
    "empty streams": _short(b"retry: 0\nid: 1\n\n"),
}


@pytest.mark.parametrize("flood", FLOODS)
def test_a_session_has_so_many_messages_over_all_its_streams(flood: str) -> None:
    server = Harmful({"initialize": ABOUT, "tools/list": f'{{"tools":[{SEARCH}]}}'}, FLOODS[flood])
    with listening(server.answer) as url:
        _, said = _asked(server_of(url=url, timeout_seconds=60), 2)
    assert [str(one) for one in said] == [
        "The MCP server 'hn' was not read any further: it has sent more than 2,000 messages, and one a second."
    ] * 2
    assert all(isinstance(one, SourceError) and one.given_up for one in said)
    assert max(server.answered, server.streams) < 2_100


def test_a_program_has_so_many_messages(tmp_path: Path) -> None:
    with harmful("program", tmp_path, {}, pings=10_000) as server:
        _, (error,) = _asked(server)
    assert "it has sent more than 2,000 messages" in str(error)


def test_a_line_of_a_program_is_no_longer_than_an_answer_over_http(tmp_path: Path) -> None:
    text = '\\"\\\\' * (5 << 18)
    with harmful("program", tmp_path, {"tools/call": f'{{"content":[{{"type":"text","text":"{text}"}}]}}'}) as server:
        _, (error,) = _asked(server)
    assert isinstance(error, SourceError)
    assert error.given_up
    assert "the answer is longer than 4,194,304 bytes" in error.message
