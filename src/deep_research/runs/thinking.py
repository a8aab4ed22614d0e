"""Who thinks in a run: the extractive reasoner, or a language model whose calls go through the journal."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

from deep_research.data import Gap, ModelAnswer, ModelRequest, ReasonerInfo, Role, Usage
from deep_research.errors import ConfigError, LimitReached
from deep_research.ports import Journal, Reasoner, SearchPlace
from deep_research.reasoners.extractive.reasoner import ExtractiveReasoner
from deep_research.settings import Settings
from deep_research.steps.ledger import PaidCall
from deep_research.text.budget import estimate_tokens

if TYPE_CHECKING:
    from deep_research.providers.client import ModelClient, OpenModel
    from deep_research.reasoners.model.ask import Complete

_SHARES: dict[Role, float] = {"research": 0.5, "write": 0.8, "judge": 0.85, "review": 0.9, "report": 1.0}
"""Up to which share of a budget each kind of work may spend."""
_WORK: dict[Role, str] = {
    "research": "research", "write": "writing", "judge": "judging", "review": "the review", "report": "the report",
}  # fmt: skip
_USUAL_ANSWER = 700
"""Tokens of a usual answer."""


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
    watch: Callable[[ModelRequest, Role], object] = lambda _request, _role: None,
) -> Thinking:
    """Return who thinks; `watch` sees every request of a model. Raises ConfigError for an unknown provider and a
    missing key.
    """
    if settings.model_provider == "extractive":
        return Thinking(ExtractiveReasoner())
    for slow in ("httpx", "jinja2"):  # now, where nobody waits for the event loop, rather than with the first call
        import_module(slow)
    from deep_research.providers.client import ModelClient  # noqa: PLC0415 - only with a model

    first, others, roles = _open_models(settings, keys)
    _check_prices(settings, [first, *others, *roles.values()])
    client = ModelClient([first, *others], roles=roles)
    paid = PaidCalls(client, journal, settings)
    named = {role: (roles.get(role) or first).model for role in get_args(Role)}

    async def complete(request: ModelRequest, role: Role) -> ModelAnswer:
        watch(request, role)
        return await paid.complete(request, role)

    info = ReasonerInfo(kind="model", provider=first.provider, models=named)
    context = min(settings.max_context_tokens, first.family.context_tokens)
    reasoner = model_reasoner(
        complete, settings, info=info, places=places, home=home, on_gap=on_gap, context_tokens=context
    )
    return Thinking(reasoner, client)


def model_reasoner(
    complete: "Complete",
    settings: Settings,
    *,
    info: ReasonerInfo,
    places: Sequence[SearchPlace],
    home: Path,
    on_gap: Callable[[Gap], object],
    context_tokens: int,
) -> Reasoner:
    """Return the reasoner that thinks with `complete`, set up as `settings` say."""
    from deep_research.reasoners.model.reasoner import ModelReasoner  # noqa: PLC0415

    folder = home / "prompts"
    return ModelReasoner(
        complete,
        info=info,
        fallback=ExtractiveReasoner(),
        places=[(place.name, place.purpose) for place in places],
        date=datetime.now(UTC).date().isoformat(),
        max_context_tokens=context_tokens,
        # The rest of a window is for the instruction and the answer.
        compression_target_tokens=min(settings.compression_target_tokens, context_tokens * 9 // 20),
        max_tool_calls=settings.tool_calls_per_researcher,
        max_sections=settings.max_sections,
        max_clarification_rounds=settings.max_clarification_rounds,
        max_research_units=settings.max_concurrent_research_units,
        max_researcher_iterations=settings.max_researcher_iterations,
        retries=settings.max_structured_output_retries,
        on_gap=on_gap,
        prompt_folder=folder if folder.is_dir() else None,
    )


def _check_prices(settings: Settings, models: "Sequence[OpenModel]") -> None:
    """A budget in dollars needs prices. Raises ConfigError for a model whose price is not known."""
    unknown = [m.model for m in models if m.family.input_usd is None or m.family.output_usd is None]
    if settings.budget_usd is not None and unknown:
        message = (
            f"The price of {unknown[0]!r} is not known, so a budget in US dollars cannot be kept. "
            "Give it in tokens: --budget 200000tokens (setting budget_tokens)."
        )
        raise ConfigError(message, setting="budget_usd", value=settings.budget_usd)


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
        self._purse = Purse(settings, [PaidCall.model_validate_json(text) for text in journal.answers("model")])

    async def complete(self, request: ModelRequest, role: Role) -> ModelAnswer:
        """Return the answer. Raises LimitReached when the budget of research is spent, and what the client raises."""
        most = getattr(self._settings, f"{role}_max_tokens")
        request = request.model_copy(update={"max_output_tokens": min(request.max_output_tokens, most)})
        models = [model.model for model in self._client.models_of(role)]
        asked = json.dumps(
            {"role": role, "models": models, "request": request.model_dump(mode="json")}, ensure_ascii=False
        )

        async def make() -> str:
            with self._purse.holding(self._expected(request, role), role):
                begun = time.monotonic()
                answer = await self._client.complete(request, role=role)
            seconds = round(time.monotonic() - begun, 3)
            paid = PaidCall(role=role, answer=answer, cost_usd=self._cost(answer, role), seconds=seconds)
            self._purse.pay(paid)
            return paid.model_dump_json()

        text, _ = await self._journal.call("model", asked, make)
        return PaidCall.model_validate_json(text).answer

    def _cost(self, answer: ModelAnswer, role: Role) -> float | None:
        models = self._client.models_of(role)
        used = next((m for m in models if answer.model and m.model == answer.model), models[0])
        return used.family.cost_usd(answer.usage)

    def _expected(self, request: ModelRequest, role: Role) -> "Spent":
        """About what a call will cost, for what is in flight."""
        prompt = sum(estimate_tokens(message.text) for message in request.messages)
        usage = Usage(prompt_tokens=prompt, completion_tokens=min(request.max_output_tokens, _USUAL_ANSWER))
        cost = self._client.models_of(role)[0].family.cost_usd(usage)
        return Spent(prompt + usage.completion_tokens, cost or 0.0)


class Spent(NamedTuple):
    """Tokens and US dollars."""

    tokens: int
    usd: float


class Purse:
    """What a run has spent and what is in flight, against its budget.

    Each kind of work may spend up to a share of it: what a later stage needs is left by the earlier ones.
    """

    def __init__(self, settings: Settings, paid: Sequence[PaidCall] = ()) -> None:
        """`paid` are the calls of earlier sittings."""
        self._usd, self._tokens = settings.budget_usd, settings.budget_tokens
        self._spent = Spent(0, 0.0)
        self._in_flight = Spent(0, 0.0)
        for call in paid:
            self.pay(call)

    def pay(self, call: PaidCall) -> None:
        """Note a call that was answered."""
        usage = call.answer.usage
        self._spent = _plus(self._spent, Spent(usage.prompt_tokens + usage.completion_tokens, call.cost_usd or 0.0))

    @contextmanager
    def holding(self, expected: Spent, role: Role) -> Iterator[None]:
        """Keep `expected` apart while a call is in flight. Raises LimitReached when the role's share does not allow it."""
        self._refuse(_plus(_plus(self._spent, self._in_flight), expected), role)
        self._in_flight = _plus(self._in_flight, expected)
        try:
            yield
        finally:
            self._in_flight = Spent(self._in_flight.tokens - expected.tokens, self._in_flight.usd - expected.usd)

    def _refuse(self, then: Spent, role: Role) -> None:
        share = _SHARES[role]
        if self._usd is not None and then.usd > self._usd * share:
            message = (
                f"The budget of {self._usd} US dollars is spent as far as {_WORK[role]} may ({self._spent.usd:.4f})."
            )
            raise LimitReached(message, kind="usd", used=self._spent.usd, limit=self._usd)
        if self._tokens is not None and then.tokens > self._tokens * share:
            message = (
                f"The budget of {self._tokens} tokens is spent as far as {_WORK[role]} may ({self._spent.tokens})."
            )
            raise LimitReached(message, kind="tokens", used=self._spent.tokens, limit=self._tokens)


def _plus(one: Spent, other: Spent) -> Spent:
    return Spent(one.tokens + other.tokens, one.usd + other.usd)
