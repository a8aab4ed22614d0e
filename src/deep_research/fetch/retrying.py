"""Trying again, by policy."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from deep_research.errors import RateLimited, SourceError
from deep_research.fetch.clock import Clock
from deep_research.fetch.limits import RetryPolicies

T = TypeVar("T")


async def with_retries(
    attempt: Callable[[], Awaitable[T]], policies: RetryPolicies, clock: Clock, hold: Callable[[float], None]
) -> T:
    """Return what `attempt` returns, trying again as the policy of its error says.

    `hold` is told the seconds a server asked to wait, so that nobody else asks it meanwhile. An error
    with the field `final` is not tried again, nor silence, nor one whose wait is over the policy's bound.
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
    asked = error.fields.get("retry_after")
    wait = policy.wait(number)
    if isinstance(error, RateLimited) and isinstance(asked, float):
        hold(asked)
        wait = asked
    # Who was silent once costs the whole time again; a run has other pages.
    final = error.fields.get("final") or error.fields.get("rule") == "time"
    if number >= policy.attempts or final or wait > policy.max_wait:
        return None
    return wait
