"""The reasoner of a run: the finder, or a language model through the journal."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from deep_research.assembly.own_objects import MODEL_SETTINGS
from deep_research.assembly.run_ranker import RunRanker, ranking_model
from deep_research.data import Gap, ModelAnswer, ModelRequest, ReasonerInfo, Role
from deep_research.errors import ConfigError, ContextTooLong
from deep_research.finding.finder_reasoner import FinderReasoner
from deep_research.i18n.catalog import gap_of, outage_gap, phrase
from deep_research.ports import Journal, Progress, Ranker, Reasoner
from deep_research.providers import provider_catalog as catalog
from deep_research.providers.provider_catalog import OWN, PROVIDERS, open_model, open_own, provider_called, split_model
from deep_research.reasoners.bounded_reasoner import bounded_reasoner
from deep_research.run_context.context import Outside
from deep_research.settings import Settings, load_keys
from deep_research.stores.open_stores import shared_limits

if TYPE_CHECKING:
    from deep_research.assembly.budget import PaidCalls
    from deep_research.providers.model_client import ModelClient, OpenModel
    from deep_research.providers.provider_limits import Gate
    from deep_research.reasoners.model.asking import Complete


Watch = Callable[[ModelRequest, Role], object]  # called with each request to a model


def resolve_provider(settings: Settings, keys: Mapping[str, str]) -> str:
    """Return a run's provider; `auto`: the first with a key. Raises ConfigError."""
    name = settings.model_provider
    if name in ("finder", OWN):
        return name
    named = [value for setting in ("model_name", *MODEL_SETTINGS.values()) if (value := getattr(settings, setting))]
    if name == "auto":
        name = split_model(named[0])[0] if named else ""
        name = name or catalog.auto_provider(keys, base_url=settings.model_base_url) or ""
        if not name and named:
            known = ", ".join(one.key for one in PROVIDERS.values() if one.key)
            message = f"The model {named[0]!r} cannot be used: set its provider's key ({known}; docs/providers.md)."
            raise ConfigError(message, setting="model_name", value=named[0])
        if not name:
            return "finder"
    open_model(name, settings.model_name, keys=keys, base_url=settings.model_base_url)
    return provider_called(name)


def provider_of(settings: Settings) -> str:
    """Return the provider by settings and this machine's keys. Raises ConfigError."""
    return resolve_provider(settings, load_keys(catalog.VARIABLES))


def choose_model(settings: Settings, keys: Mapping[str, str]) -> "OpenModel | None":
    """Return a run's model, or None; nothing is sent. Raises ConfigError."""
    provider = resolve_provider(settings, keys)
    if provider in ("finder", OWN):
        return None
    return open_model(provider, settings.model_name, keys=keys, base_url=settings.model_base_url)


def named_providers(settings: Settings) -> tuple[str, str]:
    """Return the settings' provider (or `auto`) and the model name's prefix, or ""."""
    return provider_called(settings.model_provider), split_model(settings.model_name or "")[0]


def list_models(settings: Settings) -> dict[str, str]:
    """Return the providers with key or address, and their default model ("": none)."""
    keys = load_keys(catalog.VARIABLES)
    alone = ({variable: value} for variable, value in keys.items())
    named = {catalog.auto_provider(keys, base_url=settings.model_base_url), *map(catalog.auto_provider, alone)}
    return {name: known.model for name, known in PROVIDERS.items() if name in named}


_NOTHING = Outside()
_NO_MODELS: Mapping[str, Any] = {}


