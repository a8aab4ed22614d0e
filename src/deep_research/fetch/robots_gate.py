"""Asks each host for its robots.txt once in a run, and keeps to it."""

from collections.abc import Awaitable, Callable

from deep_research.errors import Blocked, RateLimited, SourceError, Unreachable
from deep_research.fetch.addresses import Address, join_address, refuse
from deep_research.fetch.flights import Flights
from deep_research.fetch.judging import is_redirect
from deep_research.fetch.pace import HostPace
from deep_research.fetch.robots import ALLOW_ALL, Rules, parse_robots
from deep_research.fetch.transport import PRODUCT, Answer

MAX_CRAWL_DELAY = 10.0
"""Seconds of a Crawl-delay that are obeyed; more would stop a run for one host."""

_MAX_REDIRECTS = 5


class RobotsGate:
    """Says whether robots.txt lets a page be fetched."""

    def __init__(self, ask: Callable[[Address], Awaitable[Answer]], pace: HostPace) -> None:
        """`ask` makes one guarded request and raises what is no page and no redirect."""
        self._ask = ask
        self._pace = pace
        self._rules: dict[str, Rules] = {}
        self._flights: Flights[Rules] = Flights()

    async def check(self, address: Address) -> None:
        """Raise Blocked when the host's rules forbid the page, Unreachable when they cannot be read (RFC 9309, 2.3)."""
        if (rules := self._rules.get(address.origin)) is None:
            rules = await self._flights.run(address.origin, lambda: self._load(address))
            self._rules[address.origin] = rules
            if rules.crawl_delay:
                self._pace.slow_down(address.host, min(rules.crawl_delay, MAX_CRAWL_DELAY))
        if not rules.allows(address.target):
            refuse(address.url, "robots", "the host's robots.txt asks programs not to")

    async def _load(self, address: Address) -> Rules:
        at = Address(address.scheme, address.host, address.port, "/robots.txt")
        moved = False
        try:
            for _ in range(_MAX_REDIRECTS + 1):
                answer = await self._ask(at)
                if not is_redirect(answer):
                    return parse_robots(answer.body, PRODUCT)
                moved = True
                at = join_address(at, answer.headers["location"])
        except (Unreachable, RateLimited) as error:
            message = f"{address.url} is not opened: its host's robots.txt could not be read ({error.message})"
            raise type(error)(message, **{**error.fields, "url": address.url, "rule": "robots"}) from error
        except SourceError as error:
            # Where the guard refuses the host itself, it refuses the page; where rules moved to, only the rules.
            if isinstance(error, Blocked) and error.fields.get("rule") and not moved:
                raise
        return ALLOW_ALL  # 4xx, no text, redirects without end or to where nobody may go
