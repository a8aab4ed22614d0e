"""What the program tells a reader about its own work: made once as names of phrases, said in any language.

Verdicts and gaps carry their text in English (for programs and logs) and, beside it, the phrases it is made
of; a report says them in its own language. What others said (a server's message, a model's reason) stays as
it is.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from deep_research.data import Gap, Verdict
from deep_research.data.claims import VerdictKind
from deep_research.errors import LimitReached, MalformedOutput, ProviderDown, ResearchError
from deep_research.i18n.catalog import join_sentences, phrase
from deep_research.i18n.language import detect

_STEPS: Final = (
    "intake", "analysis", "discovery", "plan", "research", "writing", "judge", "rewrite", "review", "supervision",
    "abstract", "report", "reading", "model", "ranking",
)  # fmt: skip


def verdict_of(kind: VerdictKind, /, *codes: str, score: float | None = None, **values: str) -> Verdict:
    """Return a verdict whose reason are the phrases `codes`, filled with `values`."""
    return Verdict(kind=kind, reason=_said(codes, "en", values), codes=codes, values=values, score=score)


def gap_of(what: str, /, *codes: str, source: str = "", **values: str) -> Gap:
    """Return a gap whose reason are the phrases `codes`, one sentence each, filled with `values`."""
    return Gap(what=what, why=_said(codes, "en", values), source=source, codes=codes, values=values)


def gap_from(what: str, error: ResearchError, *codes: str, source: str = "") -> Gap:
    """Return the gap that an error leaves, with the phrases `codes` after its message."""
    if isinstance(error, LimitReached) and error.kind in ("usd", "tokens"):
        return gap_of(what, f"budget_{error.kind}", *codes, source=source, **error.amounts)
    if isinstance(error, MalformedOutput) and error.reason == "schema":
        return gap_of(what, "misfit", *codes, source=source)
    if isinstance(error, ProviderDown) and error.reason == "outage":
        return outage_gap(error.model, error.provider, error.message)
    return gap_of(what, "error", *codes, source=source, error=error.message)


def outage_gap(model: str, provider: str, error: str) -> Gap:
    """Return the gap of a model that does not answer: the same for every step that asks it."""
    return gap_of("model", "model_silent", model=model, provider=provider, error=error)


def explain(said: Verdict | Gap, language: str) -> str:
    """Return why, in `language` as far as the program said it itself; others' words after a word that says so."""
    text = said.reason if isinstance(said, Verdict) else said.why
    if said.codes:
        return _said(said.codes, language, said.values)
    own = isinstance(said, Verdict) or detect(text) == language
    return text if own else phrase("error", language, error=text)


def name_subject(gap: Gap, language: str) -> str:
    """Return what a gap is about; the names of the program's own steps in `language`."""
    step, colon, rest = gap.what.partition(": ")
    return f"{phrase(f'step_{step}', language)}{colon}{rest}" if step in _STEPS else gap.what


def _said(codes: Sequence[str], language: str, values: Mapping[str, str]) -> str:
    return join_sentences((phrase(code, language, **values) for code in codes), language)
