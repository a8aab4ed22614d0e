"""All sources and strategies in one table: name, purpose, key, ready; open one."""

import difflib
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from deep_research import registry
from deep_research.concurrency import Rate
from deep_research.errors import ConfigError
from deep_research.ports import ApiClient
from deep_research.sources._api import ApiOptions, ApiSource


class SourceRow(NamedTuple):
    """A row of `deep-research sources`; `missing` says what to set, "" when ready."""

    name: str
    purpose: str
    needs: str | None
    also: tuple[str, ...]
    missing: str

    @property
    def ready(self) -> bool:
        """Whether the source works with what is set."""
        return not self.missing


def source_rows(
    keys: Mapping[str, str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    names: Collection[str] | None = None,
) -> list[SourceRow]:
    """Return a row per web API source, or per one in `names` or `options`, by name.

    `keys` are the values of variables, `options` those by source. Raises ConfigError for options that do not fit.
    """
    given = options or {}
    for name in given:
        named_source(name)
    known = api_sources(None if names is None else {*names, *given})
    missing = {name: kind.missing(kind.read_options(given.get(name)), keys or {}) for name, kind in known.items()}
    return [SourceRow(name, kind.purpose, kind.needs, kind.also, missing[name]) for name, kind in known.items()]


def api_sources(names: Collection[str] | None = None) -> dict[str, type[ApiSource[Any]]]:
    """Return the web API source classes by name, sorted: all, or those in `names`."""
    wanted = [name for name in registry.names("sources") if names is None or name in names]
    kinds = [registry.component("sources", name) for name in wanted]
    return {kind.name: kind for kind in kinds if isinstance(kind, type) and issubclass(kind, ApiSource)}


def named_source(name: str) -> type[ApiSource[Any]]:
    """Return a source's class by name; raise ConfigError for an unknown one."""
    if kind := api_sources({name}).get(name):
        return kind
    near = difflib.get_close_matches(name, api_sources(), n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    message = f"There is no source {name!r}.{hint} `deep-research sources` lists all of them."
    raise ConfigError(message, setting="sources", value=name)


def open_source(
    name: str, client: ApiClient, keys: Mapping[str, str], options: Mapping[str, Any] | None = None
) -> ApiSource[Any]:
    """Open a source by name; raise ConfigError for an unknown name or unfit options."""
    return named_source(name).build(options, client, keys)


def variables(names: Collection[str] | None = None) -> tuple[str, ...]:
    """Return the sorted environment variables used by all sources, or by `names`."""
    return tuple(sorted({name for kind in api_sources(names).values() for name in kind.variables()}))


def api_rates(options: Iterable[ApiOptions]) -> tuple[tuple[str, Rate], ...]:
    """Return the strictest rate of each host (with a written port) in `options`."""
    rates: dict[str, Rate] = {}
    for each in options:
        host = urlsplit(each.base_url).netloc.lower()
        if host and "{" not in host:
            rate = Rate(each.requests_per_second, each.burst)
            rates[host] = min(rate, rates.get(host, rate))
    return tuple(sorted(rates.items()))


AUTO, NONE, _WEB, _FIRST_FOR = "auto", "none", "web", "first_for"


def strategies() -> dict[str, str]:
    """Return all strategies with their purposes; `auto` is of all of them."""
    told = {name: entry["purpose"] for name, entry in _data().items() if name not in (_WEB, _FIRST_FOR)}
    return told | {
        AUTO: "A model chooses among all sources; without one those of every strategy that fits the question are searched.",
        NONE: "No web source: documents and tools alone.",
    }


def strategy_sources(
    name: str,
    question_language: str = "en",
    ready: Collection[str] | None = None,
    *,
    question: str = "",
    whole: bool = False,
) -> tuple[str, ...]:
    """Return the sources of a strategy in order of trust, general web search last.

    `ready` are those that can be used (None: all). `auto` has those of the strategies that fit `question`, and with
    `whole` all others behind them. Raises ConfigError for an unknown strategy.
    """
    names = fitting_strategies(question) if name == AUTO else [name]
    if name == AUTO and whole:
        names += [other for other in strategies() if other not in (AUTO, NONE)]
    if name not in strategies():
        raise ConfigError(f"no strategy {name!r}; there are: {', '.join(strategies())}", setting="strategy", value=name)
    if name == NONE:
        return ()
    own = [source for one in names for source in _first(one, question_language, _data()[one]["sources"])]
    web = _first(_WEB, question_language, _data()[_WEB]["sources"])
    ordered = dict.fromkeys([*own, *web])
    return tuple(source for source in ordered if ready is None or source in ready)


def fitting_strategies(question: str) -> list[str]:
    """Return strategies by the number of their words in the question, or `general`."""
    asked = question.lower()
    counts = {name: sum(_says(asked, word) for word in entry.get("words", ())) for name, entry in _data().items()}
    said = [name for name in counts if counts[name]]
    return sorted(said, key=lambda name: -counts[name]) or ["general"]


def _says(question: str, word: str) -> bool:
    if max(word) > "\u02ff":  # signs that are no letters of an alphabet: words have no borders
        return word in question
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", question) is not None


def _first(name: str, language: str, sources: list[str]) -> list[str]:
    preferred = _data().get(_FIRST_FOR, {}).get(language, {}).get(name, [])
    return [*preferred, *(source for source in sources if source not in preferred)]


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads((resources.files("deep_research.sources") / "strategies.toml").read_text("utf-8"))
