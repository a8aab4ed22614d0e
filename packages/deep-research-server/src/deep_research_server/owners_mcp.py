"""An MCP server whose every tool, resource and session is its owner's."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from mcp.server import MCPServer
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deep_research.concurrency import OWNER
from deep_research.errors import ConfigError, ResearchError
from deep_research_server.fair_turns import UnderWay, in_turn

_MOST_CALLS, _MOST_WAITING = 8, 48
"""Calls of an owner at a time: each may hold half a megabyte; and those that wait for runs, also when a client has left."""
MOST_SESSIONS = 200
"""Sessions over HTTP that an owner keeps at a time; each takes some 40 kB."""
_SESSION = b"mcp-session-id"


class OwnersServer(MCPServer):
    """An MCP server that counts owners' calls; tools and resources take a `context`."""

    def __init__(self, owner_of: Callable[[Context], str], waiting: Collection[str], **options: Any) -> None:
        """`owner_of` tells whose request it is; tools named in `waiting` wait for runs."""
        super().__init__(**options)
        self._owner_of, self._under_way = owner_of, UnderWay(_MOST_CALLS, "calls of yours")
        self._waiting = dict.fromkeys(waiting, UnderWay(_MOST_WAITING, "calls of yours that wait for runs"))

    def add_tool(self, fn: Callable[..., Any], *about: Any, **options: Any) -> None:
        """Add a tool as in MCPServer; unknown arguments are refused, not ignored."""
        super().add_tool(self._owned(fn, ToolError), *about, **options)
        tool = self._tool_manager.list_tools()[-1]  # the package offers no way
        model = tool.fn_metadata.arg_model
        model.model_config["extra"] = "forbid"
        model.model_rebuild(force=True)
        tool.parameters["additionalProperties"] = False

    def resource(self, uri: str, *about: Any, **options: Any) -> Any:
        """See MCPServer."""
        add = super().resource(uri, *about, **options)
        return lambda fn: add(self._owned(fn, ResourceError))

    def _owned(self, work: Callable[..., Any], failed: type[Exception]) -> Callable[..., Any]:
        doing = work if iscoroutinefunction(work) else in_turn(work)

        @wraps(work)
        async def call(*, context: Context, **given: Any) -> Any:
            owner = self._owner_of(context)
            OWNER.set(owner)
            try:
                with self._waiting.get(work.__name__, self._under_way).one_of(owner):
                    return await doing(context=context, **given)
            except ResearchError as error:
                hint = f" (setting {error.setting})" if isinstance(error, ConfigError) and error.setting else ""
                raise failed(f"{error.message}{hint}") from error

        return call


class OwnersSessions:
    """ASGI middleware that binds sessions to owners, and ends the longest unused."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._sessions = defaultdict[str, OrderedDict[bytes, None]](OrderedDict)
        """Of each owner, the one that was used last at the end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as its owner's, and end the session that is too many."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        owner: str = scope["state"]["owner"]
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
        key, sessions = dict(scope["headers"]).get(_SESSION, b""), self._sessions[owner]
        if key in sessions:
            sessions.move_to_end(key)

        async def watch(message: Message) -> None:
            if not key and message["type"] == "http.response.start" and message["status"] < 400:
                if given := dict(message["headers"]).get(_SESSION):
                    sessions[given] = None
                if len(sessions) > MOST_SESSIONS:
                    await self._end(sessions.popitem(last=False)[0], scope)
            await send(message)

        await self._app(scope, receive, watch)

    async def _end(self, session: bytes, scope: Scope) -> None:
        """End a session as its client would."""

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_message: Message) -> None:
            """Send nothing: nobody has asked."""

        await self._app({**scope, "method": "DELETE", "headers": [(_SESSION, session)]}, receive, send)
