"""The ranker of a run, with journaled calls and our own order as a fallback."""

import json
from collections.abc import Callable, Sequence

from deep_research.data import Gap, Ranking
from deep_research.errors import ConfigError, ModelError
from deep_research.i18n.catalog import gap_from
from deep_research.ports import Journal, Ranker
from deep_research.report.ledger import RANKING
from deep_research.settings import Settings

MODEL = "model"  # the ranker that is the language model named after it: `model:PROVIDER:MODEL`.
_NONE = Ranking(scores=())


class RunRanker:
    """Implements `ports.Ranker`; a failure is one gap and ends the use of the ranker."""

    def __init__(self, ranker: Ranker, journal: Journal | None, on_gap: Callable[[Gap], object]) -> None:
        """`journal` is None for a ranker whose calls are in it already, as model calls."""
        self.name = ranker.name
        self._ranker, self._journal, self._on_gap = ranker, journal, on_gap
        self._failed = False

    async def rank(self, question: str, texts: Sequence[str]) -> Ranking:
        """Return the ranking; one without scores where there is none."""
        if self._failed or not texts:
            return _NONE
        try:
            if self._journal is None:
                return await self._ranker.rank(question, texts)
            return await self._kept(self._journal, question, texts)
        except (ModelError, ConfigError) as error:
            if not self._failed:
                self._failed = True
                self._on_gap(gap_from("ranking", error, "own_order"))
            return _NONE

    async def _kept(self, journal: Journal, question: str, texts: Sequence[str]) -> Ranking:
        async def make() -> str:
            return (await self._ranker.rank(question, texts)).model_dump_json()

        asked = json.dumps({"ranker": self.name, "question": question, "texts": list(texts)}, ensure_ascii=False)
        answer, _ = await journal.call(RANKING, asked, make)
        return Ranking.model_validate_json(answer)

    async def close(self) -> None:
        await self._ranker.close()


def ranking_model(settings: Settings) -> str:
    """Return a model ranker's `PROVIDER:MODEL`, else "". Raises ConfigError."""
    kind, _, named = settings.ranker.partition(":")
    if kind != MODEL:
        return ""
    if ":" not in named:
        message = f"The ranker {settings.ranker!r} names no model, as model:openai:gpt-5.4-mini does (PROVIDER:MODEL)."
        raise ConfigError(message, setting="ranker", value=settings.ranker)
    return named
