"""Render the program's own sentences in a language, by `messages/LANGUAGE.toml`.

A new language is a new file; what it does not say yet is said in English. Verdicts and gaps are made once as names
of phrases, and said in any language.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Formatter

from claimcheck.language import detect
from claimcheck.verdict import reasons
from deep_research.data import Gap, Verdict
from deep_research.data.evidence import VerdictKind
from deep_research.errors import LimitReached, MalformedOutput, ProviderDown, ResearchError

_FILES = re.compile(r"\d+ files")


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages that have messages, English first."""
    names = (file.name for file in files("deep_research.i18n").joinpath("messages").iterdir())
    codes = (name.removesuffix(".toml") for name in names if name.endswith(".toml"))
    return tuple(sorted(codes, key=lambda code: (code != "en", code)))


@cache
def messages(language: str) -> Mapping[str, str]:
    """Return the messages of a language by name; English for a language without any."""
    code = language if language in languages() else "en"
    text = files("deep_research.i18n").joinpath("messages", f"{code}.toml").read_text("utf-8")
    own = {name: said for group in tomllib.loads(text).values() for name, said in group.items()}
    return {**reasons(code), **own}


def phrase(name: str, language: str, /, **values: object) -> str:
    """Return the message `name` in `language`, or else English, filled with `values`.

    Raises KeyError for an unknown name or a missing value.
    """
    found = messages(language)
    return (found if name in found else messages("en"))[name].format(**values)


def join_sentences(sentences: Iterable[str], language: str) -> str:
    """Join sentences to running text, with the spacing of `language`."""
    text, space = "", phrase("sentence_space", language)
    for sentence in sentences:
        text += (" " if text.endswith("]") else space if text else "") + sentence
    return text


def join_list(parts: Iterable[str], language: str) -> str:
    """Return parts that may be sentences or not as one line."""
    return phrase("list_separator", language).join(part.strip().rstrip(".。；;") for part in parts)


_STEPS = frozenset(
    "intake discovery plan review coverage supervision report judge verifier comparison revision model ranking".split()
)


def verdict_of(kind: VerdictKind, /, *codes: str, **values: str) -> Verdict:
    """Return a verdict whose reason are the phrases `codes`, filled with `values`."""
    return Verdict(kind=kind, reason=_said(codes, "en", values), codes=codes, values=values)


def gap_of(what: str, /, *codes: str, source: str = "", **values: str) -> Gap:
    """Return a gap with the phrases `codes`, one sentence each, filled with `values`."""
    return Gap(what=what, why=_said(codes, "en", values), source=source, codes=codes, values=values)


def gap_from(what: str, error: ResearchError, *codes: str, source: str = "") -> Gap:
    """Return the gap that an error leaves, with the phrases `codes` at its end."""
    if isinstance(error, LimitReached) and error.kind in ("usd", "tokens"):
        return gap_of(what, f"budget_{error.kind}", *codes, source=source, **error.amounts)
    if isinstance(error, MalformedOutput) and error.reason == "schema":
        return gap_of(what, "misfit", *codes, source=source)
    if isinstance(error, ProviderDown) and error.reason == "outage":
        return outage_gap(error.model, error.provider, error.message)
    return gap_of(what, "error", *codes, source=source, error=error.message)


def outage_gap(model: str, provider: str, error: str) -> Gap:
    """Return the gap for a model that does not answer, the same for every step."""
    return gap_of("model", "model_silent", model=model, provider=provider, error=error)


def outages(gaps: Iterable[Gap]) -> list[Gap]:
    """Return the gaps of models that did not answer; see `outage_gap`."""
    return [gap for gap in gaps if "model_silent" in gap.codes]


def explain(said: Verdict | Gap, language: str) -> str:
    """Return the reason in `language`; others' words stay, behind a word saying so."""
    text = said.reason if isinstance(said, Verdict) else said.why
    if said.codes:
        return _said(said.codes, language, said.values)
    own = isinstance(said, Verdict) or detect(text) == language
    return text if own else _unread(text, language) or phrase("error", language, error=text)


def unsayable(said: Verdict | Gap) -> str:
    """Return the first code without a phrase or with values missing, else ""."""
    return next((code for code in said.codes if not _placeholders().get(code, {""}) <= said.values.keys()), "")


@cache
def _placeholders() -> Mapping[str, frozenset[str]]:
    """Return by code which values a phrase wants; they are the same in all languages."""
    told = messages("en").items()
    return {name: frozenset(field for _, field, _, _ in Formatter().parse(text) if field) for name, text in told}


def name_subject(gap: Gap, language: str) -> str:
    """Return what a gap is about; the names of the program's own steps in `language`."""
    step, colon, rest = gap.what.partition(": ")
    together = phrase("files_together", language, count=step.removesuffix(" files"), names=rest)
    named = together if _FILES.fullmatch(step) else gap.what
    return f"{phrase(f'step_{step}', language)}{colon}{rest}" if step in _STEPS else named


@cache
def _reasons() -> Mapping[str, re.Pattern[str]]:
    """Return, by name, patterns of the English reasons why a file was not read."""

    def value(match: re.Match[str]) -> str:
        return f"(?P<{match[1]}>{'.{1,60}?' if match[1] in ('what', 'install') else r'[0-9.,]{1,12}'})"

    told = ((name, re.escape(text)) for name, text in messages("en").items() if name.startswith("unread_"))
    return {name: re.compile(re.sub(r"\\{(\w+)\\}", value, text)) for name, text in told}


def _unread(text: str, language: str) -> str:
    """Translate why a file was not read; "" for words that are not the program's own."""
    found = ((name, pattern.fullmatch(text)) for name, pattern in _reasons().items())
    return next((phrase(name, language, **match.groupdict()) for name, match in found if match), "")


def _said(codes: Sequence[str], language: str, values: Mapping[str, str]) -> str:
    return join_sentences((phrase(code, language, **values) for code in codes), language)
