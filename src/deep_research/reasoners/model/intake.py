"""The thoughts of the front door: is the question understood, and what kind of question is it."""

from deep_research.data import (
    Decision,
    QueryAnalysis,
    Question,
)
from deep_research.reasoners.model.answers import (
    AnalyzeAnswer,
    DecideAnswer,
)
from deep_research.reasoners.model.nouns import decision_of
from deep_research.reasoners.model.thinker import Thinker, user
from deep_research.text.language import language_name


class Intake(Thinker):
    """The thoughts of the front door: is the question understood, and what kind of question is it."""

    async def decide(self, question: Question, *, rounds: int) -> Decision:
        """See `ports.Reasoner.decide`."""
        prompt = self._render(
            "decide",
            date=self._date,
            conversation=question.history,
            message=question.text,
            rounds=rounds,
            max_rounds=self._max_rounds,
            language=language_name(question.language),
        )

        async def think() -> Decision:
            answer = await self._ask.structured("research", [user(prompt)], DecideAnswer, max_output_tokens=1500)
            return decision_of(answer, question)

        return await self._or_else("intake", think(), lambda: self._fallback.decide(question, rounds=rounds))

    async def analyze(self, question: Question) -> QueryAnalysis:
        """See `ports.Reasoner.analyze`."""
        prompt = self._render("analyze", question=question.text, focus=())

        async def think() -> QueryAnalysis:
            answer = await self._ask.structured("research", [user(prompt)], AnalyzeAnswer, max_output_tokens=800)
            return QueryAnalysis(**answer.model_dump(exclude={"subjects"}), subjects=tuple(answer.subjects))

        return await self._or_else("analysis", think(), lambda: self._fallback.analyze(question))
