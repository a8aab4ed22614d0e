"""One MCP server for the length of a run: opened, called and closed again."""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from mcp.client.streamable_http import streamable_http_client

from deep_research.address_credentials import basic_authorization, with_credentials, without_credentials
from deep_research.data.outside_tools import McpServer, OfferedTool, ToolAnswer
from deep_research.errors import SourceError, Unreachable, Unreadable
from deep_research.mcp.mcp_program import StandardError, open_program
from deep_research.mcp.tool_answers import MOST_PARTS, answer_of, failure, tool_error
from deep_research.protocol.bounded_transport import AnswerLimits, bounded_transport
from deep_research.protocol.message_bounds import MessageBounds

_MOST_BYTES = 4 * 1024 * 1024  # of an answer, event or line: to measure and parse it holds the loop for 0.1 s
_MOST_MESSAGES = 2_000  # of a session, beside one a second: the SDK makes a task and a request of each
_MOST_VALUES = 50_000  # of a message: the SDK makes objects of them on the loop


def open_http(server: McpServer, stack: AsyncExitStack, bounds: MessageBounds, *, proxy: str) -> "Transport":
    """Return the HTTP transport to `server`, closed with `stack`; note every status."""
    address, seconds = without_credentials(server.url), server.timeout_seconds
    limits = AnswerLimits(_MOST_BYTES, 2 * seconds, bounds)
    transport = bounded_transport(httpx2, limits, proxy=with_credentials(proxy) or None, trust_env=False)

    async def note(response: httpx2.Response) -> None:
        # Streams for messages of the server, and the end of a session, may be refused.
        if response.request.method == "POST":
            _STATUSES.get().append(response.status_code)

    client = httpx2.AsyncClient(
        headers={**basic_authorization(address), **server.headers},
        timeout=httpx2.Timeout(seconds, connect=min(seconds, 10.0)),
        transport=transport,
        trust_env=False,
        event_hooks={"response": [note]},
    )
    stack.push_async_callback(client.aclose)
    return streamable_http_client(address, http_client=client, max_sse_event_size=_MOST_BYTES)


if TYPE_CHECKING:
    from mcp.client._transport import Transport
    from mcp.types import CallToolResult

    from mcp import Client

_PAGES, _MOST_TOOLS, _MOST_ENTRIES = 20, 200, 1_000
_T = TypeVar("_T")
_STATUSES: ContextVar[list[int | Unreadable]] = ContextVar("statuses")
"""The statuses of HTTP answers to whoever asks at the moment, and what was not read; the SDK hands the context on."""


