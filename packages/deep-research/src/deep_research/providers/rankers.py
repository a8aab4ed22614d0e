"""Rankers over HTTP: embeddings (OpenAI-compatible, Ollama) and rerank APIs.

Forms of the requests: platform.openai.com/docs/api-reference/embeddings, docs.ollama.com/api/embed,
api.jina.ai/redoc (rerank), docs.cohere.com/reference/rerank.
"""

import asyncio
from collections.abc import Mapping, Sequence
from math import isfinite, sqrt
from typing import Any

from deep_research.data import Ranking, Usage
from deep_research.errors import ConfigError, ContextTooLong, ModelRateLimited, ModelSetupError, ProviderDown
from deep_research.providers.http_wire import HttpWire, WireFailure, in_form
from deep_research.providers.provider_catalog import RANKERS, RankerForm, address_of, open_wire
from deep_research.providers.provider_failures import About, translate

_TIMEOUT_SECONDS = 30.0
_BYTES_OF_A_TEXT = 160_000
"""What a server may say of one text: a vector of 8,000 numbers, or its score with the text again."""
_LONGEST_PAUSE = 10.0
"""A server that asks to wait longer is not waited for: an order of our own is there."""
_LEAST_HALVED = 8
"""A request of fewer texts that is refused is not refused for their number."""
_PATHS: dict[RankerForm, str] = {"embeddings": "/embeddings", "ollama": "/api/embed", "rerank": "/rerank"}


class WireRanker:
    """A ranker over HTTP (`ports.Ranker`): one call per question, retried once."""

    def __init__(self, wire: HttpWire, about: About, form: RankerForm) -> None:
        self.name = f"{about.model} ({about.provider})"
        self._wire, self._about = wire, about
        self._form: RankerForm = form

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
        """Return the scores of texts; what is too much at once is asked for by halves."""
        try:
            return await self._asked(question, texts)
        except (ContextTooLong, ModelSetupError) as error:
            is_too_much = isinstance(error, ContextTooLong) or error.reason == "bad_request"
            if not is_too_much or len(texts) < _LEAST_HALVED:
                raise
        half = len(texts) // 2
        one, other = [await self._once(question, part) for part in (texts[:half], texts[half:])]
        return Ranking(
            scores=(*one.scores, *other.scores),
            usage=Usage(prompt_tokens=one.usage.prompt_tokens + other.usage.prompt_tokens),
        )

    async def _asked(self, question: str, texts: Sequence[str]) -> Ranking:
        path, body = _PATHS[self._form], {"model": self._about.model, "input": [question, *texts]}
        if self._form == "rerank":
            body = {"model": self._about.model, "query": question, "documents": list(texts), "top_n": len(texts)}
        try:
            answer, _ = await self._wire.post(path, body, most=_BYTES_OF_A_TEXT * (len(texts) + 1))
            with in_form():
                scores = _scores(answer, self._form, len(texts))
                if not all(map(isfinite, scores)):
                    raise ValueError("a score is no number")
                return Ranking(scores=scores, usage=_usage(answer))
        except WireFailure as failure:
            raise translate(failure, self._about) from failure


def _scores(answer: Mapping[str, Any], form: RankerForm, count: int) -> tuple[float, ...]:
    """Return each text's score; raise ordinary errors for an answer of wrong form."""
    if form == "rerank":
        worth = {int(row["index"]): float(row["relevance_score"]) for row in answer["results"]}
        return tuple(worth[number] for number in range(count))
    if form == "ollama":
        rows = answer["embeddings"]
    else:
        rows = [row["embedding"] for row in sorted(answer["data"], key=lambda row: int(row["index"]))]
    question, *vectors = ([float(number) for number in row] for row in rows)
    if len(vectors) != count:
        raise ValueError(f"{len(vectors)} vectors for {count} texts")
    return tuple(_cosine(question, vector) for vector in vectors)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors; raise ValueError if their lengths differ."""
    lengths = sqrt(sum(x * x for x in one)) * sqrt(sum(y * y for y in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0


def _usage(answer: Mapping[str, Any]) -> Usage:
    """Return the tokens that an answer counts; Cohere counts searches instead."""
    counted = answer.get("usage") or {}
    tokens = counted.get("prompt_tokens") or counted.get("total_tokens") or answer.get("prompt_eval_count", 0)
    return Usage(prompt_tokens=tokens)


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
