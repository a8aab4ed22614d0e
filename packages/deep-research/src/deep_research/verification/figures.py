"""Find a statement's numbers, amounts and dates that no text has in any notation."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from claimcheck.language import detect
from claimcheck.lexicon import any_of, any_word, compile_on_use, entry, groups
from claimcheck.numbers import is_within
from claimcheck.text.kept_readings import keep_readings
from claimcheck.text.measures import CALENDAR, MONTHS, Quantity, date_parts, in_base, is_same_size, same_date
from claimcheck.text.names import amounts
from claimcheck.text.quantities import is_step, quantities
from claimcheck.text.tokens import normalise
from deep_research.text.code_spans import is_within as stands_within
from deep_research.verification.arithmetic import agrees, evaluate

_REACH = Decimal("1.1")
"""Up to which multiple "more than 1,000" is a fair account."""
_COUNTED = 2
"""Up to so many things an author counts in words: "three ways" is no figure of a source."""
_DIGITS = re.compile(r"\d[\d,.]*\d|\d")
_SUM = re.compile(
    r"(?P<terms>(?<![\d,.])[\d,.]++\s?\S{0,3}(?:\s?[-+−×*÷/]\s?[\d,.]++\s?[%\w]{0,3}){1,6})\s?[=≈]\s?(?P<result>[\d,.]+)"
)
_LABEL = re.compile(
    r"(?:\A|(?<=[;:,.。；：，]\s)|(?<=[；：，。]))[(（\[#]?\d{1,3}(?:\.\d{1,2}){0,3}(?:[)）\]、]|[.:：](?=\s)|\s(?=\|))"
)
_KEY = re.compile(r"\A[^|\d]{0,40}\d{1,2}\s\|")
"""A number that begins a point ("2) …", "(2) …"), and one that ends the first cell of a row: keys of the author's own."""
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/([12]\d{3})(?![\d/])")
_OTHER_MARKS = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,(?!\d{3}(?!\d))\d+)(?![.,]?\d)")
"""Numbers as half of Europe writes them: 2.400 is two thousand four hundred, 2,5 is two and a half."""
_SWAPPED = str.maketrans(".,", ",.")
_MONTH = compile_on_use(
    rf"(?<!\w){any_of(name.capitalize() for name in MONTHS)}(?!\w)"
    rf"|(?<![\d.~–-])(?:1[0-2]|[1-9])(?= ?{any_word('dates.month_marks')})"
)
_VERBS = ("May", "Mar", "Jan", "Sep", "Dec")
"""Months that begin a sentence, or name somebody, as often."""
YEAR_PARTS = {
    part: compile_on_use(any_of(how, literal=False), re.IGNORECASE) for part, how in groups("year_parts").items()
}


class MissingFigure(NamedTuple):
    """A figure that stands in none of the texts: `written` as it is in the statement.

    `there` is how its number stands in the texts with another unit, "" where it does not.
    """

    written: str
    is_date: bool
    there: str = ""


class _Figures:
    """All figures of one text, for comparison."""

    def __init__(self, text: str) -> None:
        found = [q for read in _readings(text) for q in quantities(read)]
        self.text = text
        self.dates = [q for q in found if q.unit in CALENDAR]
        self.dates += _lone_months(text, self.dates)
        self.parts = {part for part, how in YEAR_PARTS.items() if how.search(text)}
        self.dates += _day_first(text)
        self.amounts = [q for q in found if q.unit not in CALENDAR]
        self.values = {q.value for q in found}
        self.bare = {q.value for q in found if q.unit in ("", "ordinal", "year")}
        plain = normalise(text)
        self.digits = {written.replace(",", "") for written in _DIGITS.findall(plain)}
        self.runs = {part for run in re.findall(r"\d+", plain) for part in (run, run.lstrip("0"))}  # 360 of bip-0360


def _readings(text: str) -> list[str]:
    """Return a text with English numbers, in both readings for unknown notations."""
    swapped = _OTHER_MARKS.sub(lambda number: number[0].translate(_SWAPPED), text)
    if swapped == text or entry("numbers.decimal_mark", detect(text)) == ",":
        return [swapped]
    return [text, swapped]


def _lone_months(text: str, dates: Sequence[Quantity]) -> list[Quantity]:
    """Return the months that stand in none of the dates of a text."""
    spans = sorted((date.start, date.end) for date in dates)
    alone = [m for m in _MONTH.finditer(text) if not stands_within(spans, m.start())]
    return [Quantity(Decimal(MONTHS.get(m[0].lower()) or m[0]), "yearmonth", *m.span()) for m in alone]


def _day_first(text: str) -> list[Quantity]:
    """Return the dates that may be read day first: 12/11/2026 as 12 November."""
    dates = (int(year) * 10000 + int(month) * 100 + int(day) for day, month, year in _SLASHED.findall(text))
    return [Quantity(Decimal(date), "date", 0, 0) for date in dates]


_figures_of = keep_readings(1024)(_Figures)
"""A passage is read once for all statements that cite it."""


