"""Carry out the arithmetic that a writer asks for, over figures of passages and of the question, and write it into a text."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from deep_research.data import Computation, Verdict
from deep_research.i18n.catalog import bracket, colon_of, phrase, verdict_of
from deep_research.i18n.language import CJK, fit_particle
from deep_research.ports import Library
from deep_research.verification.computations import QUESTION, ComputationError, Result, carry_out
from deep_research.verification.drafts import PLACEHOLDER

_CLOSED_UP = re.compile(rf"^(-?\d[\d.,]*)(?=[{CJK}])")
"""A figure with an ideograph as its unit right behind it."""
_NO_COMPUTATION = verdict_of("unverified", "computation_missing")


class Worked(NamedTuple):
    """A text with the results of arithmetic in it, the passages of their operands, and whether figures of the question are
    among these."""

    text: str
    passages: tuple[str, ...]
    is_own: bool


def with_results(text: str, results: Mapping[str, Result | ComputationError], language: str) -> Worked | Verdict:
    """Return a text with the result and its working in place of each {k1}; the verdict on it where one cannot be shown."""
    used: list[str] = []
    is_own, told = False, text
    for name in dict.fromkeys(PLACEHOLDER.findall(text)):
        result = results.get(name)
        if not isinstance(result, Result):
            return verdict_of("unverified", result.code, score=None, **result.values) if result else _NO_COMPUTATION
        shown = worked_out(result, language, told)
        if not phrase("sentence_space", language) and re.search(rf"[{CJK}] \{{{name}\}}", text):
            shown = _CLOSED_UP.sub(r"\1 ", shown)  # set as the writer sets figures
        gap = f"(?: (?=[{CJK}]))?" if shown.endswith("）") else ""  # a wide bracket brings its own space
        unit = result.value.lstrip("-0123456789., ")
        # A writer may have set the unit behind the figure as well.
        said = rf"(?:\s?{re.escape(unit)}(?![A-Za-z]))?" if unit else ""
        before, *behind = re.split(rf"\{{{name}\}}{said}{gap}", text)
        fits = (fit_particle(result.value, part) for part in behind) if language == "ko" else behind
        text = "".join([before, *(f"{shown}{part}" for part in fits)])
        used += result.passages
        is_own |= result.is_own
    return Worked(text, tuple(dict.fromkeys(used)), is_own)


def worked_out(result: Result, language: str, told: str = "") -> str:
    """Return a result with its working in brackets, and what it assumes but for what the text around it has `told`; a figure
    that is declared and not reckoned with stands alone."""
    if result.value.replace(" ", "") == result.working.replace(" ", ""):
        return result.value
    assumed = ", ".join(value for value in result.assumed if value not in told)
    named = f"; {phrase('assumed', language)}{colon_of(language)}{assumed}" if assumed else ""
    return f"{result.value}{bracket(f'= {result.working}{named}', language)}"


def results_of(
    computations: Sequence[Computation], library: Library, question: str
) -> dict[str, Result | ComputationError]:
    """Return the arithmetic that a writer asks for, carried out, by name."""
    return {c.name: _computed(c, library, question) for c in computations}


def computed_results(computations: Sequence[Computation], library: Library, question: str) -> str:
    """Return the results of the computations that can be carried out, with what they assume, one a line: what a report may go on
    to say."""
    results = [r for c in computations if isinstance(r := _computed(c, library, question), Result)]
    return "\n".join(said for r in results for said in (f"{r.value} ({r.working})", *r.assumed))


def _computed(computation: Computation, library: Library, question: str) -> Result | ComputationError:
    def text_of(key: str) -> str | None:
        if key == QUESTION:
            return question
        passage = library.passage(key)
        return passage.text if passage is not None else None

    try:
        return carry_out(computation, text_of)
    except ComputationError as error:
        return error
