"""Name resolution that a test writes, and connections that end at one local server.

Together they let a whole Internet stand on one loopback port: names get public IP addresses, the
address guard judges those as it would in earnest, and the connection to them lands on the local server.
"""

from collections.abc import Sequence
from typing import Any

import httpcore

from deep_research.errors import NotFound
from deep_research.fetch.network import system_dial


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

    async def resolve(self, host: str) -> Sequence[str]:
        """See `Resolver.resolve`."""
        self.lookups.append(host)
        if host not in self._records and host.endswith(".test"):
            # 8.8.0.0/16 stands for "somewhere public"; nothing is ever sent there.
            self._given += 1
            self.set(host, f"8.8.{self._given // 250}.{self._given % 250 + 1}")
        answers = self._records.get(host, [])
        if not answers:
            raise NotFound(f"There is no host named {host!r}.", url=host, rule="dns")
        return answers.pop(0) if len(answers) > 1 else answers[0]


class FakeDial:
    """Connects every IP address to one local port; implements `fetch.network.Dial`. `dialled` lists them."""

    def __init__(self, port: int) -> None:
        """`port` is the local server's, on 127.0.0.1."""
        self._port = port
        self._refusing: set[str] = set()
        self.dialled: list[tuple[str, int]] = []

    def refuse(self, ip: str) -> None:
        """Let connections to `ip` fail."""
        self._refusing.add(ip)

    async def __call__(self, ip: str, port: int, timeout: float | None) -> Any:  # noqa: ASYNC109 - as Dial
        """See `fetch.network.Dial`."""
        self.dialled.append((ip, port))
        if ip in self._refusing:
            raise httpcore.ConnectError("connection refused")
        return await system_dial("127.0.0.1", self._port, timeout)
