"""Read units, scales, dates, decades and times of day, spelt as in the lexica."""

import re
from collections.abc import Callable
from decimal import Context, Decimal
from typing import NamedTuple

from claimcheck.lexicon import any_of, any_word, compile_on_use, keys_of_words, words

ALIASES = {alias.replace("_", " "): unit for alias, unit in keys_of_words("units").items()}
EXACT = {"nM": "nM", "µM": "µM", "μM": "µM", "mM": "mM", "mW": "mW", "M": "M"}
"""Ways of writing in which the case carries the meaning; looked up first."""

CURRENCIES = {
    "$": "usd", "US$": "usd", "€": "eur", "£": "gbp", "¥": "¥", "₩": "krw", "USD": "usd", "EUR": "eur", "GBP": "gbp",
    "RMB": "cny", "CNY": "cny", "JPY": "jpy", "KRW": "krw", "NT$": "twd", "HK$": "hkd", "A$": "aud", "C$": "cad",
}  # fmt: skip

BASES: dict[str, tuple[str, Decimal]] = {
    unit: (base, Decimal(factor))
    for base, members in {
        "g": {"kg": "1000", "g": "1", "mg": "0.001", "µg": "0.000001", "ng": "0.000000001", "tonne": "1000000"},
        "m": {"km": "1000", "m": "1", "cm": "0.01", "mm": "0.001", "µm": "0.000001", "nm": "0.000000001"},
        "s": {"ns": "0.000000001", "µs": "0.000001", "ms": "0.001", "s": "1", "min": "60", "h": "3600", "day": "86400"}
        | {"week": "604800"},
        "month": {"month": "1", "years": "12"},
        "byte": {"byte": "1"}
        | {f"{prefix}B": str(1000**power) for power, prefix in enumerate("KMGTP", 1)}
        | {f"{prefix}iB": str(1024**power) for power, prefix in enumerate("KMGTP", 1)},
        "Mbps": {"Mbps": "1", "Gbps": "1000"},
        "Hz": {"Hz": "1", "kHz": "1000", "MHz": "1000000", "GHz": "1000000000"},
        "W": {"mW": "0.001", "W": "1", "kW": "1000", "MW": "1000000", "GW": "1000000000"},
        "m²": {"km²": "1000000", "ha": "10000", "m²": "1", "cm²": "0.0001"},
        "L": {"km³": "1000000000000", "m³": "1000", "L": "1", "mL": "0.001", "cm³": "0.001", "µL": "0.000001"},
        "M": {"M": "1", "mM": "0.001", "µM": "0.000001", "nM": "0.000000001"},
    }.items()
    for unit, factor in members.items()
}
"""Units of one dimension as multiples of one base, so that 0.5 g is 500 mg."""

SCALES = {name: Decimal(10) ** int(power) for name, power in keys_of_words("scales").items()}
SUFFIXES = {"k": 3, "K": 3, "M": 6, "m": 6, "B": 9, "b": 9, "T": 12}
"""One-letter scales written against the number: 10k, 7B. `m` is million after a currency sign only."""

WORDS = {word: value for value, word in enumerate(words("numbers.cardinals", "en"))} | {
    word: 10 * value for value, word in enumerate(words("numbers.tens", "en"), 2)
}
ORDINALS = {word: value for value, word in enumerate(words("numbers.ordinals", "en"), 3)}
MONTHS = {name: int(number) for name, number in keys_of_words("months").items()}

_UNIT_WORD = compile_on_use(
    rf"[ -]?(?P<unit>{any_of({*ALIASES, *map(str.lower, EXACT)})})(?:(?<![a-z0-9])|(?![a-z0-9]))",
    re.IGNORECASE | re.ASCII,
)
_PER = re.compile(
    rf" ?(?:/|per ) ?(?P<of>[A-Za-zµμ]{{1,10}}\d?|{any_word('dates.per_patterns')})(?![A-Za-z])",
    re.IGNORECASE | re.ASCII,
)


