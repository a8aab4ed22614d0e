"""Politeness: how often and how many at once one host is asked."""

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from deep_research.concurrency import SYSTEM_CLOCK, Clock
from deep_research.errors import RateLimited

_Semaphores = dict[str, asyncio.Semaphore]


class HostPace:
    """Turns at a host. One object serves the whole process: several runs, threads and event loops."""

    def __init__(
        self,
        *,
        delay: float = 0.5,
        delays: Mapping[str, float] | None = None,
        concurrency: int = 2,
        max_wait: float = 60.0,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """`delay` is seconds between the starts of two requests to one host (`delays` by host name);
        who would wait longer than `max_wait` seconds for a turn is told so instead."""
        self._delay = delay
        self._delays = dict(delays or {})
        self._concurrency = concurrency
        self._max_wait = max_wait
        self._clock = clock
        self._next: dict[str, float] = {}
        self._lock = threading.Lock()
        self._semaphores: WeakKeyDictionary[asyncio.AbstractEventLoop, _Semaphores] = WeakKeyDictionary()

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait for a turn at `host` and hold it. Raises RateLimited when that would take too long."""
        slots = self._semaphores.setdefault(asyncio.get_running_loop(), {})
        # Who asks for a second or more between calls means one after the other.
        at_once = 1 if self._delays.get(host, self._delay) >= 1.0 else self._concurrency
        async with slots.setdefault(host, asyncio.Semaphore(at_once)):
            if (wait := self._reserve(host)) > 0:
                await self._clock.sleep(wait)
            yield

    def hold(self, host: str, seconds: float) -> None:
        """Ask nothing of `host` for so long: it said so (Retry-After)."""
        with self._lock:
            until = self._clock.monotonic() + seconds
            self._next[host] = max(self._next.get(host, 0.0), until)

    def slow_down(self, host: str, delay: float) -> None:
        """Leave at least `delay` seconds between requests to `host` from now on (Crawl-delay)."""
        with self._lock:
            if delay > self._delays.get(host, self._delay):
                self._delays[host] = delay

    def _reserve(self, host: str) -> float:
        with self._lock:
            now = self._clock.monotonic()
            start = max(now, self._next.get(host, 0.0))
            if start - now > self._max_wait:
                message = f"{host} asked not to be called for another {start - now:.0f} seconds."
                raise RateLimited(message, source=host, retry_after=start - now)
            self._next[host] = start + self._delays.get(host, self._delay)
            return start - now
