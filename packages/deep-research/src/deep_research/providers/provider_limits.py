"""Limits on requests per provider, models known to be down, and error policies.

They hold for the whole process, or for all processes on a database.
"""

import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Literal, NamedTuple

from deep_research.concurrency import SYSTEM_CLOCK, Clock, Turns
from deep_research.errors import (
    ConfigError,
    ContextTooLong,
    MalformedOutput,
    ModelError,
    ModelRateLimited,
    ProviderDown,
    Refused,
    ResearchError,
)
from deep_research.ports import SharedLimits

REQUESTS = 16
"""The most requests that may be in flight at one provider where nothing else is said."""


class _Outage(NamedTuple):
    """An open circuit: calls fail at once until a time, then single attempts test it."""

    message: str
    until: float


_FAILURES, _OUT_SECONDS = 3, 60.0
"""After so many failures in a row, without any answer between them, a model is not asked for a while."""


class Gate:
    """A gate for requests to one provider, in order; safe across threads and loops."""

    def __init__(
        self,
        requests: int = REQUESTS,
        clock: Clock = SYSTEM_CLOCK,
        *,
        name: str = "",
        shared: SharedLimits | None = None,
    ) -> None:
        """Let at most `requests` be in flight; `clock` tells when a requested pause ends.

        With `shared` requests, pauses and outages are those of all processes, under `name`.
        """
        self._name, self._shared = name, shared
        self._most = requests
        self._clock = clock
        self._lock = threading.Lock()
        self._turns = Turns(requests, lambda _owner, _has, _free: True)
        self._opens_at = 0.0
        self.answered = set[str]()
        """The models that have answered."""
        self._failures: Counter[str] = Counter()
        self._away: dict[str, float] = {}
        """Since when a model has given no answer."""
        self._outages: dict[str, _Outage] = {}

    @asynccontextmanager
    async def slot(self, *, until: float = float("inf")) -> AsyncIterator[float]:
        """Hold a place for one request; gives the time at which it was let through.

        Raises ModelRateLimited when the gate stays closed beyond the time `until`.
        """
        while True:
            await self._opened(until)
            async with self._turns.turn_of(""):
                if self._opens_at > self._clock.monotonic():
                    continue  # it was closed while this one stood in line
                async with self._shared.place(self._name, self._most) if self._shared else nullcontext():
                    yield self._clock.monotonic()
                return

    async def learn(self) -> None:
        """Adopt what other processes have found: requested pauses, and models down."""
        if self._shared is None:
            return
        closed = await self._shared.closed(self._name)
        with self._lock:
            now = self._clock.monotonic()
            for model, found in closed.items():
                if model:
                    self._outages[model] = _Outage(found.why, now + found.seconds)
                else:
                    self._opens_at = max(self._opens_at, now + found.seconds)

    def note_answer(self, model: str = "") -> None:
        """Note an answer of `model`: it is up."""
        with self._lock:
            self.answered.add(model)
            self._failures.pop(model, None)
            self._away.pop(model, None)
            was_out = self._outages.pop(model, None)
        if was_out and self._shared is not None:
            self._shared.open(self._name, model)

    def away_since(self, model: str) -> float:
        """Return since when `model` has failed without an answer; call at each failure."""
        with self._lock:
            return self._away.setdefault(model, self._clock.monotonic())

    def pause(self, seconds: float) -> None:
        """Let nothing through for as long as the provider asks."""
        with self._lock:
            self._opens_at = max(self._opens_at, self._clock.monotonic() + seconds)
        if seconds and self._shared is not None:
            self._shared.close(self._name, seconds)

    def note_failure(self, model: str, message: str, *, at_once: bool = False, seconds: float = 0.0) -> bool:
        """Note a failure of `model`; return whether to skip it for a while.

        `at_once`: this failure is enough, for there is another model, or this one has never answered.
        """
        with self._lock:
            self._failures[model] += 1
            if not at_once and self._failures[model] < _FAILURES and model not in self._outages:
                return False
            seconds = max(seconds, _OUT_SECONDS)
            self._outages[model] = _Outage(message, self._clock.monotonic() + seconds)
        if self._shared is not None:
            self._shared.close(self._name, seconds, model=model, why=message)
        return True

    def outage(self, model: str) -> str:
        """Return why `model` is not to be asked now; "" where it is."""
        found = self._outages.get(model)
        return found.message if found is not None and self._clock.monotonic() < found.until else ""

    def was_out(self, model: str) -> bool:
        """Return whether `model` has not answered since its last outage."""
        return model in self._outages

    async def _opened(self, until: float) -> None:
        while (wait := self._opens_at - self._clock.monotonic()) > 0:
            if self._opens_at > until:
                message = f"The provider asks to wait {wait:.0f} s, which is longer than a call may take."
                raise ModelRateLimited(message, retry_after=wait, reason="closed")
            await self._clock.sleep(wait)


_GATES: dict[tuple[str, int, SharedLimits | None], Gate] = {}
_GATES_LOCK = threading.Lock()


def gate_of(provider: str, base_url: str = "", requests: int = REQUESTS, *, shared: SharedLimits | None = None) -> Gate:
    """Return the gate of a provider's address, one per process and request number."""
    name = f"{provider} {base_url}"
    with _GATES_LOCK:
        return _GATES.setdefault((name, requests, shared), Gate(requests, name=name, shared=shared))


class Policy(NamedTuple):
    """What follows an error: `retry` or `wait` and try again, another model, or stop.

    Between attempts it waits `first_seconds`, doubled each time up to `most_seconds`, or as long as the
    provider asks. After `attempts` it goes on to another model.
    """

    action: Literal["retry", "wait", "fall_back", "stop"]
    attempts: int = 1
    first_seconds: float = 0.0
    most_seconds: float = 0.0


POLICIES: dict[type[ResearchError], Policy] = {
    ModelRateLimited: Policy("wait", attempts=8, first_seconds=1.0, most_seconds=60.0),
    ProviderDown: Policy("retry", attempts=5, first_seconds=0.5, most_seconds=20.0),
    MalformedOutput: Policy("retry", attempts=3),
    Refused: Policy("fall_back"),
    # Whoever wrote the prompt knows what to leave out.
    ContextTooLong: Policy("stop"),
    ConfigError: Policy("fall_back"),
    ModelError: Policy("fall_back"),
}

REASONS: dict[str, Policy] = {
    # A bad key is the user's to repair: going on with another model would hide it.
    "bad_key": Policy("stop"),
    "base_url": Policy("stop"),
    "closed": Policy("fall_back"),
    "outage": Policy("fall_back"),
    # A model that declines may answer when it is asked once more; a server's content filter does not change its mind.
    "refusal": Policy("retry", attempts=2),
    "loop": Policy("retry", attempts=2),
    # All was spent on thinking: asked again it has more room.
    "thinking": Policy("retry", attempts=2),
    # It was asked for in one piece as well.
    "garbled": Policy("retry", attempts=2, first_seconds=0.5, most_seconds=20.0),
    # The same request would be silent as long again.
    "timeout": Policy("retry", attempts=3, first_seconds=0.5, most_seconds=20.0),
}


def policy_for(error: ResearchError) -> Policy:
    """Return the policy for an error: by its reason if that has one, else its class."""
    own = REASONS.get(error.reason) if isinstance(error, ModelError | ConfigError) else None
    if own:
        return own
    return next((POLICIES[kind] for kind in type(error).__mro__ if kind in POLICIES), Policy("stop"))
