"""One call of the judge for texts that are checked side by side: they cite the same passages, which are sent once."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from deep_research.data import Claim, Verdict
from deep_research.ports import Library
from deep_research.steps.check_claims import Judge

_MOST = 40
"""Statements in one call."""


class JudgingTogether:
    """Gathers what several checks ask of a judge, and asks it once each of them has asked or ended.

    The statements go in the order of the checks, so that a run that was interrupted asks its model the same again.
    """

    def __init__(self, judge: Judge, checks: int) -> None:
        """`checks` is how many there are; each asks once at most."""
        self._judge = judge
        self._open = set(range(checks))
        self._asked: dict[int, Sequence[Claim]] = {}
        self._all_have_asked = asyncio.Event()
        self._call: asyncio.Task[dict[int, Sequence[Verdict]]] | None = None

    @contextmanager
    def check(self, number: int) -> Iterator[Judge]:
        """Give check `number` its judge; at the end of the block the others no longer wait for it."""

        async def judge(claims: Sequence[Claim], library: Library) -> Sequence[Verdict]:
            self._asked[number] = claims
            self._close(number)
            await self._all_have_asked.wait()
            self._call = self._call or asyncio.ensure_future(self._ask(library))
            return (await self._call)[number]

        try:
            yield judge
        finally:
            self._close(number)

    def _close(self, number: int) -> None:
        self._open.discard(number)
        if not self._open:
            self._all_have_asked.set()

    async def _ask(self, library: Library) -> dict[int, Sequence[Verdict]]:
        """Return the verdicts by check; none for all of them where the judge has not spoken of every statement."""
        claims = [claim for number in sorted(self._asked) for claim in self._asked[number]]
        verdicts: list[Verdict] = []
        for start in range(0, len(claims), _MOST):
            verdicts += await self._judge(claims[start : start + _MOST], library)
        if len(verdicts) != len(claims):
            return dict.fromkeys(self._asked, ())
        told = iter(verdicts)
        return {number: [next(told) for _ in self._asked[number]] for number in sorted(self._asked)}