def open_reasoner(
    settings: Settings,
    keys: Mapping[str, str],
    *,
    journal: Journal,
    home: Path,
    on_gap: Callable[[Gap], object],
    outside: Outside = _NOTHING,
    on_progress: Progress = lambda _what, _done, _total: None,
    watch: Watch = lambda _request, _role: None,
    today: date | None = None,
    models: Mapping[str, Any] = _NO_MODELS,
    is_offline: bool = False,
) -> tuple[Reasoner, "ModelClient | Ranker | None"]:
    """Return the reasoner of the settings, and its client or ranker to be closed.

    `watch` sees every request to a model, `on_progress` the waiting time. `today` is the date that prompts name (None: that
    of this day, UTC). `models` are those that the program has handed over, by the argument they were given as (`model`,
    `write_model`, …). With `is_offline` models are named alone: a replay may be a stranger's, and opens none.
    Raises ConfigError for an unknown provider, a missing key, and a model that was handed over and is missing now.
    """
    if settings.model_provider == "finder":
        return _open_finder(settings, keys, journal, on_gap, watch, is_offline=is_offline)
    from deep_research.assembly.budget import PaidCalls, note_attempt  # noqa: PLC0415 - only with a model
    from deep_research.providers.http_wire import load_httpx  # noqa: PLC0415
    from deep_research.providers.model_client import ModelClient, Patience  # noqa: PLC0415

    load_httpx()  # in this thread, rather than in the event loop with the first call
    import_module("jinja2")
    first, others, roles = _open_models(settings, keys, models, is_offline=is_offline)
    if not is_offline:
        _check_prices(settings, [first, *others, *roles.values()])
    client = ModelClient(
        [first, *others],
        roles=roles,
        account=note_attempt,
        on_outage=lambda model, why: on_gap(outage_gap(model.model, model.provider, why)),
        on_wait=lambda model, waited, most: on_progress(
            phrase("waiting_for_model", "en", model=model.model, provider=model.provider), int(waited), int(most)
        ),
        patience=Patience.for_silence(settings.model_timeout_seconds),
        gates=_gates(settings, [first, *others, *roles.values()]),
    )
    complete = _watched(PaidCalls(client, journal, settings), watch, on_gap)
    by_role = {role: roles.get(role) or first for role in get_args(Role)}
    day = today or datetime.now(UTC).date()
    return _model_reasoner(complete, settings, first, by_role, home, on_gap, outside, day), client


def _open_finder(
    settings: Settings,
    keys: Mapping[str, str],
    journal: Journal,
    on_gap: Callable[[Gap], object],
    watch: Watch,
    *,
    is_offline: bool,
) -> tuple[Reasoner, "ModelClient | Ranker | None"]:
    if not settings.ranker:
        return bounded_reasoner(), None
    if named := ranking_model(settings):
        from deep_research.assembly.budget import PaidCalls, note_attempt  # noqa: PLC0415
        from deep_research.providers.model_client import ModelClient, Patience  # noqa: PLC0415
        from deep_research.reasoners.model.model_ranker import ModelRanker  # noqa: PLC0415

        seconds = settings.model_timeout_seconds
        provider, name = split_model(named)
        reached = {"base_url": settings.ranker_base_url, "timeout_seconds": seconds, "proxy": settings.proxy}
        model = open_model(provider or named, name, keys=keys, is_offline=is_offline, **reached)
        if not is_offline:
            _check_prices(settings, [model])
        client = ModelClient([model], account=note_attempt, patience=Patience.for_silence(seconds))
        complete = _watched(PaidCalls(client, journal, settings), watch, on_gap)
        ranker = RunRanker(ModelRanker(complete, f"{model.model} ({model.provider})"), None, on_gap)
        return bounded_reasoner(ranker), client
    from deep_research.providers.rankers import open_ranker  # noqa: PLC0415

    over_http = open_ranker(settings.ranker, keys, base_url=settings.ranker_base_url, proxy=settings.proxy)
    ranker = RunRanker(over_http, journal, on_gap)
    return bounded_reasoner(ranker), ranker


def _watched(paid: "PaidCalls", watch: Watch, on_gap: Callable[[Gap], object]) -> "Complete":
    """Return a model call that shows requests to `watch`; a cut prompt is a gap."""

    async def complete(request: ModelRequest, role: Role) -> ModelAnswer:
        watch(request, role)
        try:
            answer = await paid.complete(request, role)
        except ContextTooLong as error:
            if error.reason == "cut":
                on_gap(gap_of("model", "prompt_cut", model=error.model, read=str(error.window), sent=str(error.used)))
            raise
        if answer.sent_tokens:
            read, sent = str(answer.usage.prompt_tokens), str(answer.sent_tokens)
            on_gap(gap_of("model", "prompt_cut", model=answer.model, read=read, sent=sent))
        return answer

    return complete


