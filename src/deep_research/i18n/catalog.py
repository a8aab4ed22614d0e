"""Say the program's own sentences in the language of a report or a screen: `messages/LANGUAGE.toml`.

Everything a report says that was not read in a source comes from there. A new language is a new file; what it does
not say yet is said in English.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from deep_research.i18n.language import language_name

_FOLDER = "messages"


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages that have messages, English first."""
    names = (file.name for file in files("deep_research.i18n").joinpath(_FOLDER).iterdir())
    codes = (name.removesuffix(".toml") for name in names if name.endswith(".toml"))
    return tuple(sorted(codes, key=lambda code: (code != "en", code)))


@cache
def messages(language: str) -> Mapping[str, str]:
    """Return the messages of a language by name; English for a language without any."""
    code = language if language in languages() else "en"
    text = files("deep_research.i18n").joinpath(_FOLDER, f"{code}.toml").read_text("utf-8")
    return {name: said for group in tomllib.loads(text).values() for name, said in group.items()}


def names() -> frozenset[str]:
    """Return the names of all messages."""
    return frozenset(messages("en"))


def phrase(name: str, language: str, /, **values: object) -> str:
    """Return the message `name` in `language` (English where we have none), filled with `values`.

    Raises KeyError for an unknown name or a missing value.
    """
    found = messages(language)
    return (found if name in found else messages("en"))[name].format(**values)


def join_sentences(sentences: Iterable[str], language: str) -> str:
    """Return sentences as running text: Chinese and Japanese set no space between them."""
    return phrase("sentence_space", language).join(sentences)


def join_list(parts: Iterable[str], language: str) -> str:
    """Return parts that may be sentences or not as one line."""
    return phrase("list_separator", language).join(part.strip().rstrip(".。；;") for part in parts)


def bracket(text: str, language: str) -> str:
    """Return a remark in brackets, with the space before it that the language sets."""
    return phrase("brackets", language, text=text)


def colon_of(language: str) -> str:
    """Return a colon with the space after it that the language sets."""
    return phrase("colon", language)


def bold_heading(name: str, language: str) -> str:
    """Return the message `name` as the bold beginning of a line.

    A colon without a space after it stays outside: CommonMark ends no emphasis between a mark and a letter.
    """
    mark = colon_of(language)
    inside = mark.rstrip() if mark != mark.rstrip() else ""
    return f"**{phrase(name, language)}{inside}**{mark[len(inside) :]}"


def list_languages(codes: Iterable[str]) -> str:
    """Return languages by their own names, for a message."""
    return ", ".join(language_name(code) for code in codes)
