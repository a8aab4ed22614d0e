"""Giving up a failing place or tool for the rest of a run, instead of waiting."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from deep_research.errors import Blocked, RateLimited, SourceError

_T = TypeVar("_T")
_FAILURES = 2  # calls, one after the other, that may fail


class GivingUp:
    """Passes calls until two fail in a row or one is refused; then all fail at once."""

    def __init__(self) -> None:
        self._failures = 0
        self._given_up: SourceError | None = None

    async def ask(self, make: Callable[[], Awaitable[_T]]) -> _T:
        """Return a call's result. Raises its error, with `given_up` set on the last one."""
        if self._given_up is not None:
            raise replace(self._given_up)
        failures = self._failures
        try:
            made = await make()
        except SourceError as error:
            # Calls that were under way together tell once that the place does not answer.
            self._failures = max(self._failures, failures + 1)
            if isinstance(error, Blocked | RateLimited) or self._failures >= _FAILURES:
                self._given_up = replace(error, given_up=True)
            raise
        self._failures = 0
        return made
