"""Titles and headings: short, without citations and marks, and without a number or name that nothing says.

A heading stands in large letters, and no passage stands beside it. It is held against what its section cites.
"""

import re
from collections.abc import Sequence

from deep_research.claimcheck.citations import groups, without_links
from deep_research.claimcheck.numbers import numbers_agree
from deep_research.text.cleaning import fold
from deep_research.text.names import names_occur
from deep_research.text.units import CALENDAR, Quantity

MOST_CHARS = 140
_SMALL = 20
"""Numbers up to this count things ("5 ways", "Phase 3") and need nothing that says them."""
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_MARKS = re.compile(r"^[\s#>*_`~|=-]+|[\s#*_`~|]+$")
_PIECE = re.compile(r"\s*[:：;；—–|]\s*|,\s+|，|\s+-\s+")
_WORD = re.compile(r"[^\W\d_]{4,}")


def plain_title(text: str) -> str:
    """Return a title on one line, without ids, links and marks of Markdown, cut at a word."""
    line = fold(text)
    for start, end, _ids in reversed(list(groups(line))):
        line = line[:start] + line[end:]
    line = _MARKS.sub("", without_links(line))
    if len(line) <= MOST_CHARS:
        return line
    return line[:MOST_CHARS].rsplit(" ", 1)[0].rstrip(" ,;:-") + "…"


def unsaid_numbers(title: str, evidence: str) -> tuple[Quantity, ...]:
    """Return the quantities of a title that stand nowhere in `evidence`; small counts and dates apart."""
    missing = numbers_agree(title, evidence).missing
    return tuple(q for q in missing if q.unit not in CALENDAR and (q.unit or abs(q.value) > _SMALL))


def founded_title(title: str, evidence: str, fallback: str) -> str:
    """Return those parts of a planned title whose numbers stand in `evidence`, or else `fallback`."""
    title = plain_title(title)
    parts = (title, _PIECE.split(title)[0])
    return next((part for part in parts if part and not unsaid_numbers(part, evidence)), fallback)


def founded_headings(markdown: str, evidence: Sequence[str]) -> str:
    """Return a checked text without headings that are too long or name a number or name that no evidence has.

    What stood below such a heading stays.
    """
    known = "\n".join(evidence)
    lines: list[str] = []
    in_code = False
    for line in markdown.split("\n"):
        in_code ^= bool(_FENCE.match(line))
        heading = None if in_code else _HEADING.match(line)
        if heading is None or is_founded(heading[1], known):
            lines.append(line)
        elif lines and not lines[-1].strip():
            lines.pop()
    return "\n".join(lines).strip("\n")


def is_founded(heading: str, evidence: str) -> bool:
    """Tell whether a heading is short, and its numbers and names stand in `evidence`.

    Where every word begins with a capital, capitals make no names.
    """
    if len(heading) > MOST_CHARS or unsaid_numbers(heading, evidence):
        return False
    words = _WORD.findall(heading)
    capitals = sum(word[0].isupper() for word in words[1:])
    in_title_case = len(words) > 1 and 4 * capitals >= 3 * (len(words) - 1)
    return in_title_case or names_occur(heading, evidence).ok
