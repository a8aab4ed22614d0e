"""Start, hear and end an MCP server that is a program, and what it has started.

The SDK's own transport leaves the children of a program that ends by itself, and bounds nothing that it hears.
"""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from deep_research.data.outside_tools import McpServer
from deep_research.errors import Unreadable
from deep_research.protocol.message_bounds import LINE_END, MessageBounds, Messages
from deep_research.safe_text import safe_text

_Incoming = ObjectSendStream[SessionMessage | Exception]
_SECONDS = 2.0  # to end by itself once its input is closed, then once it is told to; to be gone once it is killed
_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)
_log = logging.getLogger(__name__)


class StandardError:
    """A pipe for a program to write to, and a thread that reads it to its end."""

    def __init__(self, name: str) -> None:
        reader, writer = os.pipe()
        self.file = os.fdopen(writer, "w")
        self._name, self._last = name, ""
        self._thread = threading.Thread(target=self._read, args=(reader,), daemon=True)
        self._thread.start()

    def release(self) -> None:
        """Let go of our end: from now on only the program holds it."""
        self.file.close()

    async def last_line(self) -> str:
        """Return what an ended program has said last."""
        self.release()
        await asyncio.to_thread(self._thread.join, 1)
        return self._last

    def _read(self, reader: int) -> None:
        with os.fdopen(reader, errors="replace") as lines:
            while line := lines.readline(2_000):
                if said := safe_text(line.strip()):
                    self._last = said
                    _log.info("%s: %s", self._name, said)


@asynccontextmanager
async def open_program(
    server: McpServer, bounds: MessageBounds, most_bytes: int, error_output: StandardError
) -> AsyncIterator[Any]:
    """Give the message streams of a program, which is ended with its process group."""
    program = _Program(await _start(server, error_output))
    incoming, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(program.hear, incoming, bounds, Messages(bounds, LINE_END, most_bytes))
        tasks.start_soon(program.tell, outgoing, incoming)
        try:
            yield messages, answers
        finally:
            await program.end()
            tasks.cancel_scope.cancel()


async def _start(server: McpServer, error_output: StandardError) -> Any:
    """Start the program as the leader of a session, or on Windows in a job."""
    command, folder = _in_home(server.command), _in_home(server.cwd) or None
    given: dict[str, Any] = {"env": {**get_default_environment(), **server.env}, "cwd": folder}
    if sys.platform == "win32":
        from mcp.os.win32.utilities import create_windows_process, get_windows_executable_command  # noqa: PLC0415

        found = get_windows_executable_command(command)
        return await create_windows_process(found, [*server.args], errlog=error_output.file, **given)
    return await anyio.open_process([command, *server.args], stderr=error_output.file, start_new_session=True, **given)


def _in_home(path: str) -> str:
    return str(Path(path).expanduser()) if path.startswith("~") else path


class _Program:
    """A started program, which is ended once."""

    def __init__(self, process: Any) -> None:
        self._process, self._is_ending = process, False

    async def hear(self, incoming: _Incoming, bounds: MessageBounds, lines: Messages) -> None:
        """Give messages on; what is none is passed over, and too much ends the session."""
        async with incoming:
            try:
                async for piece in self._process.stdout:
                    for line in lines.feed(piece):
                        with suppress(ValueError):
                            text = line.decode(errors="replace")
                            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
                            await incoming.send(SessionMessage(message))
            except Unreadable as error:
                bounds.refuse(replace(error, given_up=True))
            except _CLOSED:
                return
        await self.end()  # now: later its number may be another program's

    async def tell(self, outgoing: ObjectReceiveStream[SessionMessage], incoming: _Incoming) -> None:
        """Write what is asked of the program."""
        async with outgoing:
            try:
                async for one in outgoing:
                    text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self._process.stdin.send(text.encode(errors="replace") + b"\n")
            except _CLOSED:
                await incoming.aclose()  # whoever waits for an answer is told that none will come

    async def end(self) -> None:
        """End the program and its process group, politely first, uninterrupted."""
        if self._is_ending:
            return
        self._is_ending = True
        with anyio.CancelScope(shield=True):
            with suppress(*_CLOSED):
                await self._process.stdin.aclose()
            await self._wait()
            if sys.platform == "win32":
                from mcp.os.win32.utilities import terminate_windows_process_tree  # noqa: PLC0415

                await terminate_windows_process_tree(self._process)
            else:
                from mcp.os.posix.utilities import terminate_posix_process_tree  # noqa: PLC0415

                await terminate_posix_process_tree(self._process, _SECONDS)
            await self._wait()
            # What has left the group may hold the pipes open: only the transport below anyio's streams lets go of them.
            with suppress(AttributeError, PermissionError):
                self._process._process._transport.close()
            with suppress(*_CLOSED):
                await self._process.stdout.aclose()

    async def _wait(self) -> None:
        """Wait a moment for the program alone; `process.wait` waits for its pipes too."""
        with anyio.move_on_after(_SECONDS):
            while self._process.returncode is None:  # noqa: ASYNC110 - nothing tells of it
                await anyio.sleep(0.01)
