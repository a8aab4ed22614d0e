"""Find the JSON object in a model's text; repair it unless its end was cut off."""

import json
import re
from itertools import accumulate
from operator import sub
from typing import Any

_FENCE = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_BEGINNING = re.compile(r"\{\s*(?:[\"']|\w+\s*:)")
_MAX_STARTS = 20  # no more than a model would begin in earnest
_MAX_DEPTH = 100
_STEP = {"{": 1, "[": 1, "}": -1, "]": -1}
_MAX_REPAIRED_CHARS = 200_000


def parse_object(text: str, *, complete: bool = True) -> dict[str, Any] | None:
    """Return the JSON object that `text` is, in a fence or not, or None.

    Small faults (single quotes, missing commas, unescaped quotes) are repaired, but only if the object has its last
    brace and the answer was `complete`: the end of one that was cut at its length limit would be made up.
    """
    candidate = _unfenced(text).strip()
    if is_too_deep(candidate):
        return None
    try:
        found = json.loads(candidate, strict=False)
    except (ValueError, RecursionError):
        found = _repaired(candidate) if complete and candidate.endswith("}") else None
    return found if isinstance(found, dict) else None


def find_object(text: str, *, complete: bool = True) -> dict[str, Any] | None:
    """Return the first JSON object in `text` or None; whole ones precede repaired."""
    if is_too_deep(text):
        return None
    if (whole := parse_object(text, complete=complete)) is not None:
        return whole
    for source in (_unfenced(text), text):
        for start in _starts(source):
            try:
                return json.JSONDecoder(strict=False).raw_decode(source, start)[0]
            except (ValueError, RecursionError):
                continue
    end = text.rfind("}") + 1
    if complete:
        for start in _starts(text[:end]):
            found = _repaired(text[start:end])
            found = found[0] if isinstance(found, list) and found else found
            if isinstance(found, dict) and found:
                return found
    return None


def is_too_deep(text: str) -> bool:
    """Return whether brackets, also in strings, stand deeper than in any answer.

    Each try at a deep text reads to the recursion limit: one look bounds all that is tried on its parts.
    """
    heights = [*accumulate(map(_STEP.__getitem__, re.findall(r"[{}\[\]]", text)), initial=0)]
    return max(map(sub, heights, accumulate(heights, min))) > _MAX_DEPTH


def _unfenced(text: str) -> str:
    fenced = _FENCE.search(text)
    return fenced[1] if fenced and "{" in fenced[1] else text


def _starts(text: str) -> list[int]:
    return [at for at, sign in enumerate(text) if sign == "{"][:_MAX_STARTS]


def _repaired(text: str) -> Any:
    if not _BEGINNING.match(text) or len(text) > _MAX_REPAIRED_CHARS:
        return None
    from json_repair import repair_json  # noqa: PLC0415 - only for broken answers

    try:
        return repair_json(text, return_objects=True, skip_json_loads=True, strict=True)
    except (ValueError, RecursionError):
        return None
