"""How long the calls of a run usually take for what they write, so that one that takes far longer is seen."""

import statistics
from collections import defaultdict, deque
from collections.abc import Mapping
from types import MappingProxyType

from deep_research.data import Role

_HEAD = 100
"""The time before the first token, in tokens: what a call costs that writes nothing."""
_LEAST_CALLS = 4
"""Answered calls from which there is something usual."""
_WRITTEN: Mapping[Role, int] = MappingProxyType(
    {"research": 300, "read": 150, "write": 900, "judge": 500, "review": 400, "report": 900}
)
"""Tokens of a long answer of each role, until the run has seen some."""


class UsualTimes:
    """Times of the answered calls of one run."""

    def __init__(self) -> None:
        self._per_token: deque[float] = deque(maxlen=64)
        self._written: defaultdict[Role, deque[int]] = defaultdict(lambda: deque(maxlen=16))

    def note(self, role: Role, written: int, seconds: float) -> None:
        """Take in an answer of so many tokens that took so long."""
        self._per_token.append(seconds / (_HEAD + written))
        self._written[role].append(written)

    def expected(self, role: Role) -> float | None:
        """Return the seconds of a long answer of that role at the usual speed; None while too few are known."""
        if len(self._per_token) < _LEAST_CALLS:
            return None
        written = max(self._written[role], default=_WRITTEN[role])
        return statistics.median(self._per_token) * (_HEAD + written)
