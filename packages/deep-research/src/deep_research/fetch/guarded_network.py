"""The last step before connecting: resolve once, judge all answers, connect.

The connection goes to the IP address that was judged, while `Host` and TLS server name stay the name's: a name server
that answers differently a moment later (DNS rebinding) changes nothing.
"""

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, cast

import httpcore

from deep_research.concurrency import FairThreads
from deep_research.errors import NotFound, Unreachable
from deep_research.fetch.address_guard import Guard, IpAddress
from deep_research.fetch.addresses import Address

MAX_ADDRESSES = 4  # of one name that are tried
_NAMES = FairThreads(64, "names")  # a name server that does not answer holds a thread for half a minute
Dial = Callable[[str, int, float | None], Awaitable[httpcore.AsyncNetworkStream]]
"""Connects to (IP address, port) within seconds. Raises httpcore.ConnectError or ConnectTimeout."""
Resolver = Callable[[str], Awaitable[Sequence[str]]]
"""Gives the IP addresses of a name. Raises NotFound (no such name) or Unreachable."""


async def system_resolve(host: str) -> Sequence[str]:
    """Return the IP addresses of a name as the computer knows it. See `Resolver`."""
    try:
        answers = await _NAMES.do(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        if getattr(error, "errno", None) in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)):
            raise NotFound(f"There is no host named {host!r}.", url=host, reason="dns") from error
        why = getattr(error, "strerror", None) or error
        raise Unreachable(f"The name of {host!r} could not be looked up: {why}.", url=host) from error
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


async def system_dial(ip: str, port: int, timeout: float | None) -> httpcore.AsyncNetworkStream:  # noqa: ASYNC109
    """Connect to an IP address. See `Dial`."""
    # httpcore declares it without types where anyio is missing.
    backend = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())
    return await backend.connect_tcp(ip, port, timeout=timeout)


async def judged_ips(address: Address, guard: Guard, resolver: Resolver) -> list[IpAddress]:
    """Return the IP addresses to connect to, IPv4 first; one forbidden refuses all.

    Raises Blocked, NotFound or Unreachable.
    """
    guard.check_address(address)
    if address.ip is not None:
        return [address.ip]
    ips = [ipaddress.ip_address(text.partition("%")[0]) for text in await resolver(address.host)]
    if not ips:
        raise NotFound(f"The host {address.host!r} has no IP address.", url=address.url, reason="dns")
    for ip in ips:
        guard.check_ip(address, ip)
    return sorted(ips, key=lambda ip: ip.version)[:MAX_ADDRESSES]


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """httpcore's way to the network: every TCP connection passes the guard."""

    def __init__(self, guard: Guard, resolver: Resolver, dial: Dial, *, trusted: frozenset[tuple[str, int]]) -> None:
        self._guard, self._resolver, self._dial = guard, resolver, dial
        self._trusted = trusted  # the host and port of the user's proxy, which are not judged

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        if (host, port) in self._trusted:
            ips = (await self._resolver(host))[:MAX_ADDRESSES]
        else:
            address = Address("https" if port == 443 else "http", host, port, "/")
            ips = await judged_ips(address, self._guard, self._resolver)
        failure: Exception | None = None
        for ip in ips:
            try:
                return await self._dial(str(ip), port, timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore.ConnectError(f"no address of {host}")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Refuse: pages do not live in sockets."""
        raise httpcore.ConnectError("sockets of this computer are not opened")
