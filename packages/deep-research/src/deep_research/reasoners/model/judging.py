"""Model calls of verification: statements against passages, and whole reports."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Literal

from deep_research.data import Assignment, Claim, Disagreement, Findings, Move, Part, Problem, Reckoning, Turn
from deep_research.data.actions import LOOKUPS
from deep_research.data.noun import copy_fields
from deep_research.ports import Library
from deep_research.reasoners.model.answers import CompareAnswer, ExamineAnswer, JudgeAnswer
from deep_research.reasoners.model.base import ModelReasonerBase, system, user
from deep_research.reasoners.model.conversation import actions_of, messages_of
from deep_research.reasoners.model.passage_views import (
    in_reading_order,
    passages_of,
    show_passages,
    source_line,
    within_tokens,
)
from deep_research.text.prompt_fencing import clean, clean_own
from deep_research.text.token_count import estimate_tokens
from deep_research.verification.citations import cited_ids

_REPORTS: Mapping[str, Literal["first", "second", "both", "neither", "unclear"]] = {
    "A": "first", "B": "second", "both": "both", "neither": "neither",
}  # fmt: skip


class Judging(ModelReasonerBase):
    """The thoughts of the judge and of the verifier."""

    async def judge(
        self, claims: Sequence[Claim], flags: Mapping[str, Sequence[str]], library: Library, question: str
    ) -> Findings:
        """Judge as `ports.Reasoner` says; an incomplete answer judges only named claims."""

        async def make(budget: int) -> Findings:
            ids = [key for claim in claims for key in claim.passages]
            shown = within_tokens(in_reading_order(passages_of(ids, library)), budget)
            prompt = self._render(
                "judge",
                date=self._date,
                question=clean(question),
                passages=show_passages(shown, library, beside=True),
                claims=[_row(number, claim, flags) for number, claim in enumerate(claims, 1)],
            )
            answer = await self._ask.structured("judge", [user(prompt)], JudgeAnswer)
            return _judged(answer, claims)

        return await self._within_window(self._room("judge"), make)

    async def examine(self, assignment: Assignment, text: str, turns: Sequence[Turn], library: Library) -> Move:
        """Examine as `ports.Reasoner` says; an answer without calls is findings (JSON)."""
        sources = dict.fromkeys(key.partition("p")[0] for key in await asyncio.to_thread(cited_ids, text))
        prompt = self._render(
            "examine",
            date=self._date,
            question=clean(assignment.question.text),
            parts=assignment.analysis.parts,
            report=clean_own(text),
            sources=[source_line(key, library) for key in sources],
            lookups=LOOKUPS,
        )

        async def make(budget: int) -> Move:
            messages = [system(prompt), user("Begin."), *messages_of(turns, library, budget=budget, calls=LOOKUPS)]
            answer, found = await self._ask.act_or_answer("judge", messages, self._lookups, ExamineAnswer)
            if found is None:
                return Move(actions=actions_of(answer, f"v{len(turns)}", self._lookups))
            return Move(text=answer.text, findings=_examined(found))

        return await self._within_window(self._room("judge"), make)

    async def compare(self, first: str, second: str, library: Library, question: str) -> Sequence[Disagreement]:
        async def make(budget: int) -> Sequence[Disagreement]:
            ids = [*cited_ids(first), *cited_ids(second)]
            room = budget - estimate_tokens(first) - estimate_tokens(second)
            shown = within_tokens(in_reading_order(passages_of(ids, library)), max(0, room))
            prompt = self._render(
                "compare",
                date=self._date,
                question=clean(question),
                first=clean_own(first),
                second=clean_own(second),
                passages=show_passages(shown, library),
            )
            answer = await self._ask.structured("judge", [user(prompt)], CompareAnswer)
            return [
                copy_fields(
                    Disagreement,
                    one,
                    borne_out=_REPORTS.get(one.borne_out, "unclear"),
                    passages=tuple(key for key in _ids(one.passages) if library.passage(key) is not None),
                )
                for one in answer.disagreements
            ]

        return await self._within_window(self._room("judge"), make)


def _row(number: int, claim: Claim, flags: Mapping[str, Sequence[str]]) -> dict[str, object]:
    return {
        "number": number,
        "where": claim.where,
        "text": clean(claim.text),
        "cited": "".join(f"[{key}]" for key in claim.passages),
        "flags": [clean(flag) for flag in flags.get(claim.id, ())],
    }


def _judged(answer: JudgeAnswer, claims: Sequence[Claim]) -> Findings:
    by_number = dict(enumerate(claims, 1))
    named = [(p, by_number[p.number]) for p in answer.problems if p.number in by_number]
    problems = tuple(
        copy_fields(Problem, p, quote=c.text, kind=p.verdict, passages=_ids(p.passages), claim=c.id) for p, c in named
    )
    judged = claims if answer.checked >= len(claims) else [c for _, c in named]
    reckonings = tuple(
        copy_fields(Reckoning, r, claim=by_number[r.number].id) for r in answer.reckonings if r.number in by_number
    )
    return Findings(judged=tuple(c.id for c in judged), problems=problems, reckonings=reckonings)


def _examined(answer: ExamineAnswer) -> Findings:
    problems = tuple(
        copy_fields(Problem, p, kind=p.verdict, passages=_ids(p.passages), by="verifier")
        for p in answer.problems
        if p.quote.strip() or p.problem.strip()
    )
    return Findings(problems=problems, parts=tuple(copy_fields(Part, p) for p in answer.parts))


def _ids(said: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key.strip("[] ") for key in said))
