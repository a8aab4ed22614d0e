"""Fetch policies as values: sizes, timeouts, retries."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from deep_research.concurrency import Clock
from deep_research.errors import RateLimited, SourceError, Unreachable


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Ends of one exchange. Bytes count after decompression; seconds include everything but polite waiting."""

    max_bytes: int = 20_000_000
    max_header_bytes: int = 65_536
    max_redirects: int = 5
    total_seconds: float = 45.0
    connect_seconds: float = 10.0
    read_seconds: float = 20.0
    min_bytes_per_second: int = 200
    slow_after_seconds: float = 10.0

    def within(self, seconds: float) -> "FetchLimits":
        """Return these limits with `seconds` as the longest silence, and no more than twice that in all."""
        return replace(
            self,
            read_seconds=seconds,
            connect_seconds=min(self.connect_seconds, seconds),
            total_seconds=2 * seconds,
        )


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often one kind of failure is tried again and how long is waited: `first_wait`, doubled each time.

    `max_wait` bounds every wait, also one that the server asks for: who asks for more has failed.
    """

    attempts: int = 1
    first_wait: float = 1.0
    max_wait: float = 30.0

    def wait(self, attempt: int) -> float:
        """Return seconds to wait after the attempt of that number, counted from 1."""
        return min(self.first_wait * 2 ** (attempt - 1), self.max_wait)


def _page_policies() -> Mapping[type[SourceError], RetryPolicy]:
    return {Unreachable: RetryPolicy(attempts=3), RateLimited: RetryPolicy(attempts=2, first_wait=5.0)}


@dataclass(frozen=True, slots=True)
class RetryPolicies:
    """A policy per class of error; a class that is not named (Blocked, NotFound, Unreadable) is not tried again."""

    by_error: Mapping[type[SourceError], RetryPolicy] = field(default_factory=_page_policies)

    def of(self, error: SourceError) -> RetryPolicy:
        """Return the policy of an error."""
        return self.by_error.get(type(error), RetryPolicy())


T = TypeVar("T")


async def with_retries(
    attempt: Callable[[], Awaitable[T]], policies: RetryPolicies, clock: Clock, hold: Callable[[float], None]
) -> T:
    """Return what `attempt` returns, trying again as the policy of its error says.

    `hold` is told the seconds a server asked to wait, so that nobody else asks it meanwhile. An error
    that is `final` is not tried again, nor silence, nor one whose wait is over the policy's bound.
    """
    number = 1
    while True:
        try:
            return await attempt()
        except SourceError as error:
            wait = _wait(error, number, policies, hold)
            if wait is None:
                raise
        await clock.sleep(wait)
        number += 1


def _wait(error: SourceError, number: int, policies: RetryPolicies, hold: Callable[[float], None]) -> float | None:
    policy = policies.of(error)
    wait = policy.wait(number)
    if isinstance(error, RateLimited) and error.retry_after is not None:
        hold(error.retry_after)
        wait = error.retry_after
    # Who was silent once costs the whole time again; a run has other pages.
    final = error.final or error.reason == "time"
    if number >= policy.attempts or final or wait > policy.max_wait:
        return None
    return wait
