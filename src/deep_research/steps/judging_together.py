"""One call of the judge for texts that are checked side by side: they cite the same passages, which are sent once."""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from deep_research.concurrency import side_by_side
from deep_research.data import Claim, Verdict
from deep_research.errors import LimitReached, ModelError
from deep_research.ports import Library
from deep_research.steps.check_claims import Judge

_MOST = 200
"""Statements in one call: the more of a report a judge sees at once, the more it sees of what does not fit together, and the rules
and passages are sent less often."""


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
        self._call: asyncio.Task[dict[int, list[Verdict | Exception | None]]] | None = None

    @contextmanager
    def check(self, number: int) -> Iterator[Judge]:
        """Give check `number` its judge; at the end of the block the others no longer wait for it."""

        async def judge(claims: Sequence[Claim], library: Library) -> Sequence[Verdict]:
            self._asked[number] = claims
            self._close(number)
            await self._all_have_asked.wait()
            self._call = self._call or asyncio.ensure_future(self._ask(library))
            told = (await self._call)[number]
            for failure in told:
                if isinstance(failure, Exception):
                    raise failure
            return [verdict for verdict in told if isinstance(verdict, Verdict)]

        try:
            yield judge
        finally:
            self._close(number)

    def _close(self, number: int) -> None:
        self._open.discard(number)
        if not self._open:
            self._all_have_asked.set()

    async def _ask(self, library: Library) -> dict[int, list[Verdict | Exception | None]]:
        """Return what each check is told of its statements; a call that fails costs only the checks that had a part in it."""
        asked = {number: self._asked[number] for number in sorted(self._asked)}
        answers = await side_by_side(self._told(claims, library) for claims in _in_calls(list(asked.values())))
        told = itertools.chain.from_iterable(answers)
        return {number: [next(told) for _ in claims] for number, claims in asked.items()}

    async def _told(self, claims: Sequence[Claim], library: Library) -> list[Verdict | Exception | None]:
        """Return the verdict on each statement of a call: the failure where it fails, None where it has not spoken of all."""
        try:
            verdicts = await self._judge(claims, library)
        except (ModelError, LimitReached) as error:
            return [error for _ in claims]
        return list(verdicts) if len(verdicts) == len(claims) else [None for _ in claims]
