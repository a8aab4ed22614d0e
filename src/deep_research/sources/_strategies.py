"""Retrieval strategies: which sources to ask, in order of trust. They are data (`strategies.toml`)."""

import re
import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from typing import Any

from deep_research.errors import ConfigError

AUTO = "auto"
_WEB = "web"
_FIRST_FOR = "first_for"
_CJK_WORD = re.compile(r"[^\x00-\u02ff]")


def strategies() -> dict[str, str]:
    """Return the names of all strategies with what they are for; `auto` chooses by the question."""
    told = {name: entry["purpose"] for name, entry in _data().items() if name not in (_WEB, _FIRST_FOR)}
    return told | {AUTO: "Chooses one of the others by the words of the question."}


def strategy_sources(
    name: str, question_language: str = "en", ready: Collection[str] | None = None, *, question: str = ""
) -> tuple[str, ...]:
    """Return the sources of a strategy in order of trust, general web search last.

    `ready` are the sources that can be used (None: all). `auto` decides by `question`. Raises ConfigError
    for an unknown strategy.
    """
    if name == AUTO:
        name = chosen_strategy(question)
    if name not in strategies():
        raise ConfigError(f"no strategy {name!r}; there are: {', '.join(strategies())}", setting="strategy", value=name)
    own = _first(name, question_language, _data()[name]["sources"])
    web = _first(_WEB, question_language, _data()[_WEB]["sources"])
    ordered = dict.fromkeys([*own, *(source for source in web if source not in own)])
    return tuple(source for source in ordered if ready is None or source in ready)


def chosen_strategy(question: str) -> str:
    """Return the strategy whose words are in the question most often; `general` when none are.

    Of two with as many words the earlier in `strategies.toml` is chosen.
    """
    asked = question.lower()
    counts = {name: sum(_says(asked, word) for word in entry["words"]) for name, entry in _strategies_with_words()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else "general"


def web_sources() -> tuple[str, ...]:
    """Return the general web searches, which are the last resort."""
    return tuple(_data()[_WEB]["sources"])


def _strategies_with_words() -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, entry) for name, entry in _data().items() if name != _FIRST_FOR and entry["words"]]


def _says(question: str, word: str) -> bool:
    if _CJK_WORD.search(word):
        return word in question
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", question) is not None


def _first(name: str, language: str, sources: list[str]) -> list[str]:
    preferred = _data().get(_FIRST_FOR, {}).get(language, {}).get(name, [])
    return [*preferred, *(source for source in sources if source not in preferred)]


@cache
def _data() -> Mapping[str, Any]:
    file = resources.files("deep_research.sources") / "strategies.toml"
    return tomllib.loads(file.read_text("utf-8"))
