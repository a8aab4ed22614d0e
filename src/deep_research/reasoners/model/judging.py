"""The thoughts of the check: does a passage support a claim, and what would it support."""

from collections.abc import Sequence

from deep_research.data import (
    Claim,
    Verdict,
)
from deep_research.errors import ContextTooLong
from deep_research.ports import Library
from deep_research.reasoners.model.answers import (
    JudgeAnswer,
    RewriteAnswer,
    SectionWork,
)
from deep_research.reasoners.model.showing import cited, numbered
from deep_research.reasoners.model.thinker import Thinker, Written, user
from deep_research.text.told import verdict_of


class Judging(Thinker):
    """The thoughts of the check: does a passage support a claim, and what would it support."""

    async def judge(self, claims: Sequence[Claim], library: Library) -> Sequence[Verdict]:
        """See `ports.Reasoner.judge`. Raises ModelError: the check step then leaves the claims unverified."""
        answer = await self._judged(claims, library, self._written.get(claims[0].section))
        given = {v.number: v for v in answer.verdicts}
        for number, claim in enumerate(claims, 1):
            if number in given and given[number].verdict != "supported":
                self._proposed[claim.text, claim.passages] = given[number].instead
        missing = verdict_of("unverified", "no_verdict")
        return [
            Verdict(kind=given[n].verdict, reason=given[n].reason[:200], by_model=True) if n in given else missing
            for n in range(1, len(claims) + 1)
        ]

    async def _judged(self, claims: Sequence[Claim], library: Library, written: "Written | None") -> JudgeAnswer:
        """Judge after the very prompt that the section was written from; where that is too long, in smaller parts."""
        system, shown = written or (None, {})
        more = {key: block for key, block in cited(claims, library).items() if key not in shown}
        prompt = self._render("judge", passages="\n".join([*shown.values(), *more.values()]), claims=numbered(claims))
        messages = [*([system] if system else []), user(prompt)]
        try:
            return await self._ask.structured("judge", messages, JudgeAnswer, asked_as=SectionWork)
        except ContextTooLong:
            if written is not None:
                return await self._judged(claims, library, None)
            if len(claims) < 2:
                raise
        half = len(claims) // 2
        first = await self._judged(claims[:half], library, None)
        second = await self._judged(claims[half:], library, None)
        moved = [v.model_copy(update={"number": v.number + half}) for v in second.verdicts]
        return JudgeAnswer(verdicts=[*(v for v in first.verdicts if v.number <= half), *moved])

    async def rewrite(self, claims: Sequence[Claim], library: Library) -> Sequence[str]:
        """See `ports.Reasoner.rewrite`. What the judge proposed is not asked for again.

        Raises ModelError: the check step then cuts the claims.
        """
        texts = {c: self._proposed[c.text, c.passages] for c in claims if (c.text, c.passages) in self._proposed}
        left = [claim for claim in claims if claim not in texts]
        if left:
            shown = "\n".join(cited(left, library).values())
            prompt = self._render("rewrite", passages=shown, claims=numbered(left))
            answer = await self._ask.structured("judge", [user(prompt)], RewriteAnswer, max_output_tokens=2000)
            given = {s.number: s.text for s in answer.statements}
            texts |= {claim: given.get(number, "") for number, claim in enumerate(left, 1)}
        return [texts[claim] for claim in claims]
