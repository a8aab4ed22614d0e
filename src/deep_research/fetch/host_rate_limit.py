"""How often, and how many at a time, one host is asked: a token bucket for each host, shared by the whole process.

Where processes share a database, turns and what a host has asked for hold for all of them.

The bucket is kept as one time per host, as in the generic cell rate algorithm (ITU-T I.371): a request may start when
that time is no further ahead than the burst allows, and moves it on by one interval.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple
from weakref import WeakKeyDictionary

from deep_research.concurrency import SYSTEM_CLOCK, Clock, Rate, waiting_for_turn
from deep_research.errors import RateLimited
from deep_research.ports import SharedLimits

_Semaphores = dict[str, asyncio.Semaphore]
PAGE_RATE = Rate(2.0)
API_RATE = Rate()
"""The rates of hosts for which none is set: of pages, and of APIs."""
_SLOW = 1.0
"""Calls per second up to which, without a burst, a host is called by one after the other."""


class HostPace:
    """Turns at hosts, for several runs, threads and event loops. What a host has asked for holds for all of them."""

    def __init__(
        self,
        rate: Rate = PAGE_RATE,
        *,
        at_once: int = 2,
        max_wait: float = 60.0,
        clock: Clock = SYSTEM_CLOCK,
        shared: SharedLimits | None = None,
    ) -> None:
        """Begin with no host asked; `rate` and `at_once` are those of a host whose turn names no other rate.

        A host that has asked for longer than `max_wait` seconds is not waited for.
        """
        self._shared = shared
        self._rate = rate
        self._at_once = at_once
        self._max_wait = max_wait
        self._clock = clock
        self._full_at: dict[str, float] = {}
        self._closed_until: dict[str, float] = {}
        self._intervals: dict[str, float] = {}
        self._lock = threading.Lock()
        self._semaphores: WeakKeyDictionary[asyncio.AbstractEventLoop, _Semaphores] = WeakKeyDictionary()

    @asynccontextmanager
    async def turn(self, host: str, rate: Rate | None = None) -> AsyncIterator[None]:
        """Wait for a turn at `host` and hold it. Raises RateLimited when the host has asked to wait too long."""
        rate = rate or self._rate
        slots = self._semaphores.setdefault(asyncio.get_running_loop(), {})
        at_once = 1 if 0 < rate.per_second <= _SLOW and rate.burst == 1 else max(self._at_once, min(rate.burst, 16))
        slot = slots.setdefault(host, asyncio.Semaphore(at_once))
        with waiting_for_turn():
            await slot.acquire()
        try:
            if (wait := await self._next_turn(host, rate)) > 0:
                with waiting_for_turn():
                    await self._clock.sleep(wait)
            yield
        finally:
            slot.release()

    def hold(self, host: str, seconds: float) -> None:
        """Ask nothing of `host` for so long: it said so (Retry-After)."""
        with self._lock:
            until = self._clock.monotonic() + seconds
            self._closed_until[host] = max(self._closed_until.get(host, 0.0), until)
        if self._shared is not None:
            self._shared.close(f"host {host}", seconds)

    def slow_down(self, host: str, delay: float) -> None:
        """Leave at least `delay` seconds between requests to `host` from now on (Crawl-delay)."""
        with self._lock:
            self._intervals[host] = max(delay, self._intervals.get(host, 0.0))

    async def _next_turn(self, host: str, rate: Rate) -> float:
        """Take the next turn at a host and return the seconds until it. Raises RateLimited."""
        usual = 1 / rate.per_second if rate.per_second else 0.0
        interval = max(usual, self._intervals.get(host, 0.0))
        ahead = (rate.burst - 1) * interval if interval == usual else 0.0
        wait = self._reserve(host, interval, ahead)
        if self._shared is not None:
            shared = await self._shared.turn(f"host {host}", interval, ahead, self._max_wait)
            if shared < 0:
                raise _closed(host, -shared)
            wait = max(wait, shared)
        return wait

    def _reserve(self, host: str, interval: float, ahead: float) -> float:
        """Take the next turn of this process at a host and return the seconds until it."""
        with self._lock:
            now = self._clock.monotonic()
            closed = self._closed_until.get(host, now) - now
            if closed > self._max_wait:
                raise _closed(host, closed)
            full_at = max(now + max(closed, 0.0), self._full_at.get(host, 0.0))
            start = max(now + max(closed, 0.0), full_at - ahead)
            self._full_at[host] = full_at + interval
            return start - now


def _closed(host: str, seconds: float) -> RateLimited:
    message = f"{host} asked not to be called for another {seconds:.0f} seconds."
    return RateLimited(message, source=host, retry_after=seconds)


class Paces(NamedTuple):
    """The paces of one network: that of pages, and that of APIs."""

    pages: HostPace
    apis: HostPace


_PACES: WeakKeyDictionary[object, dict[SharedLimits | None, Paces]] = WeakKeyDictionary()
_PACES_LOCK = threading.Lock()


def paces_of(network: object, pages: Rate, at_once: int, clock: Clock, shared: SharedLimits | None = None) -> Paces:
    """Return the paces of what is connected to by `network`: one pair for the whole process.

    A clock other than the computer's has paces of its own.
    """
    with _PACES_LOCK:
        known = _PACES.setdefault(network, {}) if clock is SYSTEM_CLOCK else {}
        if shared not in known:
            known[shared] = Paces(
                HostPace(pages, at_once=at_once, clock=clock, shared=shared),
                HostPace(API_RATE, at_once=4, clock=clock, shared=shared),
            )
        return known[shared]


def rate_at(rates: Mapping[str, Rate], host: str) -> Rate:
    """Return the rate that is set for a host."""
    return rates.get(host, API_RATE)
