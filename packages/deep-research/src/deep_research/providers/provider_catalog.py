"""Providers by name, with addresses, key variables, default models; open models.

A model may also be handed over by a program: LangChain's, or any object of our port `OpenModel`.
"""

import difflib
import ipaddress
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from deep_research.errors import ConfigError, ModelSetupError

if TYPE_CHECKING:
    from deep_research.data import ModelAnswer, ModelRequest
    from deep_research.providers.http_wire import HttpWire
    from deep_research.providers.model_client import OpenModel
    from deep_research.providers.model_families import Family
    from deep_research.providers.provider_failures import About


class Provider(NamedTuple):
    """What is known about a provider.

    `facts` override the facts about model families: a server has its own way of switching thinking.
    `key` names the variable of its key, `address` that of its base address ("" where there is none);
    `requests` is how many it can answer at the same time at most.
    """

    wire: Literal["openai", "anthropic", "ollama", "langchain"]
    base_url: str
    key: str
    address: str
    model: str
    facts: Mapping[str, Any] = {}
    requests: int = 256


_NO_SWITCH: dict[str, Any] = {"thinking_on": {}, "thinking_off": {}, "thinking_streams": False}
_LOCAL: dict[str, Any] = {**_NO_SWITCH, "structured": "native", "output_parameter": "max_tokens", "temperature": True}
_OLLAMA: dict[str, Any] = {
    "thinking_on": {"think": True},
    "thinking_off": {"think": False},
    "context_tokens": 32_768,  # becomes num_ctx, for which memory is taken at once
}

_FREE: dict[str, Any] = {"input_usd": 0.0, "output_usd": 0.0, "cached_usd": 0.0, "cache_write_usd": 0.0}
"""What a model on hardware of one's own costs. A gateway to models that are paid for asks for a key, even nearby."""

_OPENROUTER: dict[str, Any] = {
    "thinking_on": {"reasoning": {"enabled": True}},
    "thinking_off": {"reasoning": {"enabled": False}},
    "output_parameter": "max_tokens",
    "thinking_streams": False,
}
_DASHSCOPE = "https://dashscope.aliyuncs.com/compatible-mode/v1"
_GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"

