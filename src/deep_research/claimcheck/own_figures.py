"""Figures of the writer's own that need no source: words of language, numbers of steps, a half or double of what is known."""

import re
from collections.abc import Mapping
from decimal import Decimal

from deep_research.claimcheck.numbers import same
from deep_research.i18n.lexicon import any_word
from deep_research.text.quantities import quantities
from deep_research.text.units import Quantity

_MOST_STEPS, _SMALL = 20, 10
_FACTORS: Mapping[str, Decimal] = {
    "half": Decimal(1) / 2,
    "third": Decimal(1) / 3,
    "quarter": Decimal(1) / 4,
    "double": Decimal(2),
}
_FACTOR_WORDS = {name: re.compile(any_word(f"numbers.{name}_patterns"), re.IGNORECASE) for name in _FACTORS}
_AND = rf"(?:[,，、~～–-]|{any_word('numbers.step_joined_patterns')})"
_STEP_BEFORE = re.compile(
    rf"(?:{any_word('numbers.step_before_patterns')})(?:\s?\d{{1,2}}\s?{_AND})*\s?$", re.IGNORECASE
)
_STEP_BEHIND = re.compile(rf"(?:\s?{_AND}\s?\d{{1,2}})*\s?(?:{any_word('numbers.step_behind_patterns')})")
"""Of several numbers the word stands before the first or behind the last: "steps 1 to 3", "1～3단계"."""


_PERCENTILE = re.compile(rf"\d+\s?(?:{any_word('numbers.percentile_patterns')})", re.IGNORECASE)
"""What makes a name of the number before it: "the 95th percentile"."""
_EXAMPLE_BEFORE = re.compile(rf"(?:{any_word('numbers.example_before_patterns')})\W*$", re.IGNORECASE)
_EXAMPLE_BEHIND = re.compile(rf"\W*(?:{any_word('numbers.example_behind_patterns')})")
_NO_DAY = re.compile(r"(?:1900-01-01|1970-01-01|9999-12-31|0001-01-01)\b")
"""Days that stand for none in a table of data."""


def written_quantities(text: str) -> list[Quantity]:
    """Return what is written in digits or has a unit: "both", "twice" and "the first two" are language, not figures. A bare 0
    or 1 is none either, with a minus or without, nor is the number of a step of the report or of a percentile."""
    return [
        q
        for q in quantities(text)
        if (q.unit not in ("", "ordinal", "times") or re.search(r"\d", text[q.start : q.end]))
        and not (abs(q.value) <= 1 and q.value == int(q.value) and not q.unit and not q.bound)
        and not is_step(text, q)
        and not _PERCENTILE.match(text, q.start)
    ]


def is_example_day(text: str, day: Quantity) -> bool:
    """Tell whether a date in figures shows how dates are written ("text such as 2025-03"), or stands for no day."""
    written = text[day.start : day.end]
    if day.unit not in ("yearmonth", "date") or not re.fullmatch(r"\s*\d{4}[-/]\d{1,2}(?:[-/]\d{1,2})?\s*", written):
        return False
    is_shown = _EXAMPLE_BEFORE.search(text[: day.start]) or _EXAMPLE_BEHIND.match(text, day.end)
    return bool(is_shown or _NO_DAY.match(written.strip()))


def is_small(number: Quantity) -> bool:
    """Tell whether a number is a bare count of at most ten, as one starts with or compares to ("from 2 workers on")."""
    return not number.unit and number.value == int(number.value) and abs(number.value) <= _SMALL


def is_step(text: str, number: Quantity) -> bool:
    """Tell whether a number names a step or point of the report ("step 3", "points 1 to 3", "3단계")."""
    if number.unit not in ("", "ordinal") or number.value > _MOST_STEPS:
        return False
    before, behind = text[: number.start].rstrip(), text[number.end :].lstrip()
    return bool(_STEP_BEFORE.search(before) or _STEP_BEHIND.match(behind))


def is_part_of(figure: Quantity, text: str, known: str) -> bool:
    """Tell whether a text says of a figure that it is half, a third, a quarter or double of another one in it that is `known`:
    "150 seconds, half of the five minutes"."""
    named = [factor for name, factor in _FACTORS.items() if _FACTOR_WORDS[name].search(text)]
    if not named:
        return False
    there = quantities(known)
    others = [q for q in quantities(text) if q.start != figure.start and any(same(q, other, known) for other in there)]
    return any(same(figure, other._replace(value=other.value * factor), text) for other in others for factor in named)


def renumbered(text: str, numbers: Mapping[int, int]) -> str:
    """Return a text in which steps of the report that it names have the numbers they have now, by the ones they had."""
    for number in reversed([q for q in quantities(text) if is_step(text, q)] if numbers else []):
        written = text[number.start : number.end]
        new = numbers.get(int(number.value))
        if new is not None and written.strip().isdigit():
            text = text[: number.start] + written.replace(written.strip(), str(new)) + text[number.end :]
    return text


_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_SUM = re.compile(rf"({_NUMBER}(?:\s?[-+−×*÷/]\s?{_NUMBER})+)\s?[=≈]\s?({_NUMBER})")
_SIGNS = re.compile(r"\s?([-+−×*÷/])\s?")


def without_true_sums(text: str) -> str:
    """Return a text without the sums written out in it that are right ("3 × 200 = 600"): whoever reads them can follow. A result may
    be rounded to the digits it has."""
    return _SUM.sub(lambda found: " " if _is_right(found[1], found[2]) else found[0], text)


def _is_right(terms: str, result: str) -> bool:
    first, *rest = _SIGNS.split(terms.replace(",", ""))
    parts = [Decimal(first)]
    for sign, number in zip(rest[::2], rest[1::2], strict=True):
        value = Decimal(number)
        if sign in "×*":
            parts[-1] *= value
        elif sign in "÷/":
            if not value:
                return False
            parts[-1] /= value
        else:
            parts.append(value if sign == "+" else -value)
    told = Decimal(result.replace(",", ""))
    digits = -int(told.as_tuple().exponent)
    return abs(sum(parts) - told) <= Decimal(10) ** -digits / 2
