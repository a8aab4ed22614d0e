"""robots.txt after RFC 9309: parse the rules, fetch them once per host and run, and obey them."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, unquote_to_bytes

from deep_research.concurrency import Flights
from deep_research.errors import Blocked, RateLimited, SourceError, Unreachable
from deep_research.fetch.addresses import Address, join_address, refuse
from deep_research.fetch.host_rate_limit import HostPace
from deep_research.fetch.transport import PRODUCT, Answer

MAX_BYTES = 524_288
"""What is parsed of a robots.txt at least and at most (RFC 9309, 2.5: 500 KiB)."""

_LINE = re.compile(r"^\s*([A-Za-z-]+)\s*:\s*([^#]*)")
_MAX_RULES = 20_000
_KEPT = "!$&'()*+,;=:@/%-._~?"


@dataclass(frozen=True, slots=True)
class Rule:
    """`Allow` or `Disallow` with a path pattern: `*` any characters, `$` at the end the end."""

    allow: bool
    pattern: str


@dataclass(frozen=True)
class Rules:
    """The rules for one user agent."""

    rules: tuple[Rule, ...] = ()
    crawl_delay: float | None = None

    def allows(self, target: str) -> bool:
        """Whether path and query `target` may be fetched: the longest matching rule decides, Allow wins a tie."""
        if target == "/robots.txt":
            return True
        path = _normal(target)
        return next((rule.allow for rule in self._by_length if matches(rule.pattern, path)), True)

    @cached_property
    def _by_length(self) -> list[Rule]:
        return sorted(self.rules, key=lambda rule: (-len(rule.pattern), not rule.allow))


ALLOW_ALL = Rules()


def parse_robots(body: bytes, agent: str) -> Rules:
    """Return the rules of a robots.txt for the product token `agent`, else those for `*`. Never fails."""
    own: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    named_own = False
    groups: set[str] = set()
    in_agents = False
    for key, value in _lines(body):
        if key == "user-agent":
            groups = groups if in_agents else set()
            groups.add(_token(value))
            in_agents = True
            named_own = named_own or agent.lower() in groups
        elif key in ("allow", "disallow", "crawl-delay"):
            in_agents = False
            if agent.lower() in groups:
                own.append((key, value))
            if "*" in groups:
                others.append((key, value))
    return _rules(own if named_own else others)


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern matches the beginning of a path. Linear: patterns come from strangers."""
    anchored = pattern.endswith("$")
    first, *parts = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not parts:
        return not anchored or path == first
    at = len(first)
    last = parts.pop() if anchored else ""
    for part in parts:
        at = path.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return not anchored or (path.endswith(last) and len(path) - len(last) >= at)


def _lines(body: bytes) -> list[tuple[str, str]]:
    text = body[:MAX_BYTES].decode("utf-8-sig", "replace")
    found = (_LINE.match(line) for line in re.split(r"[\r\n]+", text))
    return [(match.group(1).lower(), match.group(2).strip()) for match in found if match]


def _token(value: str) -> str:
    return value if value == "*" else re.match(r"[A-Za-z_-]*", value).group().lower()  # type: ignore[union-attr]


def _rules(lines: list[tuple[str, str]]) -> Rules:
    rules = [Rule(key == "allow", _normal(value)) for key, value in lines if key != "crawl-delay" and value]
    delays = [
        float(value) for key, value in lines if key == "crawl-delay" and re.fullmatch(r"\d{1,6}(\.\d{1,6})?", value)
    ]
    return Rules(tuple(rules[:_MAX_RULES]), max(delays, default=None))


def _normal(path: str) -> str:
    """Percent-encode what must be and decode what need not be, so that two spellings of a path meet."""
    decoded = re.sub(r"%([0-9A-Fa-f]{2})", _unreserved, path)
    return quote(decoded, safe=_KEPT)


def _unreserved(match: re.Match[str]) -> str:
    char = unquote_to_bytes(match.group()).decode("latin-1")
    return char if char.isascii() and (char.isalnum() or char in "-._~") else match.group().upper()


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
                if not answer.is_redirect:
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
