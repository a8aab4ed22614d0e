"""Read what an API sent without trusting its shape: missing, null and oddly typed fields; dates in many forms."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any

from deep_research.i18n.lexicon import any_word
from deep_research.text.cleaning import fold

_MAX_NUMBER_CHARS = 18


def at(value: Any, *path: str | int) -> Any:
    """Return what lies under `path` (keys of objects, indices of lists), or None where the path breaks."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def listed(value: Any) -> list[Any]:
    """Return a list as it is, null as none, and anything else as a list of one."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list, or of an object on its own; whatever is no object is left out."""
    return [item for item in listed(value) if isinstance(item, Mapping)]


def text(value: Any) -> str:
    """Return a clean line from a string or number, or from the first of a list that has one."""
    if isinstance(value, str):
        return fold(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value}"[:_MAX_NUMBER_CHARS]
    if isinstance(value, list):
        return next((line for item in value if (line := text(item))), "")
    return ""


def raw(value: Any) -> str:
    """Return a string with its line breaks and markup, "" for anything else (the first of a list of strings)."""
    if isinstance(value, list):
        return next((item for item in value if isinstance(item, str) and item.strip()), "")
    return value if isinstance(value, str) else ""


def texts(value: Any) -> tuple[str, ...]:
    """Return the clean lines of a list (or of one string), each once, empty ones left out."""
    return distinct(text(item) for item in listed(value))


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that are not empty, each once."""
    return tuple(dict.fromkeys(value for value in values if value))


def first(value: Any, *names: str) -> str:
    """Return the first of the object's fields that has a text."""
    return next((line for name in names if (line := text(at(value, name)))), "")


def full_name(person: Mapping[str, Any], given: str, family: str) -> str:
    """Return the two parts of a name as one, "" when there is neither."""
    return f"{text(person.get(given))} {text(person.get(family))}".strip()


def number(value: Any) -> int | None:
    """Return a whole number from a number or a string of digits, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,18}\s*", value):
        return int(value)
    return None


def score(value: Any) -> float:
    """Return a finite score, 0.0 where there is none."""
    plain = value if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
    return float(plain) if abs(plain) < 1e12 else 0.0


def first_date(value: Any, *names: str) -> str | None:
    """Return the first date in the object's fields, or None."""
    return next((day for name in names if (day := iso_date(at(value, name)))), None)


_MONTHS = {name: n for n, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)}
_SEASONS = ("spring", "summer", "autumn", "fall", "winter")
_ISO = re.compile(
    rf"(?<!\d)((?:1[4-9]|20)\d\d)(?:(?:[-/.]|{any_word('dates.year_marks')})(\d{{1,2}})(?!\d)(?:(?:[-/.]|{any_word('dates.month_marks')})(\d{{1,2}})(?!\d))?)?"
)
_COMPACT = re.compile(r"\s*((?:1[4-9]|20)\d\d)(\d\d)(\d\d)(?:\d{6})?\s*")
_DAY_FIRST = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?[ -]([A-Za-z]{3,9})\.?,?[ -]((?:1[4-9]|20)\d\d)\b")
_MONTH_FIRST = re.compile(r"\b([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? ((?:1[4-9]|20)\d\d)\b")
_YEAR_FIRST = re.compile(r"\b((?:1[4-9]|20)\d\d)[ -]([A-Za-z]{3,9})\b\.?(?:[ -](\d{1,2})\b)?")
_MONTH_YEAR = re.compile(r"\b([A-Za-z]{3,9})\.? ((?:1[4-9]|20)\d\d)\b")
_EARLIEST, _LATEST = 1400, 2100


def iso_date(value: Any) -> str | None:
    """Return the date in `value`, or None where there is none (also for "2 days ago").

    Reads ISO dates and times, `20240131`, `31 Jan 2024`, `Jan 31, 2024`, `2024 Jan 31`, `2024 Jan-Feb`,
    seconds since 1970, and Crossref's date-parts `[[2024, 1, 31]]`.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, list):
        return _from_parts(value)
    if isinstance(value, int | float):
        return _from_number(value)
    return _from_text(value) if isinstance(value, str) else None


def unix_seconds(day: date) -> int:
    """Return the beginning of a day (UTC) in seconds since 1970."""
    return int(datetime.combine(day, time(), UTC).timestamp())


def written(year: int, month: int | None = None, day: int | None = None) -> str | None:
    """Return the date as far as it makes sense, or None for an impossible year."""
    if not _EARLIEST <= year <= _LATEST:
        return None
    if not month or not 1 <= month <= 12:
        return f"{year}"
    if not day:
        return f"{year}-{month:02}"
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return f"{year}-{month:02}"


def month_number(name: str) -> int | None:
    """Return the number of a month written as a word or number, or None."""
    name = name.strip().lower()
    if name.isdecimal():
        return int(name) if 1 <= int(name[:4]) <= 12 else None
    return None if name in _SEASONS else _MONTHS.get(name[:3])


def _from_number(value: float) -> str | None:
    if _EARLIEST <= value <= _LATEST:
        return written(int(value))
    try:
        seconds = value / 1000 if abs(value) > 1e11 else value
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _from_parts(value: list[Any]) -> str | None:
    parts = value[0] if value and isinstance(value[0], list) else value
    numbers = [int(part) if isinstance(part, int | float | str) and str(part).isdecimal() else None for part in parts]
    if not numbers or numbers[0] is None:
        return None
    padded = [*numbers, None, None]
    return written(numbers[0], padded[1], padded[2] if padded[1] else None)


def _from_text(value: str) -> str | None:
    value = value[:200]
    if match := _COMPACT.fullmatch(value):
        return written(*(int(part) for part in match.groups()))
    if match := _ISO.match(value.strip()):
        year, month, day = match.groups()
        if month:
            return written(int(year), int(month), int(day) if day else None)
    return _from_words(value) or (written(int(match[1])) if (match := _ISO.search(value)) else None)


def _from_words(value: str) -> str | None:
    if (match := _DAY_FIRST.search(value)) and (month := month_number(match[2])):
        return written(int(match[3]), month, int(match[1]))
    if (match := _MONTH_FIRST.search(value)) and (month := month_number(match[1])):
        return written(int(match[3]), month, int(match[2]))
    if (match := _YEAR_FIRST.search(value)) and (month := month_number(match[2])):
        return written(int(match[1]), month, int(match[3]) if match[3] else None)
    if (match := _MONTH_YEAR.search(value)) and (month := month_number(match[1])):
        return written(int(match[2]), month)
    return None
