"""Who thinks in a run: the extractive reasoner, or a language model whose calls go through the journal."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from deep_research.data import Gap, ModelAnswer, ModelRequest, ReasonerInfo, Role
from deep_research.errors import LimitReached
from deep_research.ports import Journal, Reasoner, SearchPlace
from deep_research.reasoners.extractive.reasoner import ExtractiveReasoner
from deep_research.settings import Settings
from deep_research.steps.ledger import PaidCall

if TYPE_CHECKING:
    from deep_research.providers.client import ModelClient, OpenModel

_RESERVE = 0.25
"""The share of a budget that research leaves for writing and the report."""


def resolve_provider(settings: Settings, keys: Mapping[str, str]) -> str:
    """Return the provider of a run; `auto` is the first whose key is set, else `extractive`.

    Raises ConfigError for a provider there is none of, or whose key is missing.
    """
    name = settings.model_provider
    if name == "extractive":
        return name
    from deep_research.providers.catalog import auto_provider, open_model  # noqa: PLC0415 - only with a model

    if name == "auto":
        return auto_provider(keys, base_url=settings.model_base_url) or "extractive"
    open_model(name, settings.model_name, keys=keys, base_url=settings.model_base_url)
    return name


def key_variables() -> tuple[str, ...]:
    """Return the variables that hold keys and addresses of model providers."""
    from deep_research.providers.catalog import VARIABLES  # noqa: PLC0415

    return VARIABLES


class Thinking:
    """The reasoner of a run and what it holds open."""

    def __init__(self, reasoner: Reasoner, client: "ModelClient | None" = None) -> None:
        self.reasoner = reasoner
        self._client = client

    async def close(self) -> None:
        """Let go of connections."""
        if self._client is not None:
            await self._client.close()


def open_thinking(
    settings: Settings,
    keys: Mapping[str, str],
    *,
    journal: Journal,
    places: Sequence[SearchPlace],
    home: Path,
    on_gap: Callable[[Gap], object],
) -> Thinking:
    """Return who thinks. Raises ConfigError for an unknown provider and a missing key."""
    extractive = ExtractiveReasoner()
    if settings.model_provider == "extractive":
        return Thinking(extractive)
    from deep_research.providers.client import ModelClient  # noqa: PLC0415 - only with a model
    from deep_research.reasoners.model.reasoner import ModelReasoner  # noqa: PLC0415

    first, others, roles = _open_models(settings, keys)
    client = ModelClient([first, *others], roles=roles)
    paid = PaidCalls(client, journal, settings)
    named = {role: (roles.get(role) or first).model for role in get_args(Role)}
    folder = home / "prompts"
    reasoner = ModelReasoner(
        paid.complete,
        info=ReasonerInfo(kind="model", provider=first.provider, models=named),
        fallback=extractive,
        places=[(place.name, place.purpose) for place in places],
        date=datetime.now(UTC).date().isoformat(),
        max_context_tokens=min(settings.max_context_tokens, first.family.context_tokens),
        compression_target_tokens=settings.compression_target_tokens,
        max_tool_calls=settings.max_tool_calls_per_researcher,
        max_sections=settings.max_sections,
        max_clarification_rounds=settings.max_clarification_rounds,
        retries=settings.max_structured_output_retries,
        on_gap=on_gap,
        prompt_folder=folder if folder.is_dir() else None,
    )
    return Thinking(reasoner, client)


def _open_models(
    settings: Settings, keys: Mapping[str, str]
) -> tuple["OpenModel", list["OpenModel"], dict[Role, "OpenModel"]]:
    """The run's model, those that stand in for it, and the ones of single roles; each opened once."""
    from deep_research.providers.catalog import open_fallbacks, open_model  # noqa: PLC0415

    provider = settings.model_provider
    options = {
        "keys": keys,
        "base_url": settings.model_base_url,
        "thinking": settings.enable_thinking,
        "timeout_seconds": settings.model_timeout_seconds,
    }
    first = open_model(provider, settings.model_name, **options)
    opened: dict[str, OpenModel] = {first.model: first}
    roles: dict[Role, OpenModel] = {}
    for role in cast(tuple[Role, ...], get_args(Role)):
        name = getattr(settings, f"{role}_model")
        if name:
            if name not in opened:
                opened[name] = open_model(provider, name, **options)
            roles[role] = opened[name]
    return first, open_fallbacks(settings.fallback_models, provider, **options), roles


class PaidCalls:
    """Model calls through the journal: each made once, its answer and cost on disk before it is used."""

    def __init__(self, client: "ModelClient", journal: Journal, settings: Settings) -> None:
        self._client = client
        self._journal = journal
        self._settings = settings

    async def complete(self, request: ModelRequest, role: Role) -> ModelAnswer:
        """Return the answer. Raises LimitReached when the budget of research is spent, and what the client raises."""
        self._refuse_over_budget(role)
        models = [model.model for model in self._client.models_of(role)]
        asked = json.dumps(
            {"role": role, "models": models, "request": request.model_dump(mode="json")}, ensure_ascii=False
        )

        async def make() -> str:
            begun = time.monotonic()
            answer = await self._client.complete(request, role=role)
            return PaidCall(
                role=role, answer=answer, cost_usd=self._cost(answer, role), seconds=round(time.monotonic() - begun, 3)
            ).model_dump_json()

        text, _ = await self._journal.call("model", asked, make)
        return PaidCall.model_validate_json(text).answer

    def _cost(self, answer: ModelAnswer, role: Role) -> float | None:
        models = self._client.models_of(role)
        used = next((m for m in models if answer.model and m.model == answer.model), models[0])
        return used.family.cost_usd(answer.usage)

    def _refuse_over_budget(self, role: Role) -> None:
        """Research may spend all but the reserve; what turns evidence into the report may spend it all."""
        usd, tokens = self._settings.budget_usd, self._settings.budget_tokens
        if usd is None and tokens is None:
            return
        paid = [PaidCall.model_validate_json(text) for text in self._journal.answers("model")]
        share = 1.0 - _RESERVE if role == "research" else 1.0
        spent_usd = sum(call.cost_usd or 0.0 for call in paid)
        spent_tokens = sum(c.answer.usage.prompt_tokens + c.answer.usage.completion_tokens for c in paid)
        if usd is not None and spent_usd >= usd * share:
            message = f"The budget of {usd} US dollars for {role} is spent ({spent_usd:.4f})."
            raise LimitReached(message, kind="usd", used=spent_usd, limit=usd)
        if tokens is not None and spent_tokens >= tokens * share:
            message = f"The budget of {tokens} tokens for {role} is spent ({spent_tokens})."
            raise LimitReached(message, kind="tokens", used=spent_tokens, limit=tokens)
