"""Name resolution that a test writes, and connections that end at one local server.

Together they let a whole Internet stand on one loopback port: names get public IP addresses, the
address guard judges those as it would in earnest, and the connection to them lands on the local server.
"""

import ssl
from collections.abc import Sequence
from typing import Any

import httpcore

from deep_research.errors import NotFound
from deep_research.fetch.guarded_network import system_dial


class FakeDns:
    """Answers for names; implements `fetch.network.Resolver`. `lookups` lists what was asked.

    Names that were not set do not exist, except those under `.test`: each gets an address of its own.
    """

    def __init__(self) -> None:
        self._records: dict[str, list[list[str]]] = {}
        self._given = 0
        self.lookups: list[str] = []

    def set(self, host: str, *ips: str) -> None:
        """Let `host` have these IP addresses."""
        self._records[host] = [list(ips)]

    def sequence(self, host: str, *answers: Sequence[str]) -> None:
        """Let each lookup of `host` get the next answer, the last one for good (DNS rebinding)."""
        self._records[host] = [list(answer) for answer in answers]

    def remove(self, host: str) -> None:
        """Let `host` not exist."""
        self._records[host] = []

    async def __call__(self, host: str) -> Sequence[str]:
        """See `Resolver`."""
        self.lookups.append(host)
        if host not in self._records and host.endswith(".test"):
            # 8.8.0.0/16 stands for "somewhere public"; nothing is ever sent there.
            self._given += 1
            self.set(host, f"8.8.{self._given // 250}.{self._given % 250 + 1}")
        answers = self._records.get(host, [])
        if not answers:
            raise NotFound(f"There is no host named {host!r}.", url=host, reason="dns")
        return answers.pop(0) if len(answers) > 1 else answers[0]


class FakeDial:
    """Connects every IP address to one local port; implements `fetch.network.Dial`.

    `dialled` lists the connections. TLS is played: `server_names` lists the names that certificates
    would have to be for, and the talk goes on in plain, so https works without certificates.
    """

    def __init__(self, port: int) -> None:
        """`port` is the local server's, on 127.0.0.1."""
        self._port = port
        self._refusing: set[str] = set()
        self.dialled: list[tuple[str, int]] = []
        self.server_names: list[str | None] = []

    def refuse(self, ip: str) -> None:
        """Let connections to `ip` fail."""
        self._refusing.add(ip)

    async def __call__(self, ip: str, port: int, timeout: float | None) -> httpcore.AsyncNetworkStream:  # noqa: ASYNC109 - as Dial
        """See `fetch.network.Dial`."""
        self.dialled.append((ip, port))
        if ip in self._refusing:
            raise httpcore.ConnectError("connection refused")
        return PlainStream(await system_dial("127.0.0.1", self._port, timeout), self.server_names)


class PlainStream(httpcore.AsyncNetworkStream):
    """A connection that says yes to TLS and stays plain."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, server_names: list[str | None]) -> None:
        """`server_names` is told the name of each TLS handshake."""
        self._stream = stream
        self._server_names = server_names

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """See httpcore."""
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """See httpcore."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """See httpcore."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        """Note the name and go on in plain."""
        self._server_names.append(server_hostname)
        return self

    def get_extra_info(self, info: str) -> Any:
        """See httpcore; there is no TLS object."""
        return None if info == "ssl_object" else self._stream.get_extra_info(info)
