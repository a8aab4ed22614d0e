"""What an answer's status means: a page, a redirect, or which error. By number, never by text."""

from datetime import datetime

from deep_research.errors import Blocked, NotFound, RateLimited, SourceError, Unreachable, Unreadable
from deep_research.fetch.http_cache import retry_after
from deep_research.fetch.transport import Answer

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_REASONS = {
    401: "it asks for a login",
    402: "it asks for payment",
    403: "it refuses this program",
    404: "the page does not exist",
    410: "the page is gone for good",
    429: "it asks to wait",
    451: "it is withheld for legal reasons",
    503: "it is overloaded or under maintenance",
}


def is_redirect(answer: Answer) -> bool:
    """Whether the answer sends on to another address."""
    return answer.status in _REDIRECTS and "location" in answer.headers


def error_of(answer: Answer, now: datetime, *, conditional: bool) -> SourceError | None:
    """Return the error an answer stands for, or None when it is a page or a redirect.

    `conditional`: the request said what it has already, so "not modified" is an answer.
    """
    status = answer.status
    if status in (200, 203) or is_redirect(answer) or (conditional and status == 304):
        return None
    url = answer.address.url
    message = f"{url}: {_REASONS.get(status, 'no page came back')} (HTTP {status})."
    wait = retry_after(answer.headers, now)
    if status == 429 or (status == 503 and wait is not None):
        return RateLimited(message, url=url, status=status, retry_after=wait)
    return _kind(status)(message, url=url, status=status)


def _kind(status: int) -> type[SourceError]:
    if status in (404, 410):
        return NotFound
    if status in (408, 425) or status >= 500:
        return Unreachable
    return Blocked if status >= 400 else Unreadable
