"""Reading what an API sent without trusting its shape: missing, null and oddly typed fields give nothing."""

import re
from collections.abc import Mapping
from typing import Any

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
    return tuple(dict.fromkeys(line for item in listed(value) if (line := text(item))))


def first(value: Any, *names: str) -> str:
    """Return the first of the object's fields that has a text."""
    return next((line for name in names if (line := text(at(value, name)))), "")


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
