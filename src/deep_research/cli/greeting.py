"""What the conversation begins with: who thinks, where is searched, how to leave."""

from collections.abc import Sequence

from deep_research import __version__
from deep_research.runs.run import check_usable
from deep_research.runs.thinking import key_variables, resolve_provider
from deep_research.settings import Settings, load_keys


def greeting(settings: Settings, docs: Sequence[str]) -> str:
    """Return the greeting. Raises ConfigError for a path, provider or workflow that cannot be used."""
    check_usable(docs, settings)
    provider = resolve_provider(settings, load_keys(key_variables()))
    return "\n".join(
        [
            f"deep-research {__version__}",
            f"Thinks:   {_thinker(provider, settings)}",
            f"Searches: {_searched(provider, settings, docs)}",
            "Type a question. /help lists the commands, Ctrl-D leaves.",
        ]
    )


def _thinker(provider: str, settings: Settings) -> str:
    if provider == "extractive":
        return "no language model (extractive): it quotes what it finds, word for word"
    from deep_research.providers.catalog import open_model  # noqa: PLC0415 - only with a model

    opened = open_model(
        provider, settings.model_name, keys=load_keys(key_variables()), base_url=settings.model_base_url
    )
    return f"{provider} {opened.model}"


def _searched(provider: str, settings: Settings, docs: Sequence[str]) -> str:
    """The places as the next run will choose them (`runs.run`)."""
    places = [*docs]
    if settings.sources:
        places.append("web: " + ", ".join(settings.sources))
    elif settings.strategy or (provider != "extractive" and not docs):
        places.append(f"web: {settings.strategy or 'auto'}")
    return " · ".join(places) or "the bundled library (name your own documents with --docs PATH)"
