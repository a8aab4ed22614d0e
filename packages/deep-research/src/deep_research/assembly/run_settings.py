"""A run's checked settings, with choices that depend on today's keys settled."""

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from claimcheck.language import detect
from deep_research import sources
from deep_research.assembly.reasoner_choice import choose_model, provider_of, resolve_provider
from deep_research.assembly.web_search import chosen_sources
from deep_research.errors import ConfigError
from deep_research.providers.provider_catalog import VARIABLES
from deep_research.settings import Settings, load_keys
from deep_research.stores.open_stores import open_runs
from deep_research.stores.run_store import RunRecord, RunStore
from deep_research.templates import NONE, load_templates, named_template, template_folders

Docs = str | PathLike[str] | Sequence[str | PathLike[str]]
"""One file or folder of the user's, or several."""


def named_paths(docs: Docs) -> list[str]:
    """Return the paths that a caller named. Raises ConfigError for what is none."""
    with suppress(TypeError):
        paths = [os.fspath(one) for one in ([docs] if isinstance(docs, str | bytes | PathLike) else docs)]
        if all(isinstance(path, str) for path in paths):
            return paths
    message = f"`docs` is the path of a file or folder, or a list of such paths, not {docs!r:.80}."
    raise ConfigError(message, setting="docs", value=repr(docs)[:80])


def check_usable(docs: Sequence[str], settings: Settings, *, home: Path) -> None:
    """Raise ConfigError for unusable paths, MCP servers and focus templates."""
    for path in docs:
        if not path.strip() or not Path(path).expanduser().exists():
            raise ConfigError(f"There is no file or folder {path!r}.", setting="docs", value=path)
        if any("\ud800" <= c <= "\udfff" for c in path):
            message = f"The name of {path!r} is not valid Unicode and cannot be stored. Rename it or link to it."
            raise ConfigError(message, setting="docs", value=path)
    if settings.mcp_servers and find_spec("mcp") is None:
        message = "MCP servers need the package mcp: pip install 'deep-research[mcp]'."
        raise ConfigError(message, setting="mcp_servers", value=sorted(settings.mcp_servers))
    templates = load_templates(template_folders(home))
    if settings.template not in ("", NONE):
        named_template(templates, settings.template)


def settle(settings: Settings, docs: Sequence[str], question: str) -> Settings:
    """Return settings with provider and sources settled. Raises ConfigError."""
    provider = provider_of(settings)
    strategy = _strategy(settings, docs, provider)
    settled = settings.model_copy(update={"model_provider": provider, "strategy": strategy})
    if not strategy and not settings.sources:
        return settled
    keys = load_keys(sources.variables(None if strategy else {*settings.sources, *settings.source_options}))
    names = chosen_sources(settled, keys, question=question, language=detect(question))
    return settled.model_copy(update={"sources": names})


def _strategy(settings: Settings, docs: Sequence[str], provider: str) -> str:
    """Return a run's strategy; with a model and no documents it searches the web."""
    usual = "auto" if not settings.sources and not docs and provider != "finder" else ""
    return settings.strategy or usual


def begin_run(
    settings: Settings, *, home: Path, docs: Docs, question: str, wanted_id: str = "", **told: Any
) -> RunStore:
    """Make a run, with `told` in its record too. Raises ConfigError, StoreError."""
    docs = named_paths(docs)
    check_usable(docs, settings, home=home)
    settings = settle(settings, docs, question)
    runs = open_runs(home)
    known = {
        "run_id": runs.new_id(wanted_id),
        "question": question,
        "status": "running",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "docs": tuple(str(Path(d).expanduser().absolute()) for d in docs),
        "mcp_servers": tuple(settings.mcp_servers),
        "settings": settings.model_dump(exclude_defaults=True, exclude={"mcp_servers"}),
    }
    return runs.create(RunRecord(**{**known, **told}))


class Preview(NamedTuple):
    """A run's provider, model ("" for none), documents, and web sources or strategy."""

    provider: str
    model: str
    docs: tuple[str, ...]
    web: str


def preview(settings: Settings, docs: Sequence[str], *, home: Path) -> Preview:
    """Return a run's resources. Raises ConfigError for what cannot be used."""
    check_usable(docs, settings, home=home)
    keys = load_keys(VARIABLES)
    provider, model = resolve_provider(settings, keys), choose_model(settings, keys)
    web = ", ".join(settings.sources) or _strategy(settings, docs, provider)
    return Preview(provider, model.model if model is not None else "", tuple(docs), web)
