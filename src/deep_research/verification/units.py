"""Read units of measure, scales and number words, whose ways of writing stand in the lexica."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from deep_research.i18n.lexicon import any_word, groups, words

ALIASES: dict[str, str] = {
    alias.replace("_", " "): unit
    for unit, listed in groups("units").items()
    for text in listed
    for alias in text.split()
}
"""Unit by its (lower-case) way of writing."""
EXACT = {"nM": "nM", "µM": "µM", "μM": "µM", "mM": "mM", "mW": "mW", "M": "M"}
"""Ways of writing in which the case carries the meaning; looked up first."""

SIGNS = {
    "$": "usd",
    "US$": "usd",
    "€": "eur",
    "£": "gbp",
    "¥": "¥",
    "₩": "krw",
    "USD": "usd",
    "EUR": "eur",
    "GBP": "gbp",
}
CODES = {"RMB": "cny", "CNY": "cny", "JPY": "jpy", "KRW": "krw", "NT$": "twd", "HK$": "hkd", "A$": "aud", "C$": "cad"}

BASES: dict[str, tuple[str, Decimal]] = {
    unit: (base, Decimal(factor))
    for base, members in {
        "g": {"kg": "1000", "g": "1", "mg": "0.001", "µg": "0.000001", "ng": "0.000000001", "tonne": "1000000"},
        "m": {"km": "1000", "m": "1", "cm": "0.01", "mm": "0.001", "µm": "0.000001", "nm": "0.000000001"},
        "s": {"ns": "0.000000001", "µs": "0.000001", "ms": "0.001", "s": "1", "min": "60", "h": "3600"},
        "day": {"day": "1", "week": "7"},
        "month": {"month": "1", "years": "12"},
        "MB": {"KB": "0.001", "MB": "1", "GB": "1000", "TB": "1000000", "PB": "1000000000"},
        "Mbps": {"Mbps": "1", "Gbps": "1000"},
        "Hz": {"Hz": "1", "kHz": "1000", "MHz": "1000000", "GHz": "1000000000"},
        "W": {"mW": "0.001", "W": "1", "kW": "1000", "MW": "1000000", "GW": "1000000000"},
        "L": {"L": "1", "mL": "0.001", "µL": "0.000001"},
        "M": {"M": "1", "mM": "0.001", "µM": "0.000001", "nM": "0.000000001"},
    }.items()
    for unit, factor in members.items()
}
"""Units of one dimension as multiples of one base, so that 0.5 g is 500 mg."""

SCALES: dict[str, Decimal] = {
    name: Decimal(10) ** int(power)
    for power, listed in groups("scales").items()
    for text in listed
    for name in text.split()
}
SUFFIXES = {"k": 3, "K": 3, "M": 6, "m": 6, "B": 9, "b": 9, "T": 12}
"""One-letter scales written against the number: 10k, 7B. `m` is million after a currency sign only."""

WORDS = {word: value for value, word in enumerate(words("numbers.cardinals", "en"))} | {
    word: 10 * value for value, word in enumerate(words("numbers.tens", "en"), 2)
}
ORDINALS = {word: value for value, word in enumerate(words("numbers.ordinals", "en"), 3)}
MONTHS = {name: int(number) for number, listed in groups("months").items() for text in listed for name in text.split()}

_UNIT_WORD = re.compile(
    r"[ -]?(?P<unit>"
    + "|".join(
        re.escape(a) + (r"(?![A-Za-z0-9])" if a[-1].isascii() and a[-1].isalnum() else "")
        for a in sorted((set(ALIASES) | {e.lower() for e in EXACT}), key=len, reverse=True)
        if a != "-fold"
    )
    + r")(?P<per> ?(?:/|per ) ?(?:[A-Za-zµμ]{1,10}\d?|"
    + any_word("dates.per_patterns")
    + r")(?![A-Za-z]))?",
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
    """Return the unit written at `end`, canonical, and where it ends; "" where there is none."""
    match = _UNIT_WORD.match(text, end)
    if match is None:
        return "", end
    written = match["unit"]
    unit = EXACT.get(written) or ALIASES.get(written.lower(), "")
    if written in ("a", "in", "A") or (
        written.lower() in ("m", "s", "h", "v", "w", "l", "g", "x") and text[end] == "-"
    ):
        return "", end
    if match["per"]:
        divisor = re.sub(r"^ ?(?:/|per ) ?", "", match["per"])
        known = ALIASES.get(divisor.lower())
        if known or "/" in match["per"]:
            return f"{unit}/{known or divisor}", match.end()
    return unit, match.end("unit")


Make = Callable[[re.Match[str], str], Quantity | None]
"""Turns a match of its pattern in a text into a quantity, or None where it is no number after all."""
