"""Read dates, decades and times of day."""

import re
from decimal import Decimal

from deep_research.i18n.lexicon import any_word
from deep_research.verification.units import MONTHS, Make, Quantity

_YEAR_MARK, _MONTH_MARK, _DAY_MARK = (any_word(f"dates.{part}_marks") for part in ("year", "month", "day"))
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
DATES = re.compile(
    r"(?<!\d)(?P<y1>[12]\d{3})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2})(?!\d)"
    rf"|(?<!\d)(?P<y2>[12]\d{{3}}) ?{_YEAR_MARK} ?(?P<m2>\d{{1,2}}) ?{_MONTH_MARK}(?: ?(?P<d2>\d{{1,2}}) ?{_DAY_MARK})?"
    rf"|\b(?P<n3>{_MONTH})\b\.? (?:the )?(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?:,? ?(?P<y3>[12]\d{{3}}))?(?!\d|\.\d|,\d{{3}}|%)"
    rf"|(?<![\d.,])(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?(?: of)?[ -](?P<n4>{_MONTH})\b\.?(?:(?:,? |-)(?P<y4>[12]\d{{3}})(?!\d))?"
    rf"|\b(?P<n5>{_MONTH})\b\.?,? (?:of )?(?P<y5>[12]\d{{3}})(?!\d)"
    r"|(?<!\d)(?P<y6>[12]\d{3})-(?P<m6>0[1-9]|1[0-2])(?![\d-])"
    rf"|(?<!\d)(?P<m7>\d{{1,2}}) ?{_MONTH_MARK} ?(?P<d7>\d{{1,2}}) ?{_DAY_MARK}",
    re.IGNORECASE | re.ASCII,
)
_CENTURY, _YEARS = any_word("dates.century_patterns"), any_word("dates.decade_patterns")
DECADES = re.compile(
    rf"(?<!\w)(?P<d>[12]\d{{2}}0)['’]?s\b|(?:(?P<c>\d{{2}}){_CENTURY})?(?<!\d)(?P<x>\d0){_YEARS}", re.ASCII
)
CLOCKS = re.compile(r"(?<![\d:])(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)(?![\d:])")


def _date(match: re.Match[str], text: str) -> Quantity | None:
    groups = {key: value for key, value in match.groupdict().items() if value}
    part = {key[0]: value for key, value in groups.items()}
    month = MONTHS[part["n"].lower()] if "n" in part else int(part.get("m", 0))
    year, day = int(part.get("y", 0)), int(part.get("d", 0))
    if not 1 <= month <= 12 or day > 31:
        return None
    if "n" in part and part["n"].islower() and part["n"] in ("may", "march", "mar", "sep", "dec", "jan"):
        return None  # "may 5" in running text is a verb
    value = year * 10000 + month * 100 + day if day else year * 100 + month
    return Quantity(Decimal(value), "date" if day else "yearmonth", match.start(), match.end())


def _decade(match: re.Match[str], text: str) -> Quantity | None:
    if match["d"]:
        return Quantity(Decimal(match["d"]), "decade", match.start(), match.end())
    century = int(match["c"]) - 1 if match["c"] else (20 if int(match["x"]) < 30 else 19)
    return Quantity(Decimal(century * 100 + int(match["x"])), "decade", match.start(), match.end())


def _clock(match: re.Match[str], text: str) -> Quantity | None:
    return Quantity(Decimal(int(match["h"]) * 100 + int(match["m"])), "clock", match.start(), match.end())


DATE_EXTRACTORS: tuple[tuple[re.Pattern[str], Make], ...] = ((DATES, _date), (DECADES, _decade), (CLOCKS, _clock))
"""Patterns in the order in which they are tried."""
CALENDAR = ("year", "yearmonth", "date")
"""Units that are points in the calendar, from coarse to fine."""


def same_date(claim: Quantity, there: Quantity) -> bool:
    """Return whether two calendar quantities agree: a claim may be less exact than the evidence (2024 for May 2024), never more."""
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
