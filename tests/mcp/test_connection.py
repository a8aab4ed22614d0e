"""A session with one MCP server: real programs over stdio and real HTTP, in every state of disrepair."""

import asyncio
import logging
import os
import select
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from deep_research.concurrency import side_by_side
from deep_research.data.outside_tools import McpServer, ToolAnswer
from deep_research.errors import Blocked, NotFound, SourceError, Unreachable
from deep_research.mcp.mcp_connection import McpConnection
from deep_research.mcp.tool_answers import MOST_PARTS
from deep_research.safe_text import register_secrets
from tests.mcp.serving import HIDDEN, POCKET, pids, served_http, server_of, stdio

T = TypeVar("T")
ALPHA = ("search_stories", {"query": "alpha"})


def _with(server: McpServer, work: Callable[[McpConnection], Awaitable[T]], **options: Any) -> T:
    """Open a session, do `work` in it, and close it whatever happens."""

    async def main() -> T:
        connection = McpConnection("hn", server, **options)
        try:
            await connection.open()
            return await work(connection)
        finally:
            await connection.close()

    return asyncio.run(main())


def _fails(server: McpServer, *, during: Callable[[], object] = lambda: None) -> SourceError:
    """The error of opening a session, else of a call in it after `during`."""

    async def call(connection: McpConnection) -> None:
        during()
        await connection.call(*ALPHA)

    with pytest.raises(SourceError) as failed:
        _with(server, call)
    return failed.value


async def _alpha(connection: McpConnection) -> ToolAnswer:
    return await connection.call(*ALPHA)


def test_d7_a_session_that_its_server_has_forgotten_is_opened_again() -> None:
    async def work(connection: McpConnection) -> list[ToolAnswer]:
        pocket.unknown = 2
        return [*await side_by_side([_alpha(connection), _alpha(connection)]), await _alpha(connection)]

    with served_http() as pocket:
        answers = _with(server_of(url=pocket.url), work)
        methods = [seen.get("mcp-method", "") for seen in pocket.seen]
    assert ["rotary engine" in answer.parts[0].text for answer in answers] == [True] * 3
    assert methods.count("server/discover") == 2


def test_d7_a_tool_that_never_answers_is_given_up() -> None:
    with served_http() as pocket:
        pocket.hangs_at = b"search_stories"
        error = _fails(server_of(url=pocket.url, timeout_seconds=5))
    assert "did not answer within 5 seconds (the tool 'search_stories')" in error.message
    assert not error.given_up


HTTP_FAULTS = [
    ((401, "text/plain", b"who are you"), Blocked, "answered HTTP 401"),
    ((404, "text/plain", b""), NotFound, "answered HTTP 404"),
    ((500, "text/html", b"<html>oops</html>"), Unreachable, "answered HTTP 500"),
    ((200, "text/html", b"<html>Welcome</html>"), SourceError, "Unexpected content type"),
    ((200, "application/json", b'{"x": 1}'), SourceError, "Failed to parse JSON response"),
    ((200, "application/json", b" " * (5 << 20)), SourceError, "the answer is longer than 4,194,304 bytes"),
]


@pytest.mark.parametrize("when", ["start", "during"])
def test_d7_an_http_server_that_fails_is_an_error_that_names_it(when: str) -> None:
    with served_http() as pocket:
        for answer, kind, told in HTTP_FAULTS:
            pocket.answer = answer if when == "start" else None
            error = _fails(server_of(url=pocket.url), during=lambda failing=answer: setattr(pocket, "answer", failing))
            assert isinstance(error, kind), told
            assert told in error.message
            assert "'hn'" in error.message


def test_d7_after_a_crash_every_call_fails_the_same_way_and_nothing_is_started_again(tmp_path: Path) -> None:
    calls = tmp_path / "calls"

    async def twice(connection: McpConnection) -> list[str]:
        said = []
        for tool in ("search_stories", "draw"):
            with pytest.raises(Unreachable) as failed:
                await connection.call(tool, {"query": "alpha"})
            assert failed.value.given_up
            said.append(failed.value.message)
        return said

    first, second = _with(server_of(**stdio(calls, "crash")), twice)
    assert first == second
    assert len(pids(calls)) == 1


FORKING = 'exec 3>"$1"; trap "" TERM; CHILD & trap - TERM; exec "$2" "$3" 3>&-'
"""Start a child that does not heed SIGTERM and holds a pipe open, and go on as a server."""


@pytest.mark.parametrize(("fault", "child"), [("", "sleep 600"), ("crash", "sleep 600 >&3")])
def test_d7_what_a_program_has_started_does_not_outlive_it(fault: str, child: str, tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    arguments = ["-c", FORKING.replace("CHILD", child), "sh", str(pipe), sys.executable, str(POCKET)]

    async def work(connection: McpConnection) -> None:
        with pytest.raises(BlockingIOError):  # somebody has it open
            os.read(reader, 1)
        try:
            await _alpha(connection)
        except Unreachable:
            assert fault

    _with(server_of(**{**stdio(fault=fault), "command": "/bin/sh", "args": arguments}), work)
    assert select.select([reader], [], [], 20)[0], "the child is still there"
    assert os.read(reader, 1) == b""
    os.close(reader)


def test_d7_calls_at_the_same_moment_have_their_own_errors() -> None:
    async def both(connection: McpConnection) -> list[object]:
        async def one(tool: str, arguments: dict[str, Any]) -> object:
            try:
                return await connection.call(tool, arguments)
            except SourceError as error:
                return error

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(*ALPHA)), group.create_task(one("no_such_tool", {}))]
        return [task.result() for task in tasks]

    good, bad = _with(server_of(**stdio()), both)
    assert isinstance(good, ToolAnswer)
    assert isinstance(bad, SourceError)
    assert "no_such_tool" in bad.message


def test_an_answer_is_not_held_against_the_patterns_of_its_server() -> None:
    async def graded(connection: McpConnection) -> ToolAnswer:
        return await connection.call("grade", {"engine": "alpha"})

    assert "aaa!" in _with(server_of(**stdio()), graded).parts[0].text


def test_d7_standard_error_goes_to_the_log_without_secrets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    register_secrets([HIDDEN])
    program = tmp_path / "talking.py"
    program.write_text(f"import sys\nprint('the key is {HIDDEN}', file=sys.stderr)\n")
    server = server_of(command=sys.executable, args=[str(program)])
    with caplog.at_level(logging.INFO, "deep_research.mcp"), pytest.raises(SourceError) as failed:
        _with(server, _alpha)
    assert "hn: the key is …" in caplog.text
    assert "the key is …" in failed.value.message
    assert HIDDEN not in caplog.text + failed.value.message
    assert capfd.readouterr() == ("", "")


def test_d7_a_program_sees_its_own_variables_and_not_our_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", HIDDEN)

    async def environment(connection: McpConnection) -> ToolAnswer:
        return await connection.call("environment", {})

    seen = _with(server_of(**stdio(env={"ENGINE_KEY": "of-its-own"})), environment).parts[0].text
    assert "ENGINE_KEY=of-its-own" in seen
    assert "OPENAI_API_KEY" not in seen


def test_of_an_answer_of_thousands_of_empty_parts_some_are_taken() -> None:
    with served_http() as pocket:
        answer = _with(server_of(url=pocket.url), lambda connection: connection.call("draw", {"engine": "nothing"}))
    assert len(answer.parts) == MOST_PARTS + 1
    assert answer.parts[-1].kind == "cut"
