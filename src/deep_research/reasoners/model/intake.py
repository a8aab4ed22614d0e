"""The thoughts of the front door: is the question understood, and what kind of question is it."""

from collections.abc import Sequence

from deep_research.data import Decision, Message, Passage, QueryAnalysis, Question, Template, Term
from deep_research.reasoners.model.answers import (
    AnalyzeAnswer,
    DecideAnswer,
)
from deep_research.reasoners.model.nouns import decision_of
from deep_research.reasoners.model.thinker import Thinker, user
from deep_research.text.fencing import clean, fence
from deep_research.text.language import language_name

_TURNS, _TURN_CHARS = 12, 1500
"""How much of a conversation is shown: its last turns, the beginning of each."""


class Intake(Thinker):
    """The thoughts of the front door: is the question understood, and what kind of question is it."""

    async def decide(
        self, question: Question, *, rounds: int, terms: Sequence[Term] = (), template: Template | None = None
    ) -> Decision:
        """See `ports.Reasoner.decide`. Terms that were looked up stand at the end: what was sent before stays a prefix."""
        prompt = self._render(
            "decide",
            date=self._date,
            conversation=told(question.history),
            message=question.text,
            rounds=rounds,
            max_rounds=self._max_rounds,
            language=language_name(question.language),
            template=template,
            terms=[_shown(term) for term in terms],
            places=", ".join(self._places),
        )

        async def think() -> Decision:
            answer = await self._ask.structured("research", [user(prompt)], DecideAnswer, max_output_tokens=1500)
            return decision_of(answer, question)

        return await self._or_else(
            "intake", think(), lambda: self._fallback.decide(question, rounds=rounds, terms=terms, template=template)
        )

    async def analyze(self, question: Question) -> QueryAnalysis:
        """See `ports.Reasoner.analyze`."""
        prompt = self._render("analyze", question=question.text, focus=())

        async def think() -> QueryAnalysis:
            answer = await self._ask.structured("research", [user(prompt)], AnalyzeAnswer, max_output_tokens=800)
            return QueryAnalysis(**answer.model_dump(exclude={"subjects"}), subjects=tuple(answer.subjects))

        return await self._or_else("analysis", think(), lambda: self._fallback.analyze(question))


def told(history: Sequence[Message]) -> list[Message]:
    """Return the last turns of a conversation for a prompt: what a report quoted in them cannot forge delimiters."""
    return [m.model_copy(update={"text": clean(m.text)[:_TURN_CHARS]}) for m in history[-_TURNS:]]


def _shown(term: Term) -> dict[str, object]:
    """A looked-up term with the text that uses it between delimiters."""
    text = ""
    if term.found:
        source = term.passage.partition("p")[0]
        bare = Passage(id=term.passage, source=source, sha256="", start=0, end=0, text=term.meaning)
        text = fence(bare, title=term.title)
    return {"name": clean(term.term), "passage": text, "searched": term.searched}
