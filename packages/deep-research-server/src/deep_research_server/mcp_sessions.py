"""Sessions of the MCP server over HTTP: each is its owner's, ends when it is idle, and makes room for those of others."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_SESSIONS = 1_000
"""Sessions that are kept at a time; each takes some 40 kB."""
IDLE_SECONDS = 600.0
"""A session without a request or an open stream for so long has ended."""
_SESSION = b"mcp-session-id"


@dataclass(eq=False)
class _Session:
    """A session that is open: `used` is when its last request ended."""

    key: bytes
    owner: str
    used: float
    requests: int = 0


class SessionPlaces:
    """ASGI middleware between the guard and the application of the MCP package.

    Beyond MOST_SESSIONS, the owner who has most of them loses the one that has been idle for longest: who is alone takes
    all, and takes none from others. The package binds a session to the user of the request that opened it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: dict[bytes, _Session] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on as its owner's, and keep account of its session."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        owner: str = scope["state"]["owner"]
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
        key = dict(scope["headers"]).get(_SESSION, b"")
        session = self._open.get(key)
        if session is not None and session.owner == owner:
            session.requests += 1
        else:
            session = None

        async def watch(message: Message) -> None:
            nonlocal session
            if message["type"] == "http.response.start":
                given = dict(message["headers"]).get(_SESSION, b"")
                if not key and given and message["status"] < 400:
                    session = self._open[given] = _Session(given, owner, _now(), requests=1)
                    await self._make_room(scope)
                elif session is not None and (message["status"] == 404 or scope["method"] == "DELETE"):
                    self._open.pop(key, None)
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            if session is not None:
                session.requests -= 1
                session.used = _now()

    async def _make_room(self, scope: Scope) -> None:
        """End idle sessions until there are no more than may be."""
        over = _now() - IDLE_SECONDS  # these have been ended already
        self._open = {key: one for key, one in self._open.items() if one.requests or one.used > over}
        while len(self._open) > MOST_SESSIONS:
            held = Counter(one.owner for one in self._open.values())
            idle = [one for one in self._open.values() if not one.requests]
            if not idle:
                return
            await self._end(max(idle, key=lambda one: (held[one.owner], -one.used)), scope)

    async def _end(self, session: _Session, scope: Scope) -> None:
        """End a session as its client would."""
        del self._open[session.key]
        user = AuthenticatedUser(AccessToken(token="", client_id=session.owner, scopes=[]))
        ending = {**scope, "method": "DELETE", "headers": [(_SESSION, session.key)], "user": user}
        await self._app(ending, _no_body, _nowhere)


async def _no_body() -> Any:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _nowhere(_message: Message) -> None:
    """Send nothing: nobody has asked."""


def _now() -> float:
    return asyncio.get_running_loop().time()