PROVIDERS: dict[str, Provider] = {
    "aliyun": Provider("openai", _DASHSCOPE, "DASHSCOPE_API_KEY", "DASHSCOPE_BASE_URL", "qwen3.5-plus"),
    "openai": Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL", "gpt-5.4-mini"),
    "anthropic": Provider(
        "anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "claude-sonnet-5"
    ),
    "gemini": Provider("openai", _GOOGLE, "GEMINI_API_KEY", "GEMINI_BASE_URL", "gemini-3.5-flash"),
    "deepseek": Provider(
        "openai", "https://api.deepseek.com", "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL", "deepseek-flash"
    ),
    "moonshot": Provider(
        "openai", "https://api.moonshot.cn/v1", "MOONSHOT_API_KEY", "MOONSHOT_BASE_URL", "kimi-k2-thinking"
    ),
    "openrouter": Provider(
        "openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "", "deepseek/deepseek-v4-flash", _OPENROUTER
    ),
    "groq": Provider("openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "", "openai/gpt-oss-120b", _NO_SWITCH),
    "compatible": Provider("openai", "", "OPENAI_COMPATIBLE_API_KEY", "OPENAI_COMPATIBLE_BASE_URL", "", _LOCAL),
    "ollama": Provider(
        "ollama", "http://localhost:11434", "", "OLLAMA_HOST", "qwen3", {**_LOCAL, **_OLLAMA}, requests=4
    ),
    "langchain": Provider("langchain", "", "", "", ""),
}
"""All providers, in the order in which their keys are looked for. `compatible` is any server that speaks OpenAI's wire:
vLLM, LM Studio, llama.cpp, a gateway."""

PROVIDER_ALIASES = {
    "dashscope": "aliyun",
    "qwen": "aliyun",
    "alibaba": "aliyun",
    "tongyi": "aliyun",
    "google": "gemini",
    "google_genai": "gemini",
    "claude": "anthropic",
    "chatgpt": "openai",
    "gpt": "openai",
    "kimi": "moonshot",
}
"""Other names of providers, as users and other programs call them."""


def provider_called(name: str) -> str:
    """Return the table's name of a provider, from any name that it goes by."""
    return PROVIDER_ALIASES.get(name.lower(), name)


def split_model(name: str) -> tuple[str, str]:
    """Split `PROVIDER:MODEL` into provider ("" if none is named) and model."""
    prefix, colon, rest = name.partition(":")
    of = provider_called(prefix)
    return (of, rest) if colon and rest and of in PROVIDERS else ("", name)


RankerForm = Literal["embeddings", "ollama", "rerank"]
RANKERS: dict[str, tuple[RankerForm, Provider]] = {
    "openai": ("embeddings", PROVIDERS["openai"]._replace(model="text-embedding-3-small")),
    "compatible": ("embeddings", PROVIDERS["compatible"]),
    "ollama": ("ollama", PROVIDERS["ollama"]._replace(model="bge-m3")),
    "jina": (
        "rerank",
        Provider("openai", "https://api.jina.ai/v1", "JINA_API_KEY", "", "jina-reranker-v2-base-multilingual"),
    ),
    "cohere": ("rerank", Provider("openai", "https://api.cohere.com/v2", "COHERE_API_KEY", "", "rerank-v3.5")),
}
"""Servers that rank texts: how they are asked, and where they are."""

VARIABLES = tuple(
    dict.fromkeys(
        variable
        for known in (*PROVIDERS.values(), *(known for _, known in RANKERS.values()))
        for variable in (known.key, known.address)
        if variable
    )
)
"""The variables to read: settings.py hands them over as `keys`."""

OWN = "own"
"""The provider of a run whose model a program has handed over."""

_TIMEOUT_SECONDS = 120.0
_AZURE = (".azure.", "/openai/deployments/", "api-version=")


def auto_provider(keys: Mapping[str, str], *, base_url: str = "") -> str | None:
    """Return the first provider with its key (or own server's address) set, or None.

    A `base_url` that was set by itself means an OpenAI-compatible server, unless a key says which provider it is.
    """
    for name, known in PROVIDERS.items():
        if known.key and keys.get(known.key) and (name != "compatible" or base_url or keys.get(known.address)):
            return name
        if (name in ("compatible", "ollama") and keys.get(known.address)) or (name == "compatible" and base_url):
            return name
    return None


def open_model(
    provider: str,
    model: str | None = None,
    *,
    keys: Mapping[str, str] | None = None,
    base_url: str = "",
    thinking: bool = False,
    facts: Mapping[str, Any] | None = None,
    context_tokens: int = 0,
    timeout_seconds: float = _TIMEOUT_SECONDS,
    proxy: str = "",
    chat_model: Any = None,
    is_offline: bool = False,
) -> "OpenModel":
    """Return a chat model of a provider; nothing is sent yet.

    `keys` are the values of VARIABLES that are set; `facts` override what is known about the model's family;
    `context_tokens` says what it is served with (for Ollama: num_ctx); `timeout_seconds` is the longest
    silence. With the provider `langchain`, `chat_model` is the model object to use. With `is_offline`
    it is named alone, for a journal that has its answers: nothing is made that could ask, read or load. Raises ConfigError for an
    unknown provider and a missing key.
    """
    from deep_research.providers.model_families import family_of  # noqa: PLC0415 - the catalog itself is light
    from deep_research.providers.provider_failures import About  # noqa: PLC0415

    provider = provider_called(provider)
    known = _known(provider)
    keys = keys or {}
    if model and split_model(model)[0] == provider:
        model = split_model(model)[1]
    if chat_model is not None and known.wire != "langchain":
        message = f"A model object is for the provider langchain; {provider!r} is spoken to over its own wire."
        raise ConfigError(message, setting="model_provider", value=provider)
    address = known.base_url if is_offline else address_of(known, keys, base_url)
    name = model or known.model
    if not name and chat_model is None:
        message = f"The provider {provider!r} has no default model: set model_name to one that it has."
        raise ConfigError(message, setting="model_name", value=model)
    settings = " or ".join([known.address] * bool(known.address) + ["model_base_url"])
    about = About(provider, name or type(chat_model).__name__, known.key, address, settings)
    is_free = known.wire == "ollama" or (provider == "compatible" and not keys.get(known.key) and _is_near(address))
    served = {"context_tokens": context_tokens} if context_tokens else {}
    family = family_of(name or "", {**known.facts, **(_FREE if is_free else {}), **(facts or {}), **served})
    if is_offline:
        return NamedModel(provider, about.model, family)
    if known.wire == "langchain":
        from deep_research.providers.langchain_model import wrap_model  # noqa: PLC0415

        return wrap_model(chat_model, about, family, base_url=base_url, timeout_seconds=timeout_seconds)
    if known.wire == "anthropic":
        from deep_research.providers.anthropic import AnthropicModel as Adapter  # noqa: PLC0415
    elif known.wire == "ollama":
        from deep_research.providers.ollama import OllamaModel as Adapter  # noqa: PLC0415
    else:
        from deep_research.providers.openai_compatible import OpenAICompatibleModel as Adapter  # noqa: PLC0415
    return Adapter(open_wire(known, about, keys, timeout_seconds, proxy), about, family, thinking=thinking)


@dataclass
class NamedModel:
    """A model without our own wire, answered by LangChain or a program's object.

    Without `ask` only the name and the family are there: what it would be asked is in a journal.
    """

    provider: str
    model: str
    family: "Family"
    ask: "Callable[[ModelRequest], Awaitable[ModelAnswer]] | None" = None

    async def complete(self, request: "ModelRequest") -> "ModelAnswer":
        """See `OpenModel.complete`. Raises ModelSetupError where it can answer nothing."""
        if self.ask is not None:
            return await self.ask(request)
        message = f"The model {self.model!r} is not open: a replay asks none."
        raise ModelSetupError(message, setting="model_name", reason="offline")

    async def close(self) -> None:
        """Nothing is held open; what was handed over outlives the run."""


def _is_near(address: str) -> bool:
    """Return whether an address is this computer or one of its own network."""
    host = ""
    try:
        host = urlsplit(address).hostname or ""
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan"))


def _known(provider: str) -> Provider:
    if provider in PROVIDERS:
        return PROVIDERS[provider]
    near = difflib.get_close_matches(provider, PROVIDERS, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    message = f"Unknown provider {provider!r}.{hint} There are: {', '.join(PROVIDERS)}."
    raise ConfigError(message, setting="model_provider", value=provider)


def address_of(known: Provider, keys: Mapping[str, str], base_url: str, *, setting: str = "model_base_url") -> str:
    """Return a server's address: `base_url` or its usual one; raise ConfigError."""
    address = base_url or keys.get(known.address, "") or known.base_url
    if known.wire == "ollama" and address and "://" not in address:
        address = f"http://{address}" + ":11434" * set(":/").isdisjoint(address)  # OLLAMA_HOST: host:port, or host
    if known.wire == "langchain":
        return address
    if not address.startswith(("http://", "https://")):
        shown = known.address or "base_url"
        message = f"The address {address!r} of the model server is no http address; set {shown} or {setting}."
        raise ConfigError(message, setting=setting, value=address)
    address = address.rstrip("/")
    return address.removesuffix("/v1") if known.wire == "anthropic" else address


def open_wire(
    known: Provider, about: "About", keys: Mapping[str, str], timeout_seconds: float, proxy: str
) -> "HttpWire":
    """Return the unused wire to a server; raise ModelSetupError for a bad key.

    Nothing is sent yet.
    """
    from deep_research.providers.http_wire import HttpWire  # noqa: PLC0415

    key = keys.get(known.key, "").strip()
    own_server = about.base_url != known.base_url
    if known.key and not key and not own_server:
        message = f"The provider {about.provider!r} needs a key: set {known.key}."
        raise ModelSetupError(message, setting=known.key, reason="no_key")
    if not (key.isascii() and key.isprintable()):
        message = f"The key in {known.key} has signs that no key has (typographic quotes, line breaks); copy it anew."
        raise ModelSetupError(message, setting=known.key, reason="bad_key")
    headers = {"user-agent": "deep-research"}
    if known.wire == "anthropic":
        from deep_research.providers.anthropic import VERSION  # noqa: PLC0415

        headers |= {"x-api-key": key or "none", "anthropic-version": VERSION}
    elif key and any(mark in about.base_url for mark in _AZURE):
        headers["api-key"] = key
    elif key:
        headers["authorization"] = f"Bearer {key}"
    return HttpWire(about.base_url, headers, timeout_seconds=timeout_seconds, proxy=proxy)


def open_named(name: str, provider: str, **options: Any) -> "OpenModel":
    """Open `MODEL` of `provider`, or `PROVIDER:MODEL`; raise as `open_model` does."""
    of, model = split_model(name)
    of = of or provider
    own = options if of == provider else {**options, "base_url": "", "facts": None}
    return open_model(of, model, **own)


def model_name_of(model: Any) -> str:
    """Return a handed-over model's name; raise ConfigError if it is no chat model."""
    if not (
        _is_ours(model) or (hasattr(model, "ainvoke") and hasattr(model, "bind_tools") and not isinstance(model, type))
    ):
        message = (
            f"{type(model).__name__} is no chat model. Hand over one of LangChain's (ChatOpenAI(…)), an object with "
            "`complete(ModelRequest) -> ModelAnswer`, or the name of a model."
        )
        raise ConfigError(message, setting="model", value=type(model).__name__)
    names = (getattr(model, name, None) for name in ("model", "model_name", "model_id", "deployment_name"))
    return next((name for name in names if isinstance(name, str) and name), type(model).__name__)


def open_own(model: Any) -> "OpenModel":
    """Return a model handed over, behind our port; raise ConfigError.

    The model is never closed.
    """
    name = model_name_of(model)
    if not _is_ours(model):
        return open_model("langchain", name, chat_model=model)
    from deep_research.providers.model_families import Family, family_of  # noqa: PLC0415

    family = getattr(model, "family", None)
    known = family if isinstance(family, Family) else family_of(name)
    return NamedModel(str(getattr(model, "provider", "") or type(model).__name__), name, known, model.complete)


def _is_ours(model: Any) -> bool:
    return callable(getattr(model, "complete", None)) and not isinstance(model, type)
