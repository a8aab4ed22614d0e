"""Date and standing of a library's sources, read once from the head of each."""

import re
from typing import NamedTuple
from weakref import WeakKeyDictionary

from deep_research.ports import Library
from deep_research.text.standing import Standing, read_footer, read_standing

_CODE = ("text/x-source", "application/x-ipynb+json")  # a date in their text is one of the data
_VERSION = re.compile(
    r"(?:\bv|\bversion |\b[A-Za-z][\w+]+ )(\d+(?:\.\d+)+) (?:documentation|manual|docs|guide|reference)\b"
    r"|\b(?:documentation|manual|docs|guide|reference|handbook)\W+(?:v|version )?(\d+(?:\.\d+)+)\b",
    re.IGNORECASE,
)
"""A version in the title of a documentation ("Python 3.11.2 documentation"); not the number of a chapter."""


class Dated(NamedTuple):
    """One cited source: the ISO date it speaks of ("" unknown), and its standing."""

    date: str
    standing: Standing


_read: "WeakKeyDictionary[Library, dict[str, Dated]]" = WeakKeyDictionary()


def dated_source(library: Library, source: str) -> Dated:
    """Return a source's date and standing by id (`s7`); empty if nothing is stored.

    Its own text counts before what a search said of it; of two dates the newer one.
    """
    known = _read.setdefault(library, {})
    if source not in known:
        snapshot, record = library.snapshot(source), library.source(source)
        text = snapshot.text if snapshot is not None and snapshot.media_type not in _CODE else ""
        standing = read_standing(text[:4_000])
        if record is not None and not standing.version and (named := _VERSION.search(record.title)):
            standing = standing._replace(version=named[1] or named[2])
        if not standing.updated and not standing.version:  # a version is not renewed by a copy
            standing = standing._replace(updated=read_footer(text[-600:]))
        made = Dated(standing.date or (record.published if record is not None else None) or "", standing)
        if snapshot is None:
            return made
        known[source] = made
    return known[source]
