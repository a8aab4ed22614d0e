"""One call of the judge for texts that are checked side by side: they cite the same passages, which are sent once."""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from deep_research.concurrency import side_by_side
from deep_research.data import Claim, Verdict
from deep_research.ports import Library
from deep_research.steps.check_claims import Judge

_MOST = 40
"""Statements in one call."""


def _in_calls(asked: Sequence[Sequence[Claim]]) -> Iterator[list[Claim]]:
    """Yield the statements for each call: those of one check, which cite the same passages, as far as possible together."""
    call: list[Claim] = []
    for claims in asked:
        if call and len(call) + len(claims) > _MOST:
            yield call
            call = []
        call = [*call, *claims]
        while len(call) > _MOST:
            yield call[:_MOST]
            call = call[_MOST:]
    if call:
        yield call


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
        calls = list(_in_calls([self._asked[number] for number in sorted(self._asked)]))

        async def judge(claims: Sequence[Claim]) -> Sequence[Verdict]:
            return await self._judge(claims, library)

        answers = await side_by_side(judge(claims) for claims in calls)
        if any(len(verdicts) != len(claims) for verdicts, claims in zip(answers, calls, strict=True)):
            return dict.fromkeys(self._asked, ())
        told = itertools.chain.from_iterable(answers)
        return {number: [next(told) for _ in self._asked[number]] for number in sorted(self._asked)}
