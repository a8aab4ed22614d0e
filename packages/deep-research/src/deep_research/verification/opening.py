"""How long the opening answer of a report is asked to be, and how long it is (contract row B8)."""

import re

from claimcheck.language import CJK
from deep_research.verification.statements import split_statements

_LEAST, _MOST, _TOLERANCE = 100, 200, 0.25
"""The share is by which an opening may be shorter or longer before anything is said."""
_SIGNS = re.compile(f"[{CJK}]|[^\\W{CJK}]+")
"""Characters, a Latin word or a number as one."""


def asked_length(language: str) -> str:
    """Return how long the opening of a report in a language is asked to be: in characters, or in words."""
    return f"{_LEAST} to {_MOST} {'characters' if language in ('zh', 'ja') else 'words'}"


def wrong_length(text: str, language: str) -> str:
    """Return what is wrong with the length of what stands before a report's first section; "" for nothing.

    Tables, code and citations are not counted; a text without sections has no opening.
    """
    asked, end = asked_length(language), text.find("\n## ")
    opening = " ".join(s.text for s in split_statements(text) if s.start < end and s.kind != "row")
    count = len(_SIGNS.findall(opening) if asked.endswith("characters") else opening.split())
    if end < 0 or _LEAST * (1 - _TOLERANCE) <= count <= _MOST * (1 + _TOLERANCE):
        return ""
    return f"The opening before the first `##` has {count} {asked.split()[-1]}; asked were {asked}."
