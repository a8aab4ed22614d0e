"""robots.txt after RFC 9309, with the customary Crawl-delay."""

import re
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, unquote_to_bytes

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
