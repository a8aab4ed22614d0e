"""robots.txt after RFC 9309: fetched once per host and run, parsed by Protego, and obeyed."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

from protego import Protego

from deep_research.concurrency import Flights
from deep_research.errors import Blocked, RateLimited, SourceError, Unreachable
from deep_research.fetch.addresses import Address, join_address, refuse
from deep_research.fetch.host_rate_limit import HostPace
from deep_research.fetch.transport import PRODUCT, Answer

MAX_BYTES = 524_288
"""What is parsed of a robots.txt at least and at most (RFC 9309, 2.5: 500 KiB)."""

_VERSION = re.compile(r"^(\s*user-agent\s*:\s*[a-z_-]+)/\S*", re.IGNORECASE | re.MULTILINE)


def parse_robots(body: bytes) -> Protego:
    """Return the rules of a robots.txt; versions behind product tokens do not count. Never fails."""
    return Protego.parse(_VERSION.sub(r"\1", body[:MAX_BYTES].decode("utf-8-sig", "replace")))


ALLOW_ALL = parse_robots(b"")
MAX_CRAWL_DELAY = 10.0
"""Seconds of a Crawl-delay that are obeyed; more would stop a run for one host."""

_MAX_REDIRECTS = 5


class RobotsGate:
    """Checks pages against the robots.txt of their hosts."""

    def __init__(self, ask: Callable[[Address], Awaitable[Answer]], pace: HostPace) -> None:
        """`ask` makes one guarded request and raises what is no page and no redirect."""
        self._ask = ask
        self._pace = pace
        self._rules: dict[str, Protego] = {}
        self._flights: Flights[Protego] = Flights()

    async def check(self, address: Address) -> None:
        """Raise Blocked when the host's rules forbid the page, Unreachable when they cannot be read (RFC 9309, 2.3)."""
        if (rules := self._rules.get(address.origin)) is None:
            rules = await self._flights.run(address.origin, lambda: self._load(address))
            self._rules[address.origin] = rules
            if delay := rules.crawl_delay(PRODUCT):
                self._pace.slow_down(address.authority, min(delay, MAX_CRAWL_DELAY))
        if not rules.can_fetch(address.url, PRODUCT):
            refuse(address.url, "robots", "the host's robots.txt asks programs not to")

    async def _load(self, address: Address) -> Protego:
        at = Address(address.scheme, address.host, address.port, "/robots.txt")
        moved = False
        try:
            for _ in range(_MAX_REDIRECTS + 1):
                answer = await self._ask(at)
                if not answer.is_redirect:
                    return await asyncio.to_thread(parse_robots, answer.body)
                moved = True
                at = join_address(at, answer.headers["location"])
        except (Unreachable, RateLimited) as error:
            message = f"{address.url} is not opened: its host's robots.txt could not be read ({error.message})"
            raise replace(error, message=message, url=address.url, reason="robots") from error
        except SourceError as error:
            # Where the guard refuses the host itself, it refuses the page; where rules moved to, only the rules.
            if isinstance(error, Blocked) and error.reason and not moved:
                raise
        return ALLOW_ALL  # 4xx, no text, redirects without end or to where nobody may go
