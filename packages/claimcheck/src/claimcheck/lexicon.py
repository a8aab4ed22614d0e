"""Word lists and patterns by language: `lexicon_data/LANGUAGE.toml`, read lazily.

A new language is a new file there. A name is dotted (`reference.things`). A list whose name ends in `patterns` holds
fragments of regular expressions; all others hold plain words.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, cast

_FOLDER = files("claimcheck").joinpath("lexicon_data")


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages that have a lexicon, English first."""
    found = (file.name for file in _FOLDER.iterdir())
    codes = (name.removesuffix(".toml") for name in found if name.endswith(".toml"))
    return tuple(sorted(codes, key=lambda code: (code != "en", code)))


@cache
def _tables(language: str) -> Mapping[str, Any]:
    if language not in languages():
        return {}
    return tomllib.loads(_FOLDER.joinpath(f"{language}.toml").read_text("utf-8"))


def entry(name: str, language: str) -> Any:
    """Return the lexicon value of `language` at a dotted name; None if missing."""
    value: Any = _tables(language)
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


@cache
def words(name: str, language: str = "") -> tuple[str, ...]:
    """Return a list's unique entries for `language`, or for all; a text is split."""
    found: list[str] = []
    for code in (language,) if language else languages():
        value = entry(name, code) or ()
        found += value.split() if isinstance(value, str) else value
    return tuple(dict.fromkeys(found))


@cache
def table(name: str) -> Mapping[str, Any]:
    """Return a table merged over all languages; the first language with a key wins."""
    return {key: value for code in reversed(languages()) for key, value in (entry(name, code) or {}).items()}


def any_of(parts: Iterable[str], *, literal: bool = True) -> str:
    """Return a regex fragment for any of `parts`, preferring the longest match.

    `literal` escapes them; without it they are fragments, tried in the order given. No parts match nothing.
    """
    listed = [re.escape(part) for part in sorted(parts, key=len, reverse=True)] if literal else list(parts)
    return f"(?:{'|'.join(listed)})" if listed else r"(?!)"


@dataclass(unsafe_hash=True)
class _CompiledOnUse:
    """A `re.Pattern` compiled at first use; equal for the same expression and flags."""

    _expression: str
    _flags: re.RegexFlag

    def __getattr__(self, name: str) -> Any:
        """Compile the expression and return what `name` is of it. Raises AttributeError."""
        value = getattr(re.compile(self._expression, self._flags), name)
        setattr(self, name, value)
        return value


def compile_on_use(expression: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return an expression that is compiled when its first text is looked at.

    For those that many runs never use: ranges of thousands of characters take milliseconds each.
    """
    return cast("re.Pattern[str]", _CompiledOnUse(expression, flags))


def any_word(name: str, language: str = "") -> str:
    """Return a regex fragment for any entry of a list; see `words` and `any_of`."""
    return any_of(words(name, language), literal=not name.endswith("patterns"))


def keys_of_words(name: str) -> dict[str, str]:
    """Return the key under which each word stands in the tables of all languages."""
    return {word: key for key, listed in groups(name).items() for text in listed for word in text.split()}


@cache
def groups(name: str) -> Mapping[str, tuple[Any, ...]]:
    """Return a table merged over all languages: each key with one value per language."""
    found: dict[str, tuple[Any, ...]] = {}
    for code in languages():
        for key, value in (entry(name, code) or {}).items():
            found[key] = (*found.get(key, ()), value)
    return found