class Quantity(NamedTuple):
    """A value with its canonical unit at `text[start:end]`.

    `unit` is "" for a plain count; "year", "yearmonth", "date", "decade", "ordinal" and "clock" are kinds
    of their own, with values such as 2024, 202405 and 20240501. `bound` is "~", ">" or "<" where the
    text says about, more than or less than.
    """

    value: Decimal
    unit: str
    start: int
    end: int
    bound: str = ""


def unit_at(text: str, end: int) -> tuple[str, int]:
    """Return the canonical unit at `end` and its end offset; "" without a unit."""
    match = _UNIT_WORD.match(text, end)
    if match is None:
        return "", end
    written = match["unit"]
    unit = EXACT.get(written) or ALIASES.get(written.lower(), "")
    if len(written) == 1 and (
        text[end] == "-" or (unit == "times" and text[match.end() : match.end() + 2].lstrip()[:1].isdigit())
    ):
        return "", end  # 5-m, 3 × 200
    end = match.end()
    while per := _PER.match(text, end):
        divisor = ALIASES.get(per["of"].lower()) or ("" if "/" in unit or "/" not in per[0] else per["of"])
        if not divisor:
            break
        unit, end = f"{unit}/{divisor}", per.end()
    return unit, end


Make = Callable[[re.Match[str], str], Quantity | None]
"""Makes a quantity of a match in a text, or None where it is no number after all."""
_YEAR_MARK, _MONTH_MARK, _DAY_MARK = (any_word(f"dates.{part}_marks") for part in ("year", "month", "day"))
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
DATES = compile_on_use(
    r"(?<!\d)(?P<y1>[12]\d{3})(?:[-/]|\. ?)(?P<m1>\d{1,2})(?:[-/]|\. ?)(?P<d1>\d{1,2})(?!\d)"
    rf"|(?<!\d)(?P<y2>[12]\d{{3}}) ?{_YEAR_MARK} ?(?P<m2>\d{{1,2}}) ?{_MONTH_MARK}(?: ?(?P<d2>\d{{1,2}}) ?{_DAY_MARK})?"
    rf"|\b(?P<n3>{_MONTH})\b\.? (?:the )?(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?:,? ?(?P<y3>[12]\d{{3}})|(?=(?: ?[-–] ?| to | and )\d{{1,2}},? (?P<y10>[12]\d{{3}})))?(?!\d|\.\d|,\d{{3}}|%)"
    rf"|(?<![\d.,])(?P<d4>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)?[ -](?P<n4>{_MONTH})\b\.?(?:(?:,? |-)(?P<y4>[12]\d{{3}})(?!\d))?"
    rf"|\b(?P<n5>{_MONTH})\b\.?,? (?:of )?(?P<y5>[12]\d{{3}})(?!\d)"
    r"|(?<!\d)(?P<y6>[12]\d{3})-(?P<m6>0[1-9]|1[0-2])(?![\d-])"
    rf"|(?<!\d)(?P<m7>\d{{1,2}}) ?{_MONTH_MARK} ?(?P<d7>\d{{1,2}}) ?{_DAY_MARK}"
    r"|(?<![\d.])(?P<d8>\d{1,2})\. ?(?P<m8>\d{1,2})\. ?(?P<y8>[12]\d{3})(?!\d|\.\d)"
    r"|(?<![\d.])(?P<y7>[12]\d{3})\. ?(?P<m10>1[0-2]|0?[1-9])\.(?! ?\d)"
    r"|(?<![\d/])(?P<m9>\d{1,2})/(?P<d9>\d{1,2})/(?P<y9>[12]\d{3})(?![\d/])",
    re.IGNORECASE | re.ASCII,
)
_CENTURY, _YEARS = any_word("dates.century_patterns"), any_word("dates.decade_patterns")
DECADES = re.compile(
    rf"(?<!\w)(?P<d>[12]\d{{2}}0)['’]?s\b|(?:(?P<c>\d{{2}}){_CENTURY})?(?<!\d)(?P<x>\d0){_YEARS}", re.ASCII
)
CLOCKS = re.compile(r"(?<![\d:])(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)(?![\d:])")