def missing_figures(statement: str, texts: Sequence[str]) -> list[MissingFigure]:
    """Return the figures of `statement` found in no text, in order, each once.

    A number without a unit is there where any number with that value is; a unit may be another of its dimension (0.5 g
    for 500 mg). Numbers of steps and sections, of points and rows, small counts in words, results of sums that the
    statement writes out and numbers of names are no figures of a source.
    """
    known = [_figures_of(text) for text in texts]
    aside = [*_right_sums(statement), *(m.span() for label in (_LABEL, _KEY) for m in label.finditer(statement))]
    missing: dict[str, MissingFigure] = {}
    text, *others = _readings(statement)
    for start, end in _missing_times(statement, known):
        aside.append((start, end))
        missing[statement[start:end]] = MissingFigure(statement[start:end], is_date=True)
    for figure in amounts(text):
        written = statement[figure.start : figure.end].strip()
        if _is_own(statement, figure, written) or any(start <= figure.start < end for start, end in aside):
            continue
        readings = [figure, *(_day_first(written) if figure.unit == "date" else ())]
        readings += [q for other in others for q in amounts(other) if q.start < figure.end and figure.start < q.end]
        shown = text[figure.start : figure.end].strip()
        if not any(_has(one, read, shown) for one in known for read in readings) and not _is_dated(figure, known):
            is_date = figure.unit in CALENDAR
            missing.setdefault(written, MissingFigure(written, is_date, "" if is_date else _elsewhere(figure, known)))
    return sorted(missing.values(), key=lambda one: statement.find(one.written))


def _missing_times(statement: str, known: Sequence[_Figures]) -> Iterator[tuple[int, int]]:
    """Yield the spans of lone months, quarters and halves where texts have others."""
    there = {date_parts(q)[1:] for one in known for q in one.dates}
    months = {month for month, _day in there if month}
    for lone in _lone_months(statement, [q for q in quantities(statement) if q.unit in CALENDAR]):
        if months and int(lone.value) not in months and statement[lone.start : lone.end] not in _VERBS:
            yield lone.start, lone.end
    parts = {part for one in known for part in one.parts}
    for part, how in YEAR_PARTS.items():
        ends = int(part[1:]) * (3 if part[0] == "q" else 6)
        if part not in parts and {other[0] for other in parts} >= {part[0]} and not {(ends, 30), (ends, 31)} & there:
            yield from (written.span() for written in how.finditer(statement))


def _is_own(statement: str, figure: Quantity, written: str) -> bool:
    """Tell whether a figure is the author's: a step, small count or ordinal in words."""
    if is_step(statement, figure):
        return True
    has_digits = any(char.isdigit() for char in written)
    return not has_digits and (figure.unit == "ordinal" or (not figure.unit and figure.value <= _COUNTED))


def _right_sums(statement: str) -> Iterator[tuple[int, int]]:
    """Yield where results stand of sums written out that are right: "200 × 8% = 16"."""
    for written in _SUM.finditer(statement) if re.search("[=≈]", statement) else ():
        value = evaluate(re.sub(r"[^\W\d]{1,3}$", "", written["terms"]))
        if value is not None and agrees(written["result"], value):
            yield written.span("result")


def _has(known: _Figures, figure: Quantity, written: str) -> bool:
    """Tell whether a text has a figure."""
    if figure.unit in CALENDAR:
        has_year = date_parts(figure)[0] > 0
        if any(same_date(figure, other) and (date_parts(other)[0] or not has_year) for other in known.dates):
            return True
        return figure.unit == "year" and (str(figure.value) in known.runs or figure.value in known.bare)
    if figure.unit == "decade":
        is_dated = any(date_parts(other)[0] // 10 == int(figure.value) // 10 for other in known.dates)
        return is_dated or figure.value in known.values or str(figure.value) in known.runs
    if figure.unit in ("", "ordinal", "fraction", "clock"):
        plain = normalise(written).replace(",", "")
        if "." in plain and any(written.startswith(f"{plain}.") for written in known.digits):
            return True  # 3.11 of 3.11.2
        if figure.value in known.values or plain in known.digits or (plain.isdigit() and plain in known.runs):
            return True
        if not figure.unit and figure.value * 100 in {q.value for q in known.amounts if q.unit == "%"}:
            return True
    return figure.value in known.bare or any(_is_same(figure, o) for o in known.amounts)  # bare: what may be a year too


def _is_dated(figure: Quantity, known: Sequence[_Figures]) -> bool:
    """Tell whether the texts have a date in two pieces: a day or month, and the year."""
    year, month, day = date_parts(figure) if figure.unit in ("date", "yearmonth") else (0, 0, 0)
    pieces = (date_parts(other) for one in known for other in one.dates)
    is_there = any(not piece[0] and piece[1] == month and day in (0, piece[2]) for piece in pieces)
    return is_there and year > 0 and any(str(year) in one.runs for one in known)


def _is_same(figure: Quantity, other: Quantity) -> bool:
    """Tell whether two amounts agree in value and unit; no unit agrees with any."""
    (value, base), (other_value, other_base) = in_base(figure), in_base(other)
    if is_same_size(figure, other):
        return True
    if base == other_base:
        return _is_close(value, other_value, figure)
    units = {figure.unit, other.unit}
    if "" in units or units <= {"%", "pp"} or units <= {"¥", "cny", "jpy"}:
        is_share = units == {"%", ""} and figure.unit == "%" and figure.value == other.value * 100
        return is_share or _is_close(figure.value, other.value, figure)
    is_part = base.startswith(f"{other_base}/") or other_base.startswith(f"{base}/")
    return is_part and _is_close(figure.value, other.value, figure)


def _is_close(value: Decimal, other: Decimal, figure: Quantity) -> bool:
    """Tell whether a value is the other: the same, about the same, or as rounded."""
    value, other = abs(value), abs(other)
    if value == other or figure.bound:
        return value == other or is_within(figure.bound, value, other, _REACH)
    digits = value.normalize().as_tuple()
    if len(digits.digits) < 2 or other == 0 or abs(value) == int(abs(value)) < 1_000_000:
        return False
    return abs(value - other) * 2 <= Decimal(1).scaleb(int(digits.exponent))  # 1.2 million for 1,234,567


def _elsewhere(figure: Quantity, known: Sequence[_Figures]) -> str:
    """Return how the number of a figure stands in the texts, with another unit."""
    there = (one.text[q.start : q.end].strip() for one in known for q in one.amounts if q.value == figure.value)
    return next(there, "")
