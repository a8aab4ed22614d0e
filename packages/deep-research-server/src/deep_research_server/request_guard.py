"""Checks on every request: origin, owner and size; and the security headers."""

import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, nullcontext
from functools import partial
from http import HTTPStatus
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deep_research.concurrency import OWNER, share_threads
from deep_research.errors import LimitReached
from deep_research_server.access_tokens import AccessTokens
from deep_research_server.fair_turns import UnderWay
from deep_research_server.request_bodies import LIMITS, MOST_LARGE, SMALL, USUAL, Body, BodyLimit, Refusal
from deep_research_server.uploads import UploadsUnderWay

MOST_UNDER_WAY = 48
"""Requests of an owner at the same time: each may hold some megabytes until it is answered."""
_STRANGERS = "?"
"""All who show no token are one owner, of no name that a token has: they may have few threads, not all."""
_LARGE, _PIECE = 1_000_000, 65_536
"""Bytes of an answer of which an owner may have a few at a time, and of a piece of it."""
COOKIE = "deep_research_token"
_TOKEN_COOKIE = re.compile(rf"(?:^|;)\s?{COOKIE}=([\w.~-]{{1,300}})(?=;|\s|$)")
PUBLIC = ("/", "/page/", "/healthz", "/readyz", "/openapi.json", "/api/v1/session", "/favicon.ico")
"""What is served without a token: the page itself, which holds no data, and what tells that the server is alive."""
_ALIVE = ("/healthz", "/readyz")
"""Never refused for what other strangers have under way: these answers hold nothing."""
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", _CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OF_PROXIES = frozenset(
    """forwarded via x-real-ip x-client-ip x-cluster-client-ip true-client-ip cf-connecting-ip cf-ray cdn-loop client-ip
    x-original-forwarded-for x-envoy-external-address fly-client-ip fastly-client-ip x-azure-clientip x-amzn-trace-id
    x-arr-log-id x-appengine-user-ip x-remote-ip tailscale-user-login""".split()
)
"""Headers that a proxy adds, beside all X-Forwarded-…: who sent the request is not the user of this machine."""
_PROXIED = (
    "It came through a proxy, and without tokens everybody behind it would be the user of this machine. Make a token "
    "for each owner (deep-research token create NAME) and start the server with --require-tokens."
)


class _Revoked(Exception):
    """The token of who reads a stream was revoked: the stream ends."""