def _date(match: re.Match[str], text: str) -> Quantity | None:
    part = {key[0]: value for key, value in match.groupdict().items() if value}
    month = MONTHS[part["n"].lower()] if "n" in part else int(part.get("m", 0))
    year, day = int(part.get("y", 0)), int(part.get("d", 0))
    if match["m9"] and month > 12:
        month, day = day, month  # 24/12/2026
    if not 1 <= month <= 12 or day > 31 or part.get("n") in ("may", "march", "mar", "sep", "dec", "jan"):
        return None  # "may 5" in running text is a verb
    value = year * 10000 + month * 100 + day if day else year * 100 + month
    return Quantity(Decimal(value), "date" if day else "yearmonth", match.start(), match.end())


def _decade(match: re.Match[str], text: str) -> Quantity | None:
    years = int(match["d"] or match["x"])
    century = int(match["c"]) - 1 if match["c"] else (20 if years < 30 else 19)
    return Quantity(Decimal(years if match["d"] else century * 100 + years), "decade", match.start(), match.end())


def _clock(match: re.Match[str], text: str) -> Quantity | None:
    return Quantity(Decimal(int(match["h"]) * 100 + int(match["m"])), "clock", match.start(), match.end())


DATE_EXTRACTORS: tuple[tuple[re.Pattern[str], Make], ...] = ((DATES, _date), (DECADES, _decade), (CLOCKS, _clock))
CALENDAR = ("year", "yearmonth", "date")


def same_date(claim: Quantity, there: Quantity) -> bool:
    """Return whether two calendar quantities agree.

    A claim may be less exact than the evidence (2024 for May 2024), never more.
    """
    wanted, given = (date_parts(q) for q in (claim, there))
    if given[0] == 0:  # a day without its year agrees with the same day of any year
        return wanted[1:] == given[1:]
    return all(w in (0, g) for w, g in zip(wanted, given, strict=True))


def date_parts(quantity: Quantity) -> tuple[int, int, int]:
    """Return year, month and day of a calendar quantity; 0 for what it does not say."""
    value, day, month = int(quantity.value), 0, 0
    if quantity.unit == "date":
        value, day = divmod(value, 100)
    if quantity.unit in ("date", "yearmonth"):
        value, month = divmod(value, 100)
    return value, month, day


MONEY = frozenset({"usd", "eur", "gbp", "cny", "jpy", "krw", "¥"})
KINDS = frozenset({"year", "yearmonth", "date", "decade", "ordinal", "clock", "fraction"})
PERIODS = frozenset({"s", "month"})


_EXACT_TO = Context(prec=20)
"""Digits in which two values are compared: a seventh of 35 is 5."""


def _in_base(unit: str) -> tuple[str, Decimal]:
    """Return the base of a unit or of a rate, and how many of it one is."""
    if "/" not in unit:
        return BASES.get(unit, (unit, Decimal(1)))
    of, per = (_in_base(part) for part in unit.rsplit("/", 1))
    return f"{of[0]}/{per[0]}", of[1] / per[1]


def in_base(quantity: Quantity) -> tuple[Decimal, str]:
    """Return a quantity in its base unit: 500 mg is 0.5 g, km/h is in m/s."""
    base, factor = _in_base(quantity.unit)
    return _EXACT_TO.multiply(quantity.value, factor), base


def is_same_size(claim: Quantity, there: Quantity) -> bool:
    """Return whether data sizes agree in decimal or binary units: 256 MB is 0.25 GB."""
    powers = ["byte", "KB", "MB", "GB", "TB", "PB"]
    if claim.unit not in powers or there.unit not in powers:
        return False
    return claim.value == there.value * Decimal(1024) ** (powers.index(there.unit) - powers.index(claim.unit))
