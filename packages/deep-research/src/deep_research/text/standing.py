"""What a document says of itself in its head: date, version, and whether it is final, a draft, superseded, withdrawn …

Read by code from fields ("Status: Final", "Superseded-By: 734") and plain sentences ("This document has
been superseded by …") in English, Chinese, Korean and Japanese.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from claimcheck import lexicon

_HEAD_CHARS, _HEAD_LINES = 4_000, 60
_MAX_VALUE = 80
_SECTION = re.compile(r"\n#{1,6} ")
STATUSES = (
    "retracted", "withdrawn", "rejected", "superseded", "obsolete", "deprecated", "deferred", "preprint", "draft",
    "proposed", "final", "active",
)  # fmt: skip
"""From the one a reader must know first to the one that goes without saying."""
NOT_CURRENT = frozenset({"retracted", "withdrawn", "rejected", "superseded", "obsolete", "deprecated", "deferred"})
_BETWEEN = r"\s?(?:[-/.]|[^\W\d_A-Za-z])\s?"
"""What stands between the numbers of a date: a sign, or a letter of a script without an alphabet."""
_NUMERIC = re.compile(rf"(?<!\d)(?P<y>[12]\d{{3}}){_BETWEEN}(?P<m>\d{{1,2}})(?:{_BETWEEN}(?P<d>\d{{1,2}}))?")
_NAMED = re.compile(
    r"(?:(?P<d1>\d{1,2})[-. ]+)?(?P<n>[A-Za-z]{3,9})\.?[-. ]+(?:(?P<d2>\d{1,2})(?:st|nd|rd|th)?,? )?(?P<y>[12]\d{3})"
)
_VERSION = re.compile(r"[^\d\s]{0,4}\s?\d")
"""How the version of a document begins; that of a program that made something on the page has the program's name first."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class Standing(NamedTuple):
    """`status` is one of `STATUSES` or ""; `by` is what replaced it; dates are ISO 8601 (YYYY-MM or YYYY-MM-DD)."""

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
    """Return what the first `_HEAD_CHARS` characters of a document say of its standing."""
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
        published=read_date(fields.get("published", "")),
        updated=read_date(fields.get("updated", "")),
    )


def read_footer(foot: str) -> str:
    """Return the date that the end of a page gives as its last change ("Last updated on 7 May 2024"), or ""."""
    dates = (read_date(found[1]) for found in _last_changed().finditer(foot))
    return next(filter(None, dates), "")


@cache
def _last_changed() -> re.Pattern[str]:
    names = [name for name, kind in _keys().items() if kind == "updated" and (" " in name or not name.isascii())]
    return re.compile(rf"{lexicon.any_of(names)}\W{{0,4}}(?:on |at )?\W{{0,3}}([^\n]{{6,40}})", re.IGNORECASE)


def read_date(text: str) -> str:
    """Return the first date of a text as YYYY-MM or YYYY-MM-DD, or ""."""
    if (found := _NUMERIC.search(text)) is not None:
        year, month, day = found["y"], int(found["m"]), int(found["d"] or 0)
    elif (found := _NAMED.search(text)) is not None and found["n"][:3].lower() in _MONTHS:
        year, month, day = found["y"], _MONTHS.index(found["n"][:3].lower()) + 1, int(found["d1"] or found["d2"] or 0)
    else:
        return ""
    if not 1 <= month <= 12 or day > 31:
        return ""
    return f"{year}-{month:02}" + (f"-{day:02}" if day else "")


@cache
def _keys() -> dict[str, str]:
    """Return the kind of each field by its name in lower case, in all languages."""
    kinds = ("status", "by", "version", "published", "updated")
    return {key.casefold(): kind for kind in kinds for key in lexicon.words(f"standing.{kind}_keys")}


@cache
def _field() -> re.Pattern[str]:
    names = lexicon.any_of(_keys())
    return re.compile(
        rf"^[\s|>*_:#-]*(?P<key>{names})[*_\s]*(?:[:：|]+|\s{{2,}})[\s|*_]*(?P<value>[^|\n]+)", re.IGNORECASE
    )


def _fields(text: str) -> dict[str, str]:
    """Return the fields above the second heading by kind, the first of each; a row of several values is none."""
    found: dict[str, str] = {}
    for line in _SECTION.split(text, maxsplit=1)[0].splitlines()[:_HEAD_LINES]:
        if (match := _field().match(line)) and not line[match.end() :].strip(" |"):
            value = " ".join(match["value"].strip(" *_`|").split())[:_MAX_VALUE]
            found.setdefault(_keys()[match["key"].casefold()], value)
    return found


@cache
def _status_words() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((status, re.compile(lexicon.any_word(f"standing.{status}"), re.IGNORECASE)) for status in STATUSES)


def _status(value: str) -> str:
    """Return the status that a field names at its beginning, or the gravest one in it."""
    found = [
        (match.start(), rank, status)
        for rank, (status, words) in enumerate(_status_words())
        if (match := words.search(value))
    ]
    return min(found, default=(0, 0, ""))[2]


@cache
def _sayings() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(p, re.IGNORECASE) for p in lexicon.words("standing.sayings"))


def _said(text: str) -> tuple[str, str] | None:
    for pattern in _sayings():
        if match := pattern.search(text):
            return _status(match["status"]) or "superseded", " ".join((match["by"] or "").split())[:_MAX_VALUE]
    return None
