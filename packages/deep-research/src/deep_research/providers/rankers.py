"""Rankers over HTTP: embeddings (OpenAI-compatible, Ollama) and rerank APIs (Jina, Cohere, and servers alike).

Forms of the requests: platform.openai.com/docs/api-reference/embeddings, docs.ollama.com/api/embed,
api.jina.ai/redoc (rerank), docs.cohere.com/reference/rerank.
"""

import asyncio
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from deep_research.data import Ranking, Usage
from deep_research.errors import ConfigError, ModelRateLimited, ProviderDown
from deep_research.providers.http_wire import HttpWire, WireFailure, in_form
from deep_research.providers.provider_catalog import RANKERS, RankerForm, address_of, open_wire
from deep_research.providers.provider_failures import About, translate

_TIMEOUT_SECONDS = 30.0
_BYTES_OF_A_TEXT = 160_000
"""What a server may say of one text: a vector of 8,000 numbers, or its score with the text again."""
_LONGEST_PAUSE = 10.0
"""A server that asks to wait longer is not waited for: an order of our own is there."""


class WireRanker:
    """A ranker behind HTTP (`ports.Ranker`); one call for each question, tried twice where the server is down or busy."""

    def __init__(self, wire: HttpWire, about: About, form: RankerForm) -> None:
        self.name = f"{about.model} ({about.provider})"
        self._wire, self._about, self._form = wire, about, form

    async def rank(self, question: str, texts: Sequence[str]) -> Ranking:
        """Return what the server says; see `ports.Ranker`."""
        try:
            return await self._once(question, texts)
        except (ProviderDown, ModelRateLimited) as error:
            pause = error.retry_after or 0.5
            if pause > _LONGEST_PAUSE:
                raise
        await asyncio.sleep(pause)
        return await self._once(question, texts)

    async def close(self) -> None:
        """Let go of connections."""
        await self._wire.close()

    async def _once(self, question: str, texts: Sequence[str]) -> Ranking:
        try:
            if self._form == "rerank":
                return await self._reranked(question, texts)
            return await self._embedded([question, *texts])
        except WireFailure as failure:
            raise translate(failure, self._about) from failure

    async def _reranked(self, question: str, texts: Sequence[str]) -> Ranking:
        body = {"model": self._about.model, "query": question, "documents": list(texts), "top_n": len(texts)}
        answer = (await self._wire.post("/rerank", body, most=_BYTES_OF_A_TEXT * len(texts))).data
        with in_form():
            worth = {int(row["index"]): float(row["relevance_score"]) for row in answer["results"]}
            scores = tuple(worth[number] for number in range(len(texts)))
        return Ranking(scores=scores, usage=_usage(answer))

    async def _embedded(self, texts: Sequence[str]) -> Ranking:
        path = "/api/embed" if self._form == "ollama" else "/embeddings"
        body = {"model": self._about.model, "input": list(texts)}
        answer = (await self._wire.post(path, body, most=_BYTES_OF_A_TEXT * len(texts))).data
        with in_form():
            if self._form == "ollama":
                rows = answer["embeddings"]
            else:
                rows = [row["embedding"] for row in sorted(answer["data"], key=lambda row: int(row["index"]))]
            vectors = [[float(number) for number in row] for row in rows]
            if len(vectors) != len(texts):
                raise ValueError(f"{len(vectors)} vectors for {len(texts)} texts")
            scores = tuple(_cosine(vectors[0], vector) for vector in vectors[1:])
        return Ranking(scores=scores, usage=_usage(answer))


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors. Raises ValueError where they differ in length."""
    lengths = sqrt(sum(x * x for x in one)) * sqrt(sum(y * y for y in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0


def _usage(answer: Mapping[str, Any]) -> Usage:
    """Return the tokens that an answer counts; Cohere counts searches instead."""
    counted = answer.get("usage") or {}
    tokens = counted.get("prompt_tokens") or counted.get("total_tokens") or answer.get("prompt_eval_count") or 0
    return Usage(prompt_tokens=int(tokens))


def open_ranker(named: str, keys: Mapping[str, str], *, base_url: str = "", proxy: str = "") -> WireRanker:
    """Return the ranker `NAME` or `NAME:MODEL`; nothing is sent yet.

    `keys` are the values of VARIABLES that are set. Raises ConfigError for an unknown name and a missing key.
    """
    name, _, model = named.partition(":")
    if name not in RANKERS:
        message = f"Unknown ranker {name!r}. There are: {', '.join(RANKERS)}, model."
        raise ConfigError(message, setting="ranker", value=named)
    form, known = RANKERS[name]
    address = address_of(known, keys, base_url, setting="ranker_base_url")
    model = model or known.model
    if not model:
        raise ConfigError(f"The ranker {name!r} has no default model: set ranker to {name}:MODEL.", setting="ranker")
    about = About(name, model, known.key, address, "ranker_base_url")
    return WireRanker(open_wire(known, about, keys, _TIMEOUT_SECONDS, proxy), about, form)
