"""What every request passes first: where it comes from, which owner it is, how large it is; and the security headers."""

import asyncio
import ipaddress
import json
import re
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deep_research.server.access_tokens import AccessTokens

COOKIE = "deep_research_token"
_TOKEN_COOKIE = re.compile(rf"(?:^|;)\s?{COOKIE}=([\w.~-]{{1,300}})(?=;|\s|$)")
PUBLIC = ("/", "/page/", "/healthz", "/readyz", "/openapi.json", "/api/v1/session", "/favicon.ico")
"""What is served without a token: the page itself, which holds no data, and what tells that the server is alive."""
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
_BODY_SECONDS, _LEAST_BYTES_PER_SECOND = 30.0, 20_000
"""How long the body of a request may take, beside what it takes at this pace."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_LOCAL_NAMES = frozenset({"localhost"})
_OF_PROXIES = frozenset(
    {"forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip", "cf-connecting-ip"}
)
"""Headers that a proxy adds, beside all X-Forwarded-…: who sent the request is not the user of this machine."""
_PROXIED = (
    "It came through a proxy, and without tokens everybody behind it would be the user of this machine. Make a token "
    "for each owner (deep-research token create NAME) and start the server with --require-tokens."
)


class Refusal(Exception):
    """A request that is not let in: its HTTP status, and what the client is told."""

    def __init__(self, status: int, title: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.title, self.detail = status, title, detail


class RequestGuard:
    """ASGI middleware around the whole application.

    Without `tokens` requests are those of the user of this machine: the Host must be a loopback address, so that a web
    page cannot reach the server by a name of its own (DNS rebinding), and nothing may come through a proxy. `max_body` limits bodies in bytes, `max_upload`
    those of uploads.
    """

    def __init__(self, app: ASGIApp, *, tokens: AccessTokens | None, max_body: int, max_upload: int) -> None:
        self._app, self._tokens = app, tokens
        self._max_body, self._max_upload = max_body, max_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is not let in, and pass on the rest."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False
        body = _Body(receive)

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if body.refused and not started:
                return  # whatever the application makes of a body that was cut
            if message["type"] == "http.response.start":
                started = True
                given = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(h for h in HEADERS if h[0] not in given)]
                if b"cache-control" not in given:
                    message["headers"].append((b"cache-control", b"no-store"))
            await send(message)

        try:
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
            scope.setdefault("state", {})["owner"] = self._admit(scope, headers)
            # Nothing else reads cookies, and reading them costs the square of their length (CVE-2024-7592).
            scope["headers"] = [pair for pair in scope["headers"] if pair[0].lower() != b"cookie"]
            limit = self._max_upload if scope["path"] == "/api/v1/documents" else self._max_body
            if self._tokens is not None and _is_public(scope["path"]):
                limit = _PUBLIC_BODY
            body.limit_to(limit, headers.get("content-length", ""))
            await self._app(scope, body.receive, send_guarded)
            if body.refused and not started:
                raise body.refused
        except Refusal as refusal:
            if started:
                raise
            body.refused = None
            await _refuse(send_guarded, refusal, openai=scope["path"].startswith("/v1/"))

    def _admit(self, scope: Scope, headers: dict[str, str]) -> str:
        """Return the owner of a request, "" for the user of this machine. Raises Refusal."""
        host, origin = headers.get("host", ""), headers.get("origin", "")
        if self._tokens is None and any(name in _OF_PROXIES or name.startswith("x-forwarded-") for name in headers):
            raise Refusal(403, "Forbidden", _PROXIED)
        if self._tokens is None and not is_loopback(_name_of(host)):
            raise Refusal(421, "Misdirected request", "This server answers to loopback addresses only.")
        if scope["method"] not in _SAFE:
            elsewhere = headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
            if elsewhere or (origin and origin.partition("://")[2] != host):
                raise Refusal(403, "Forbidden", "Requests of other sites are refused.")
        if self._tokens is None:
            return ""
        owner = self._tokens.owner_of(_token_of(headers))
        if owner is None and not _is_public(scope["path"]):
            raise Refusal(
                401, "Unauthorized", "A token is needed: Authorization: Bearer … (deep-research token create)."
            )
        return owner or ""


_PUBLIC_BODY = 4_000
"""Bytes of the body of a request that needs no token: a token, and nothing longer."""


def _is_public(path: str) -> bool:
    return path in PUBLIC or path.startswith("/page/")


def _token_of(headers: dict[str, str]) -> str:
    """Return the token of a request: from its header, else from the cookie that the page was given."""
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
    if name.lower().rstrip(".") in _LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class _Body:
    """The body of a request, held against a limit as it is announced and as it really comes, and against a deadline."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._limit = self._left = 0
        self._deadline: float | None = None
        self.refused: Refusal | None = None

    def limit_to(self, limit: int, announced: str) -> None:
        """Set the limit in bytes, and with it the deadline. Raises Refusal when more is announced."""
        self._limit = self._left = limit
        size = int(announced) if announced.isdecimal() else limit
        if size > limit:
            raise _too_large(limit)
        self._deadline = asyncio.get_running_loop().time() + _BODY_SECONDS + size / _LEAST_BYTES_PER_SECOND

    async def receive(self) -> Message:
        """Give the next message; beyond limit and deadline the client counts as gone."""
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            self.refused = Refusal(408, "Request timeout", "The body of the request came too slowly.")
            return {"type": "http.disconnect"}
        if not message.get("more_body"):
            self._deadline = None
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            self.refused = _too_large(self._limit)
            return {"type": "http.disconnect"}
        return message


def _too_large(limit: int) -> Refusal:
    return Refusal(413, "Content too large", f"The limit is {limit / 1e6:g} MB.")


async def _refuse(send: Send, refusal: Refusal, *, openai: bool) -> None:
    body = problem(refusal.status, refusal.title, refusal.detail, openai=openai)
    headers: Iterable[tuple[bytes, bytes]] = [
        (b"content-type", b"application/json" if openai else b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        *([(b"www-authenticate", b"Bearer")] if refusal.status == 401 else []),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": body})


def problem(status: int, title: str, detail: str, *, openai: bool = False) -> bytes:
    """Return an error as clients get it: RFC 9457 problem details, or OpenAI's form."""
    if openai:
        kind = "invalid_request_error" if status < 500 else "server_error"
        return json.dumps({"error": {"message": detail, "type": kind, "param": None, "code": str(status)}}).encode()
    return json.dumps({"type": "about:blank", "title": title, "status": status, "detail": detail}).encode()