class McpConnection:
    """A session with one server, started once; failures are SourceErrors naming it."""

    def __init__(self, name: str, server: McpServer, *, proxy: str = "") -> None:
        """Set up a server with its variables filled in."""
        self.name = name
        self._server, self._proxy = server, proxy
        self._client: Client | None = None
        self._bounds = MessageBounds(_MOST_MESSAGES, _MOST_VALUES, self._refuse)
        self._unfit: list[OfferedTool] = []
        self._task: asyncio.Task[None] | None = None
        self._scope: Any = None
        self._ended: SourceError | None = None
        self._reopening = asyncio.Lock()

    async def open(self) -> tuple[OfferedTool, ...]:
        """Connect and return the server's tools in order; raise SourceError if it fails."""
        ready: asyncio.Future[tuple[OfferedTool, ...]] = asyncio.get_running_loop().create_future()
        await asyncio.to_thread(_load)
        self._task = asyncio.create_task(self._serve(ready))
        return await ready

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call a tool and return its answer; raise SourceError if tool or server fails.

        A server that does not know the session any more, as after its restart, says 404: a new one is opened, once.
        """
        session = self._task
        try:
            return await self._call(tool, arguments)
        except SourceError as error:
            is_beside = self._reopening.locked() or self._task is not session
            if error.status != 404 and not (is_beside and isinstance(error, Unreachable)):
                raise
        async with self._reopening:
            if self._task is session:  # else a call beside this one has done it
                await self.close()
                await self.open()
        return await self._call(tool, arguments)

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        if self._client is None or self._task is None or self._task.done():
            raise self._gone()
        seconds = self._server.timeout_seconds
        _STATUSES.set(statuses := [])
        try:
            result = await self._while_served(self._client.call_tool(tool, dict(arguments), seconds), seconds + 1)
        except SourceError:
            raise
        except Exception as error:
            if self._ended:
                raise self._gone() from error
            explained = self._explained(error, f"the tool {tool!r}", statuses)
            if explained.given_up:
                self._ended = explained = self._explained(error, "", statuses)
            raise explained from error
        blocks = (block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in result.content)
        answer = answer_of(blocks, result.structured_content)
        if result.is_error:
            raise tool_error(self.name, tool, answer)
        return answer

    async def close(self) -> None:
        """End the session and the program started for it, whatever its state."""
        if self._task is None:
            return
        if self._scope is not None:
            self._scope.cancel()
        await asyncio.wait(
            {self._task}, timeout=15.0
        )  # a program's input is closed, 2 s later it is terminated, 2 s later killed

    async def _serve(self, ready: "asyncio.Future[tuple[OfferedTool, ...]]") -> None:
        """Open the session, keep it open until `close`, and close it, all in one task."""
        import anyio  # noqa: PLC0415 - only with a server

        error_output = StandardError(self.name)
        _STATUSES.set(statuses := [])
        try:
            # The time limit is the scope's own: what is entered inside a scope has to be left inside it.
            deadline = anyio.current_time() + self._server.timeout_seconds
            with anyio.CancelScope(deadline=deadline) as self._scope:
                async with AsyncExitStack() as stack:
                    self._client = await stack.enter_async_context(self._make(stack, error_output))
                    self._client.session.validate_tool_result = _accept
                    tools = (*await _list(self._client), *self._unfit)
                    error_output.release()
                    self._scope.deadline = math.inf
                    if not ready.done():
                        ready.set_result(tools)
                    await anyio.sleep_forever()
            if not ready.done():
                raise TimeoutError
        except Exception as error:  # noqa: BLE001 - whatever the SDK raises, the server is what failed
            said = await error_output.last_line()
            self._ended = self._ended or self._explained(error, said, statuses)
        finally:
            self._client = None
            error_output.release()
            if not ready.done():
                ready.set_exception(self._ended or self._gone())
                ready.exception()  # seen: who asked may be gone

    def _make(self, stack: AsyncExitStack, error_output: StandardError) -> "Client":
        from mcp.types import Implementation  # noqa: PLC0415

        from mcp import Client  # noqa: PLC0415 - only with a server

        said = Implementation(name="deep-research", version=metadata.version("deep-research"))
        if self._server.url:
            transport = open_http(self._server, stack, self._bounds, proxy=self._proxy)
        else:
            transport = open_program(self._server, self._bounds, _MOST_BYTES, error_output)
        fit = _fit(transport, self._unfit, self._refuse)
        return Client(fit, read_timeout_seconds=self._server.timeout_seconds, client_info=said, cache=None)

    async def _while_served(self, work: Awaitable[_T], seconds: float) -> _T:
        """Return what `work` gives; a session that ends meanwhile ends it too."""
        assert self._task is not None
        asked = asyncio.ensure_future(work)
        try:
            await asyncio.wait({asked, self._task}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return asked.result()
            raise self._gone() if self._task.done() else TimeoutError
        finally:
            if not asked.done():
                asked.cancel()
                await asyncio.wait({asked}, timeout=1)

    def _gone(self) -> SourceError:
        """Why nothing is asked any more: once the server is gone it stays so."""
        why = self._ended.message if self._ended else f"The MCP server {self.name!r} is not there any more."
        return Unreachable(why, source=self.name, given_up=True)

    def _refuse(self, error: Unreadable) -> None:
        """Note what was not read; with a server that is given up for it the session ends."""
        _STATUSES.get().append(error)
        if error.given_up:
            self._ended = self._ended or self._explained(error, "", ())
            self._scope.cancel()

    def _explained(self, error: BaseException, about: str, statuses: Sequence[int | Unreadable]) -> SourceError:
        last = statuses[-1] if statuses else 0
        error, status = (last, None) if isinstance(last, Unreadable) else (error, last if last >= 400 else None)
        seconds, is_program = self._server.timeout_seconds, bool(self._server.command)
        return failure(self.name, error, about=about, status=status, seconds=seconds, is_program=is_program)


async def _accept(name: str, result: "CallToolResult") -> None:
    """Accept a tool's answer: a pattern in a schema can hold a process for ever."""


