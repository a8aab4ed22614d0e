"""The date of a text, as written: YYYY, YYYY-MM or YYYY-MM-DD (ISO 8601)."""

import re
from datetime import UTC, date, datetime
from typing import Any

_MONTHS = {name: n for n, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)}
_YEAR, _DAY = r"((?:1[4-9]|20)\d\d)", r"(\d{1,2})(?:st|nd|rd|th)?"
_BETWEEN = r"\s?(?:[-/.]|[^\W\d_A-Za-z])\s?"
_NUMERIC = re.compile(rf"(?<!\d){_YEAR}(?:{_BETWEEN}(\d{{1,2}})(?!\d)(?:{_BETWEEN}(\d{{1,2}})(?!\d))?)?")
_COMPACT = re.compile(rf"\s*{_YEAR}(\d\d)(\d\d)(?:\d{{6}})?\s*")
_IN_WORDS = re.compile(
    rf"\b(?:{_YEAR}[ -]|{_DAY}\.?[ -])?((?:{'|'.join(_MONTHS)})[a-z]{{0,6}})\b\.?(?:[ -]{_DAY}\b)?(?:,?[ -]{_YEAR}\b)?",
    re.IGNORECASE,
)
_EARLIEST_SECOND, _LATEST_SECOND = 10**8, 10**11
"""What is less than seconds since 1970, and what is milliseconds."""


def iso_date(value: Any) -> str | None:
    """Return the date in a JSON value, or None (also for "2 days ago").

    Reads texts (`find_date`), years, seconds and milliseconds since 1970, and Crossref's date-parts `[[2024, 1, 31]]`.
    """
    if isinstance(value, str):
        return find_date(value[:200])
    if isinstance(value, list):
        parts = value[0] if value and isinstance(value[0], list) else value
        return written(*(int(part) if str(part).isdecimal() else 0 for part in parts[:3])) if parts else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if not value >= _EARLIEST_SECOND:
        return written(int(value)) if value == value // 1 else None
    try:
        seconds = value / 1000 if value > _LATEST_SECOND else value
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def find_date(text: str) -> str | None:
    """Return the first numeric date with a month, else in words, else year, or None."""
    if whole := _COMPACT.fullmatch(text):
        return written(*map(int, whole.groups()))
    numeric = _NUMERIC.search(text)
    if numeric and numeric[2]:
        return written(*(int(part or 0) for part in numeric.groups()))
    for match in _IN_WORDS.finditer(text):
        before, day, month, later, after = match.groups()
        if before or after:
            return written(int(before or after), month_number(month), int(day or later or 0))
    return written(int(numeric[1])) if numeric else None


def written(year: int, month: int | None = None, day: int | None = None) -> str | None:
    """Return the date as far as it makes sense, or None for an impossible year."""
    if not 1400 <= year <= 2100:
        return None
    if not month or not 1 <= month <= 12:
        return f"{year}"
    try:
        return date(year, month, day).isoformat() if day else f"{year}-{month:02}"
    except ValueError:
        return f"{year}-{month:02}"


def month_number(name: str) -> int | None:
    """Return the number of a month written as a word or number, or None."""
    name = name.strip().lower()
    if name.isdecimal():
        return int(name) if 1 <= int(name[:4]) <= 12 else None
    return _MONTHS.get(name[:3])
