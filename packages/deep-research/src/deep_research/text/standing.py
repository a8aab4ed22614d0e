"""A document's own date, version and status (final, draft, …), from its head."""

import re
from functools import lru_cache
from typing import NamedTuple

from claimcheck import lexicon
from deep_research.text.code_spans import fenced_blocks
from deep_research.text.dates import find_date

_HEAD_CHARS, _HEAD_LINES = 4_000, 60
_MAX_VALUE, _LONGEST_DATE = 80, 30
_SECTION = re.compile(r"\n#{1,6} ")
STATUSES = (
    "retracted", "withdrawn", "rejected", "superseded", "obsolete", "deprecated", "deferred", "preprint", "draft",
    "proposed", "final", "active",
)  # fmt: skip
"""From the one a reader must know first to the one that goes without saying."""
NOT_CURRENT = frozenset({"retracted", "withdrawn", "rejected", "superseded", "obsolete", "deprecated", "deferred"})
_VERSION = re.compile(r"[^\d\s]{0,4}\s?\d")
"""How the version of a document begins; that of a program has the program's name first."""
_KINDS = ("status", "by", "version", "published", "updated")
_KEYS = {key.casefold(): kind for kind in _KINDS for key in lexicon.words(f"standing.{kind}_keys")}
_FIELD = re.compile(
    rf"^ {{0,3}}(?:[|*_:#-][\s|*_:#-]*)?(?P<key>{lexicon.any_of(_KEYS)})[*_\s]*(?:[:：|]+|\s{{2,}})[\s|*_]*(?P<value>[^|\n]+)",
    re.IGNORECASE,
)
_CHANGED = [name for name, kind in _KEYS.items() if kind == "updated" and (" " in name or not name.isascii())]
_LAST_CHANGED = re.compile(rf"{lexicon.any_of(_CHANGED)}\W{{0,4}}(?:on |at )?\W{{0,3}}([^\n]{{6,40}})", re.IGNORECASE)
_STATUS_WORDS = {status: re.compile(lexicon.any_word(f"standing.{status}"), re.IGNORECASE) for status in STATUSES}
_SAYINGS = tuple(re.compile(saying, re.IGNORECASE) for saying in lexicon.words("standing.sayings"))


class Standing(NamedTuple):
    """A document's `status` (one of `STATUSES` or ""), version, dates and successor.

    `by` is the successor that replaced it; dates are ISO 8601 (YYYY-MM or YYYY-MM-DD).
    """

    status: str = ""
    by: str = ""
    version: str = ""
    published: str = ""
    updated: str = ""

    @property
    def date(self) -> str:
        """Return the newer of its dates, or ""."""
        return max(self.published, self.updated)


@lru_cache(maxsize=2_048)
def read_standing(head: str) -> Standing:
    """Return the standing of a document from its first `_HEAD_CHARS` characters."""
    text = head[:_HEAD_CHARS]
    fields = _fields(text)
    status = _status(fields.get("status", ""))
    by = fields.get("by", "")
    if said := _said(text):
        status, by = said[0] or status, by or said[1]
    if by and status not in NOT_CURRENT:
        status = "superseded"
    return Standing(
        status=status,
        by=by,
        version=fields.get("version", "")[:24] if _VERSION.match(fields.get("version", "")) else "",
        published=_day(fields.get("published", "")),
        updated=_day(fields.get("updated", "")),
    )


def read_footer(foot: str) -> str:
    """Return the date of the last change from the end of a page, or ""."""
    dates = (_day(found[1]) for found in _LAST_CHANGED.finditer(foot))
    return next(filter(None, dates), "")


def _day(text: str) -> str:
    """Return the first date of a text; "" if it has only a year or is a sentence."""
    found = find_date(text) or "" if len(text) <= _LONGEST_DATE else ""
    return found if "-" in found else ""


def _fields(text: str) -> dict[str, str]:
    """Return the first field of each kind above the second heading, by kind.

    A row of several values is no field, nor what is quoted, indented or code.
    """
    found: dict[str, str] = {}
    for start, end, _ in reversed(fenced_blocks(text)):
        text = text[:start] + text[end:]
    for line in _SECTION.split(text, maxsplit=1)[0].splitlines()[:_HEAD_LINES]:
        if (match := _FIELD.match(line)) and not line[match.end() :].strip(" |"):
            value = " ".join(match["value"].strip(" *_`|").split())[:_MAX_VALUE]
            found.setdefault(_KEYS[match["key"].casefold()], value)
    return found


def _status(value: str) -> str:
    """Return the first status named in a field, the gravest of equal ones, or ""."""
    found = [
        (match.start(), rank, status)
        for rank, (status, words) in enumerate(_STATUS_WORDS.items())
        if (match := words.search(value))
    ]
    return min(found, default=(0, 0, ""))[2]


def _said(text: str) -> tuple[str, str] | None:
    for pattern in _SAYINGS:
        if match := pattern.search(text):
            return _status(match["status"]) or "superseded", " ".join((match["by"] or "").split())[:_MAX_VALUE]
    return None