def _load() -> None:
    """Import the SDK (about a second); silence its warnings if logging is not set up."""
    import_module("mcp")
    if {*logging.getLogger().handlers} <= {logging.lastResort}:
        for name in ("mcp.client", "mcp.shared", "client"):  # the SDK's session logs as `client`
            logging.getLogger(name).setLevel(logging.CRITICAL)


class _FitMessages:
    """The messages of a server, without tools for which the SDK refuses a whole list.

    These go to `unfit`; a list that is too long is refused, and of an answer no more parts are given on than are taken.
    """

    def __init__(self, messages: Any, unfit: list[OfferedTool], refuse: Callable[[Unreadable], object]) -> None:
        self._messages, self._unfit, self._refuse, self._listed = messages, unfit, refuse, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._messages, name)

    async def __aenter__(self) -> "_FitMessages":
        await self._messages.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> bool | None:
        return await self._messages.__aexit__(*error)

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for item in self._messages:
            result = getattr(getattr(item, "message", None), "result", None)
            if isinstance(result, dict) and isinstance(tools := result.get("tools"), list):
                self._listed += len(tools)
                if self._listed > _MOST_ENTRIES:
                    self._refuse(Unreadable(f"it lists more than {_MOST_ENTRIES:,} tools", given_up=True))
                    return
                result["tools"], bad = [], []
                for tool in tools:
                    (result["tools"] if _is_fit(tool) else bad).append(tool)
                names = (str(tool.get("name")) if isinstance(tool, dict) else "?" for tool in bad)
                self._unfit.extend(OfferedTool(name=name, unfit=True) for name in names)
            if isinstance(result, dict) and isinstance(content := result.get("content"), list):
                del content[MOST_PARTS + 1 :]  # one more than are taken, so that it can be told
            yield item


@asynccontextmanager
async def _fit(transport: "Transport", *notes: Any) -> AsyncIterator[Any]:
    async with transport as (messages, answers):
        yield _FitMessages(messages, *notes), answers


def _is_fit(tool: Any) -> bool:
    from mcp_types.methods import validate_server_result  # noqa: PLC0415 - only with a server

    if not isinstance(tool, dict):
        return False
    tool.pop("outputSchema", None)  # nothing is held against it
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict) or schema.setdefault("type", "object") != "object":
        return False
    try:
        # By the rules of this version the SDK judges a list of tools, also for the versions before it.
        validate_server_result("tools/list", "2025-11-25", {"tools": [tool]})
    except ValueError:
        return False
    return True


async def _list(client: "Client") -> tuple[OfferedTool, ...]:
    tools: list[OfferedTool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [_offered(tool) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None or len(tools) >= _MOST_TOOLS:
            return tuple(tools[:_MOST_TOOLS])
    raise Unreadable("the list of tools has no end")


def _offered(tool: Any) -> OfferedTool:
    hints = tool.annotations
    only_reads, destroys = (hints.read_only_hint, hints.destructive_hint) if hints else (None, None)
    changes = only_reads is False or (only_reads is None and bool(destroys))
    title, told = tool.title or (hints.title if hints else None) or "", tool.description or ""
    return OfferedTool(name=tool.name, title=title, description=told, parameters=tool.input_schema, changes=changes)