def _model_reasoner(
    complete: "Complete",
    settings: Settings,
    first: "OpenModel",
    by_role: "Mapping[Role, OpenModel]",
    home: Path,
    on_gap: Callable[[Gap], object],
    outside: Outside,
    today: date,
) -> Reasoner:
    from deep_research.prompts import check  # noqa: PLC0415 - only with a model
    from deep_research.reasoners.model.base import Offered  # noqa: PLC0415
    from deep_research.reasoners.model.model_reasoner import ModelReasoner  # noqa: PLC0415

    folder = home / "prompts"
    if folder.is_dir():
        check(folder)
    is_told = "max_context_tokens" in settings.model_fields_set
    context_tokens = settings.max_context_tokens if is_told else first.family.context_tokens
    most = min(settings.report_max_tokens, by_role["report"].family.output_tokens)
    places = [(place.name, place.purpose) for place in outside.places]
    tools = [tool.spec for tool in outside.tools.values()]
    return ModelReasoner(
        complete,
        settings.model_copy(update={"report_max_tokens": most}),
        info=ReasonerInfo(
            kind="model", provider=first.provider, models={role: one.model for role, one in by_role.items()}
        ),
        fallback=FinderReasoner(),
        offered=Offered(places, outside.opens_addresses, tools),
        context_tokens=context_tokens,
        date=today.isoformat(),
        on_gap=on_gap,
        prompt_folder=folder if folder.is_dir() else None,
    )


def _check_prices(settings: Settings, models: "Sequence[OpenModel]") -> None:
    unknown = [m.model for m in models if m.family.input_usd is None or m.family.output_usd is None]
    if settings.budget_usd is not None and unknown:
        message = (
            f"The price of {unknown[0]!r} is not known, so a budget in US dollars cannot be kept. "
            "Give it in tokens: --budget 200000tokens (setting budget_tokens)."
        )
        raise ConfigError(message, setting="budget_usd", value=settings.budget_usd)


def _open_models(
    settings: Settings, keys: Mapping[str, str], own: Mapping[str, Any], *, is_offline: bool
) -> tuple["OpenModel", list["OpenModel"], dict[Role, "OpenModel"]]:
    """Open the run's model, its fallbacks, and the models of single roles, each once."""
    provider = "langchain" if is_offline and settings.model_provider == OWN else settings.model_provider
    options: dict[str, Any] = {
        "keys": keys,
        "base_url": settings.model_base_url,
        "thinking": settings.enable_thinking,
        "timeout_seconds": settings.model_timeout_seconds,
        "proxy": settings.proxy,
        "is_offline": is_offline,
    }
    if provider == "ollama" and "max_context_tokens" in settings.model_fields_set:
        options["context_tokens"] = settings.max_context_tokens  # the server reserves memory for it
    if provider == OWN:
        first = open_own(_handed_over("model", settings.model_name, own))
    else:
        first = open_model(provider, settings.model_name, **options)
    opened: dict[str, OpenModel] = {first.model: first}
    roles: dict[Role, OpenModel] = {}
    for role, argument in MODEL_SETTINGS.items():
        name = getattr(settings, argument)
        if argument in own:
            roles[role] = open_own(own[argument])
        elif name:
            if provider == OWN and ":" not in name and name not in opened:
                _handed_over(argument, name, own)
            if name not in opened:
                opened[name] = catalog.open_named(name, provider, **options)
            roles[role] = opened[name]
    return first, [catalog.open_named(name, provider, **options) for name in settings.fallback_models], roles


def _handed_over(argument: str, name: str | None, own: Mapping[str, Any]) -> Any:
    if argument not in own:
        message = f"A program's own model ({name}) began it: hand it over again as {argument}=…, or set model_provider."
        raise ConfigError(message, setting=argument, value=name)
    return own[argument]


def _gates(settings: Settings, models: "Sequence[OpenModel]") -> "dict[str, Gate]":
    """Return each provider's concurrent request limit, shared by the process's runs."""
    from deep_research.providers.provider_limits import REQUESTS, gate_of  # noqa: PLC0415

    gates: dict[str, Gate] = {}
    for name, model in {model.provider: model for model in reversed(models)}.items():
        most = min(REQUESTS, PROVIDERS[name].requests) if name in PROVIDERS else REQUESTS
        gates[name] = gate_of(name, getattr(model, "address", ""), most, shared=shared_limits())
    return gates


def reasoner_name(info: ReasonerInfo) -> str:
    """Return the reasoner's name for screens: `finder`, or provider and models."""
    models = ", ".join(dict.fromkeys(info.models.values()))
    return f"{info.provider} {models}".strip() or info.kind
