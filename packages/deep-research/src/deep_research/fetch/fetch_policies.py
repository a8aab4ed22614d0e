"""Fetch policies: size limits, timeouts, retries, and a token bucket per host.

The bucket is kept as one time per host, as in the generic cell rate algorithm (ITU-T I.371): a request may start when
that time is no further ahead than the burst allows, and moves it on by one interval. Where processes share a database,
turns and what a host has asked for hold for all of them.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar
from weakref import WeakKeyDictionary

from deep_research.concurrency import SYSTEM_CLOCK, Clock, Rate
from deep_research.errors import RateLimited, SourceError, Unreachable
from deep_research.ports import SharedLimits

T = TypeVar("T")
_Semaphores = dict[str, asyncio.Semaphore]
PAGE_RATE, API_RATE = Rate(2.0), Rate()  # of hosts for which none is set
LONGEST_SILENCE = 30.0  # seconds; a page or API that says nothing for longer is given up, as browsers' users do
MAX_REDIRECTS = 5
_LONGEST_WAIT = 60.0  # seconds; a host that has asked for longer is not waited for
LONGEST_RETRY = 30.0  # seconds before something is tried again, also of a wait that a server asks for
_PAGE_RETRIES = {Unreachable: (3, 1.0), RateLimited: (2, 5.0)}
"""Attempts and first wait by class of error; one that is not named (Blocked, NotFound, Unreadable) is not tried again."""
_PACES_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of one exchange: decompressed bytes, and seconds without polite waiting."""

    max_bytes: int = 20_000_000
    max_header_bytes: int = 65_536
    total_seconds: float = 45.0
    connect_seconds: float = 10.0
    read_seconds: float = 20.0
    min_bytes_per_second: int = 200
    slow_after_seconds: float = 10.0

    def within(self, seconds: float) -> "FetchLimits":
        """Return limits with `seconds` as the longest silence, and twice that in total."""
        connect = min(self.connect_seconds, seconds)
        return replace(self, read_seconds=seconds, connect_seconds=connect, total_seconds=2 * seconds)


def wait_after(attempt: int, first: float) -> float:
    """Return the wait in seconds after attempt 1, 2, …: `first`, doubled each time."""
    return min(first * 2 ** (attempt - 1), LONGEST_RETRY)


async def with_retries(attempt: Callable[[], Awaitable[T]], clock: Clock, hold: Callable[[float], None]) -> T:
    """Return what `attempt` returns, trying a page again as its error allows.

    `hold` is told the seconds a server asked to wait, so that nobody else asks it meanwhile.
    """
    number = 1
    while True:
        try:
            return await attempt()
        except SourceError as error:
            attempts, first = _PAGE_RETRIES.get(type(error), (1, 0.0))
            wait = wait_after(number, first)
            if isinstance(error, RateLimited) and error.retry_after is not None:
                hold(error.retry_after)
                wait = error.retry_after
            # Who was silent once costs the whole time again; a run has other pages.
            final = error.final or error.reason == "time"
            if number >= attempts or final or wait > LONGEST_RETRY:
                raise
        await clock.sleep(wait)
        number += 1


@dataclass(eq=False)
class HostPace:
    """Turns at hosts for all runs, threads and loops; a host's wishes hold for all."""

    rate: Rate = PAGE_RATE
    at_once: int = 2
    clock: Clock = SYSTEM_CLOCK
    shared: SharedLimits | None = None

    def __post_init__(self) -> None:
        """Begin with no host asked."""
        self._full_at: dict[str, float] = {}
        self._closed_until: dict[str, float] = {}
        self._intervals: dict[str, float] = {}
        self._lock = threading.Lock()
        self._semaphores: WeakKeyDictionary[asyncio.AbstractEventLoop, _Semaphores] = WeakKeyDictionary()

    @asynccontextmanager
    async def turn(self, host: str, rate: Rate | None = None) -> AsyncIterator[None]:
        """Wait for a turn at `host` and hold it. Raises RateLimited for too long a wait."""
        rate = rate or self.rate
        slots = self._semaphores.setdefault(asyncio.get_running_loop(), {})
        is_slow = 0 < rate.per_second <= 1 and rate.burst == 1
        at_once = 1 if is_slow else max(self.at_once, min(rate.burst, 16))
        async with slots.setdefault(host, asyncio.Semaphore(at_once)):
            if (wait := await self._next_turn(host, rate)) > 0:
                await self.clock.sleep(wait)
            yield

    def hold(self, host: str, seconds: float) -> None:
        """Ask nothing of `host` for so long: it said so (Retry-After)."""
        with self._lock:
            until = self.clock.monotonic() + seconds
            self._closed_until[host] = max(self._closed_until.get(host, 0.0), until)
        if self.shared is not None:
            self.shared.close(f"host {host}", seconds)

    def slow_down(self, host: str, delay: float) -> None:
        """Leave at least `delay` seconds between requests to `host` (Crawl-delay)."""
        with self._lock:
            self._intervals[host] = max(delay, self._intervals.get(host, 0.0))

    async def _next_turn(self, host: str, rate: Rate) -> float:
        usual = 1 / rate.per_second if rate.per_second else 0.0
        interval = max(usual, self._intervals.get(host, 0.0))
        ahead = (rate.burst - 1) * interval if interval == usual else 0.0
        wait = self._reserve(host, interval, ahead)
        if self.shared is not None:
            shared = await self.shared.turn(f"host {host}", interval, ahead, _LONGEST_WAIT)
            if shared < 0:
                raise _closed(host, -shared)
            wait = max(wait, shared)
        return wait

    def _reserve(self, host: str, interval: float, ahead: float) -> float:
        """Take the next turn of this process at a host and return the seconds until it."""
        with self._lock:
            now = self.clock.monotonic()
            closed = self._closed_until.get(host, now) - now
            if closed > _LONGEST_WAIT:
                raise _closed(host, closed)
            full_at = max(now + max(closed, 0.0), self._full_at.get(host, 0.0))
            start = max(now + max(closed, 0.0), full_at - ahead)
            self._full_at[host] = full_at + interval
            return start - now


def _closed(host: str, seconds: float) -> RateLimited:
    message = f"{host} asked not to be called for another {seconds:.0f} seconds."
    return RateLimited(message, source=host, retry_after=seconds)


def paces_of(network: object, clock: Clock, shared: SharedLimits | None = None) -> tuple[HostPace, HostPace]:
    """Return the page and API paces of `network`, one pair per process."""
    with _PACES_LOCK:
        return _paces(network, clock, shared)


@cache
def _paces(_: object, clock: Clock, shared: SharedLimits | None) -> tuple[HostPace, HostPace]:
    return HostPace(clock=clock, shared=shared), HostPace(API_RATE, at_once=4, clock=clock, shared=shared)