class _Answer:
    """The answer to one request on its way out."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False
        self.body: Body | None = None
        self.room, self.under_way = AsyncExitStack(), ExitStack()  # of an upload; until the request has ended
        self.count_large: Callable[[], AbstractContextManager[None]] = nullcontext
        self.is_let_in: Callable[[], bool] = lambda: True

    async def send(self, message: Message) -> None:
        """Send a message. Raises LimitReached for one large answer too many."""
        if self.body is not None and self.body.refused and not self.started:
            return  # whatever the application makes of a body that was cut
        if message["type"] == "http.response.start":
            await self.room.aclose()
            self._guard_head(message)
            self.started = True
        elif message.get("more_body") and not self.is_let_in():
            raise _Revoked
        whole = message.get("body", b"")
        # Each piece waits for the one before: who takes nothing is told from who is slow, and little waits in memory.
        for start in range(0, len(whole) - _PIECE, _PIECE):
            await self._send({**message, "body": whole[start : start + _PIECE], "more_body": True})
        await self._send({**message, "body": whole[(len(whole) - 1) // _PIECE * _PIECE :]} if whole else message)

    def _guard_head(self, message: Message) -> None:
        given = dict(message["headers"])
        if int(given.get(b"content-length", b"0")) > _LARGE:
            self.under_way.enter_context(self.count_large())
        message["headers"] = [*message["headers"], *(h for h in HEADERS if h[0] not in given)]
        if b"cache-control" not in given:
            message["headers"].append((b"cache-control", b"no-store"))


def _upload(receive: Receive, headers: Mapping[str, str], most: int) -> Body:
    """Return the body of a document upload, limited to `most` bytes."""
    # A form of another type would be parsed byte by byte on the event loop.
    if not headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "A document is uploaded as multipart/form-data.")
    return Body(receive, BodyLimit(most), headers.get("content-length", ""))


class RequestGuard:
    """ASGI middleware around the whole application.

    Without `tokens` requests are those of the user of this machine: the Host must be a loopback address, so that a web
    page cannot reach the server by a name of its own (DNS rebinding), and nothing may come through a proxy. `uploads` has
    the room of documents that are on their way (None: none are taken).
    """

    def __init__(self, app: ASGIApp, *, tokens: AccessTokens | None, uploads: UploadsUnderWay | None = None) -> None:
        self._app, self._tokens, self._uploads = app, tokens, uploads
        self._under_way = UnderWay(MOST_UNDER_WAY, "requests of yours")
        self._strangers = UnderWay(MOST_UNDER_WAY, "requests of this kind without a token")
        self._large = UnderWay(MOST_LARGE, "large requests of yours", of_all=True)
        self._large_answers = UnderWay(MOST_LARGE, "large answers of yours", of_all=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is not let in, and pass on the rest."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                share_threads()
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        try:
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
            owner = scope.setdefault("state", {})["owner"] = self._admit(scope, headers)
            is_stranger = not owner and self._tokens is not None
            OWNER.set(_STRANGERS if is_stranger else owner)
            answer.under_way.enter_context(nullcontext() if is_stranger else self._under_way.one_of(owner))
            answer.count_large = partial(self._large_answers.one_of, _STRANGERS if is_stranger else owner)
            if self._tokens is not None and owner:
                tokens, token = self._tokens, _token_of(headers)
                answer.is_let_in = lambda: tokens.owner_of(token) == owner
            # Nothing else reads cookies, and reading them costs the square of their length (CVE-2024-7592).
            scope["headers"] = [pair for pair in scope["headers"] if pair[0].lower() != b"cookie"]
            announced = headers.get("content-length", "")
            if self._uploads is not None and (scope["method"], scope["path"]) == ("POST", "/api/v1/documents"):
                answer.body = body = _upload(receive, headers, self._uploads.largest)
                async with answer.room:
                    await answer.room.enter_async_context(self._uploads.room_for(owner, body.size))
                    await self._app(scope, body.receive, answer.send)
            else:
                answer.body = body = await self._read(scope, receive, owner, announced)
                # Only now, and by path: what does not come, or is not taken, keeps no other out.
                if is_stranger and scope["path"] not in _ALIVE:
                    path = scope["path"] if scope["path"] in PUBLIC else "/page/"
                    answer.under_way.enter_context(self._strangers.one_of(path))
                await self._app(scope, body.receive, answer.send)
            if body.refused and not answer.started:
                raise body.refused
        except _Revoked:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except (Refusal, LimitReached) as refusal:
            if answer.started:
                raise
            answer.body = None
            told = (refusal.status, refusal.detail) if isinstance(refusal, Refusal) else (429, refusal.message)
            await problem_response(*told, scope["path"])(scope, receive, answer.send)
        finally:
            answer.under_way.close()

    async def _read(self, scope: Scope, receive: Receive, owner: str, announced: str) -> Body:
        """Return a request's complete body. Raises Refusal, LimitReached."""
        is_small = scope["method"] in _SAFE or _is_public(scope["path"])
        body = Body(receive, SMALL if is_small else LIMITS.get(scope["path"], USUAL), announced)
        with self._large.one_of(owner) if body.size > USUAL.size else nullcontext():
            await body.read()
        return body

    def _admit(self, scope: Scope, headers: dict[str, str]) -> str:
        """Return the owner of a request, "" for the user of this machine. Raises Refusal."""
        host, origin = headers.get("host", ""), headers.get("origin", "")
        if self._tokens is None and any(name in _OF_PROXIES or name.startswith("x-forwarded-") for name in headers):
            raise Refusal(403, _PROXIED)
        if self._tokens is None and not is_loopback(_name_of(host)):
            raise Refusal(421, "This server answers to loopback addresses only.")
        if scope["method"] not in _SAFE:
            elsewhere = headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
            if elsewhere or (origin and origin.partition("://")[2] != host):
                raise Refusal(403, "Requests of other sites are refused.")
        if self._tokens is None:
            return ""
        owner = self._tokens.owner_of(_token_of(headers))
        if owner is None and not _is_public(scope["path"]):
            raise Refusal(401, "A token is needed: Authorization: Bearer … (deep-research token create).")
        return owner or ""


def _is_public(path: str) -> bool:
    return path in PUBLIC or path.startswith("/page/")


def _token_of(headers: dict[str, str]) -> str:
    """Return a request's token from its header, else from the page's cookie."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    cookie = _TOKEN_COOKIE.search(headers.get("cookie", ""))
    return cookie[1] if cookie else ""


def _name_of(host: str) -> str:
    """Return a Host header without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def is_loopback(name: str) -> bool:
    """Return whether a host name or address means this machine alone."""
    if name.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def problem_response(status: int, detail: str, path: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error as RFC 9457 problem details, or in OpenAI's form by path."""
    if path.startswith("/v1/"):
        kind = "invalid_request_error" if status < 500 else "server_error"
        body: Any = {"error": {"message": detail, "type": kind, "param": None, "code": str(status)}}
        media_type = "application/json"
    else:
        body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
        media_type = "application/problem+json"
    own = {401: {"www-authenticate": "Bearer"}, 429: {"retry-after": "30"}}.get(status, {})
    # In ASCII: what strangers send may hold lone surrogates.
    return Response(json.dumps(body), status, {**own, **(headers or {})}, media_type)
