"""HTTP statuses and headers (RFC 9110): their meaning, requested waits, dates."""

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Literal

from deep_research.errors import Blocked, NotFound, RateLimited, SourceError, Unreachable, Unreadable

StatusMeaning = Literal["success", "redirect", "refused", "login", "payment", "forbidden", "missing", "wait", "down"]
"""What a client can do about a status; `refused` is every error of the client that has no meaning of its own."""

_STATUSES: dict[StatusMeaning, tuple[int, ...]] = {
    "login": (401, 407),
    "payment": (402, 432, 433),  # the last two are Tavily's
    "forbidden": (403, 451),
    "missing": (404, 410),
    "wait": (429,),
    "down": (408, 425, *range(500, 1_000)),
}
OWN_AUTHORITY = " Where your network has a certificate authority of its own, name its file (PEM) in SSL_CERT_FILE."
MAX_WAIT_SECONDS = 24 * 3600.0
_ERRORS: dict[StatusMeaning, type[SourceError]] = {
    "success": Unreadable, "redirect": Unreadable,  # such as 204 and 206 where a whole page was asked for
    "login": Blocked, "payment": Blocked, "forbidden": Blocked,
    "missing": NotFound, "wait": RateLimited, "down": Unreachable,
}  # fmt: skip

_WAIT_HEADERS = (
    ("retry-after-ms", 1000.0),  # OpenAI
    ("retry-after", 1.0),
    ("x-rate-limit-retry-after-seconds", 1.0),  # the US patent office
)
_UNITS = {"d(?:ays?)?": 86_400, "h(?:ours?)?": 3_600, "m(?:in(?:ute)?s?)?": 60, "s(?:ec(?:ond)?s?)?": 1}
_SECONDS = re.compile(r"\d{1,12}(?:\.\d+)?")
_AMOUNTS = "".join(rf"(?:(\d{{1,9}}(?:\.\d{{1,9}})?) ?{unit}(?![a-z]),? ?)?" for unit in _UNITS)
_WAIT_WORDS = re.compile(rf"(?:try again|retry) (?:in|after) (?=\d){_AMOUNTS}", re.IGNORECASE)
"""OpenAI, Groq ("Please try again in 9m38.016s"), Azure ("Please retry after 46 seconds")."""


def status_meaning(status: int, headers: Mapping[str, str] | None = None) -> StatusMeaning:
    """Return a status's meaning; a 503 with Retry-After asks to wait, as 429 does."""
    if 200 <= status < 400:
        return "success" if status < 300 else "redirect"
    if status == 503 and (headers or {}).get("retry-after"):
        return "wait"
    found: StatusMeaning | None = next((meaning for meaning, told in _STATUSES.items() if status in told), None)
    return found or "refused"


def error_kind(meaning: StatusMeaning, *, refused: type[SourceError] = SourceError) -> type[SourceError]:
    """Return the error class for a status; `refused` is that of a refused request."""
    return _ERRORS.get(meaning, refused)


def requested_wait(headers: Mapping[str, str], now: float, said: str = "") -> float | None:
    """Return the seconds a server asks to wait, at most a day, or None.

    Reads Retry-After (seconds or date), its variants of single vendors, the reset of a used-up quota as GitHub sends it,
    else what is `said`. Names of `headers` are in lower case, `now` is in seconds since 1970.
    """
    seconds = _asked_seconds(headers, now)
    if seconds is None and (found := _WAIT_WORDS.search(said)):
        amounts = zip(found.groups(), _UNITS.values(), strict=True)
        seconds = sum(float(part or 0) * unit for part, unit in amounts) or None
    return None if seconds is None else min(max(0.0, seconds), MAX_WAIT_SECONDS)


def _asked_seconds(headers: Mapping[str, str], now: float) -> float | None:
    for name, unit in _WAIT_HEADERS:
        value = headers.get(name, "").strip()
        if _SECONDS.fullmatch(value):
            return float(value) / unit
        if (until := parse_http_date(value)) is not None:
            return until - now
    reset = headers.get("x-ratelimit-reset", "").strip()
    is_used_up = headers.get("x-ratelimit-remaining", "0").strip() == "0"
    return float(reset) - now if is_used_up and reset.isdecimal() and 9 <= len(reset) <= 11 else None


def parse_http_date(value: str) -> float | None:
    """Return an HTTP date as seconds since 1970, or None when it is none."""
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
