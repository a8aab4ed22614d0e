"""A language model as a ranker of blocks: it names those that answer, best first."""

from collections.abc import Sequence

from deep_research.data import ModelMessage, Ranking
from deep_research.ports import Ranker
from deep_research.prompts import render
from deep_research.reasoners.model.answers import RankAnswer
from deep_research.reasoners.model.asking import Asker, Complete
from deep_research.text.prompt_fencing import clean


class ModelRanker(Ranker):
    """Implements `ports.Ranker`; its calls are model calls, and counted as such."""

    def __init__(self, complete: Complete, name: str) -> None:
        self.name = name
        self._ask = Asker(complete, retries=1)

    async def rank(self, question: str, texts: Sequence[str]) -> Ranking:
        """Return scores that keep the given order among texts not named by the model."""
        prompt = render("rank", question=clean(question), texts=[clean(text) for text in texts])
        answer = await self._ask.structured("read", [ModelMessage(role="user", text=prompt)], RankAnswer)
        best = [number - 1 for number in dict.fromkeys(answer.best) if 0 < number <= len(texts)]
        order = [*best, *(number for number in range(len(texts)) if number not in best)]
        worth = {number: float(len(order) - place) for place, number in enumerate(order)}
        return Ranking(scores=tuple(worth[number] for number in range(len(texts))))
