"""A clock that a test moves; sleeping on it takes no time and moves it on."""

import asyncio
from datetime import UTC, datetime, timedelta


class FakeClock:
    """Stands in for `concurrency.Clock`. `slept` lists what was waited, in seconds."""

    def __init__(self, start: datetime | None = None) -> None:
        """Begin at `start` (default: 1 January 2026)."""
        self._start = start or datetime(2026, 1, 1, tzinfo=UTC)
        self._seconds = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        """Return the seconds since the beginning."""
        return self._seconds

    def now(self) -> datetime:
        """Return the date and time it stands at."""
        return self._start + timedelta(seconds=self._seconds)

    async def sleep(self, seconds: float) -> None:
        """Move on at once, and let others run."""
        self.slept.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Move on."""
        self._seconds += seconds
