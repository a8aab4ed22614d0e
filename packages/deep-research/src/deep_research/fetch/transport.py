"""One HTTP exchange: guarded, limited in time and size, without implicit data.

Built on httpcore, which has no cookies, netrc, proxies from the environment, automatic redirects or decompression.
"""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version

import httpcore

from deep_research.address_credentials import credentials_for
from deep_research.concurrency import SYSTEM_CLOCK, Clock, in_background, note_answer, on_wires
from deep_research.errors import ConfigError, NotFound, Unreachable, Unreadable
from deep_research.fetch.address_guard import Guard
from deep_research.fetch.addresses import Address, parse_address
from deep_research.fetch.fetch_policies import FetchLimits
from deep_research.fetch.guarded_network import Dial, GuardedNetwork, Resolver, judged_ips, system_dial, system_resolve
from deep_research.fetch.response_body import read_body
from deep_research.protocol.content_decoding import ACCEPTED
from deep_research.protocol.http_semantics import OWN_AUTHORITY

PRODUCT = "deep-research"  # the product token that robots.txt files name


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: lower-case header names, repeats joined by ", ", and decoded body."""

    address: Address
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_redirect(self) -> bool:
        """Whether it sends on to another address."""
        return self.status in (301, 302, 303, 307, 308) and "location" in self.headers


def user_agent(contact: str = "") -> str:
    """Return the User-Agent; raise ConfigError for a `contact` no header can hold."""
    if not (contact.isascii() and contact.isprintable()) or set(contact) & set("()"):
        raise ConfigError(f"contact {contact!r} must be plain printable ASCII.", setting="contact", value=contact)
    name = f"{PRODUCT}/{version('deep-research')}"
    return f"{name} (+{contact})" if contact else name


class Transport:
    """Makes HTTP exchanges over one connection pool, in the thread for network waits."""

    def __init__(
        self,
        guard: Guard,
        *,
        resolver: Resolver = system_resolve,
        dial: Dial = system_dial,
        clock: Clock = SYSTEM_CLOCK,
        proxy: str = "",
        agent: str = "",
    ) -> None:
        """`proxy` resolves names again and connects; they are judged here first too."""
        self._guard, self._resolver, self._dial, self._clock = guard, resolver, dial, clock
        self._proxy = parse_address(proxy) if proxy else None
        self._agent = agent or user_agent()
        self._open_pool: httpcore.AsyncConnectionPool | None = None

    async def send(
        self,
        address: Address,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        limits: FetchLimits,
        cut: bool = False,
    ) -> Answer:
        """Make one exchange, without retries and without following redirects.

        A body over `limits.max_bytes` raises Unreadable, or with `cut` is cut there; those of errors are cut. Raises
        Blocked (the guard), NotFound (no such name), Unreachable or Unreadable.
        """
        self._guard.check_address(address)
        if self._proxy:
            with suppress(NotFound, Unreachable):  # behind many proxies names of the outside cannot be looked up
                await judged_ips(address, self._guard, self._resolver)
        request = self._request(address, method, headers or {}, content, limits)
        return await on_wires(self._exchange(request, address, limits, cut=cut))

    async def _exchange(self, request: httpcore.Request, address: Address, limits: FetchLimits, *, cut: bool) -> Answer:
        try:
            async with asyncio.timeout(limits.total_seconds):
                response = await self._begun(await self._pool(), request)
                try:
                    answer = await self._read(response, address, limits, cut=cut)
                finally:
                    await response.aclose()
                note_answer(answer)
                return answer
        except TimeoutError as error:
            message = f"{address.url} was not done after {limits.total_seconds:g} seconds."
            raise Unreachable(message, url=address.url, reason="time", final=True) from error
        except _HTTPCORE_ERRORS as error:
            raise translate(error, address.url) from error

    def check(self, address: Address) -> None:
        """Raise Blocked when the guard refuses host or port, before anything is sent."""
        self._guard.check_address(address)

    async def close(self) -> None:
        pool, self._open_pool = self._open_pool, None
        if pool is not None:
            await on_wires(pool.aclose())

    def _request(
        self, address: Address, method: str, headers: Mapping[str, str], content: bytes, limits: FetchLimits
    ) -> httpcore.Request:
        own = {"Host": address.authority, "User-Agent": self._agent, "Accept-Encoding": ACCEPTED}
        if content or method != "GET":
            own["Content-Length"] = str(len(content))
        lower = {name.lower() for name in own}
        sent = [*own.items(), *((name, value) for name, value in headers.items() if name.lower() not in lower)]
        silence, scheme, host = limits.read_seconds, address.scheme.encode(), address.host.encode()
        timeout = {"connect": limits.connect_seconds, "read": silence, "write": silence, "pool": limits.total_seconds}
        return httpcore.Request(
            method,
            httpcore.URL(scheme=scheme, host=host, port=address.port, target=address.target.encode()),
            headers=[(name.encode("ascii"), value.encode("utf-8")) for name, value in sent],
            content=content,
            extensions={"timeout": timeout},
        )

    async def _begun(self, pool: httpcore.AsyncConnectionPool, request: httpcore.Request) -> httpcore.Response:
        """Send a request, a second time if the server had closed the idle connection."""
        opened: list[str] = []

        async def note(event: str, _: object) -> None:
            opened.extend([event] * event.endswith("connect_tcp.started"))

        request.extensions["trace"] = note
        try:
            return await pool.handle_async_request(request)
        except (httpcore.ReadError, httpcore.WriteError, httpcore.RemoteProtocolError):
            if opened:
                raise
            return await pool.handle_async_request(request)

    async def _pool(self) -> httpcore.AsyncConnectionPool:
        if self._open_pool is None:
            await in_background(_ssl_context)  # reading all certificates takes its time: once
        if (pool := self._open_pool) is None:
            proxy, trusted = None, frozenset[tuple[str, int]]()
            if at := self._proxy:
                proxy = httpcore.Proxy(at.origin, auth=credentials_for(at.origin))
                trusted = frozenset({(at.host, at.port)})
            network = GuardedNetwork(self._guard, self._resolver, self._dial, trusted=trusted)
            pool = self._open_pool = httpcore.AsyncConnectionPool(
                _ssl_context(), proxy, max_connections=32, keepalive_expiry=15.0, network_backend=network
            )
        return pool

    async def _read(self, response: httpcore.Response, address: Address, limits: FetchLimits, *, cut: bool) -> Answer:
        headers, chunks = _headers(response.headers, address, limits), response.aiter_stream()
        success = 200 <= response.status < 300
        body = await read_body(chunks, address.url, headers, limits, self._clock, cut=cut, success=success)
        return Answer(address, response.status, headers, body)


def _headers(raw: Sequence[tuple[bytes, bytes]], address: Address, limits: FetchLimits) -> dict[str, str]:
    if sum(len(name) + len(value) + 4 for name, value in raw) > limits.max_header_bytes:
        message = f"{address.url} answers with more than {limits.max_header_bytes} bytes of headers."
        raise Unreadable(message, url=address.url, reason="headers")
    headers: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


_HTTPCORE_ERRORS = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
)


def translate(error: BaseException, url: str) -> Unreachable:
    """Return our error for an httpcore error; `final` is set if a retry cannot help."""
    if isinstance(error, httpcore.ConnectError) and (why := _doubted_certificate(error)):
        message = f"The certificate of {parse_address(url).authority} is not to be trusted ({why})."
        message += OWN_AUTHORITY if "issuer" in why or "chain" in why else ""
        return Unreachable(message, url=url, reason="tls", final=True)
    if isinstance(error, httpcore.TimeoutException):
        return Unreachable(f"{url} did not answer in time.", url=url, reason="time")
    if isinstance(error, httpcore.LocalProtocolError):  # its text quotes the header, which may be a key
        message = f"{url} was not asked: a header of the request holds characters that cannot be sent."
        return Unreachable(message, url=url, reason="request", final=True)
    detail = str(error).strip().rstrip(".") or type(error).__name__
    return Unreachable(f"{url} could not be read: the connection failed ({detail}).", url=url, reason="connection")


def _doubted_certificate(error: BaseException | None) -> str:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message.rstrip(".") or "it cannot be verified"
        error = error.__cause__ or error.__context__
    return ""


_ssl_context = cache(httpcore.default_ssl_context)
