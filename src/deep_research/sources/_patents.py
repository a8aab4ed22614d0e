"""Patents: one key for a publication whoever found it, and its record as a document."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from deep_research.data import Found
from deep_research.sources import _record_documents as _writing
from deep_research.sources._api import snippet
from deep_research.sources._fields import distinct

_NUMBER = re.compile(r"([A-Z]{2})\s*(D|PP|RE|H|T|P)?0*(\d[\dA-Z]*?)\s*([A-Z]\d?)?")
_US_APPLICATION_DIGITS = 11  # US20240362478: the year and seven digits, of which other offices drop the first 0


class Patent(NamedTuple):
    """One publication or application as an office describes it."""

    number: str
    title: str = ""
    url: str = ""
    key: str = ""
    inventors: Iterable[str] = ()
    applicants: Iterable[str] = ()
    published: str | None = None
    abstract: str = ""
    facts: tuple[_writing.Fact, ...] = ()
    claims: tuple[str, ...] = ()


def patent_key(number: str) -> str:
    """Return the key of a publication number (`EP1000000A1`, `US 2024/0362478 A1`), without its kind code."""
    match = _NUMBER.fullmatch(re.sub(r"[\s/.,-]", "", number.upper()))
    if not match:
        return f"patent:{number.upper()}"
    country, prefix, digits, _ = match.groups()
    if country == "US" and len(digits) == _US_APPLICATION_DIGITS and digits[4] == "0":
        digits = digits[:4] + digits[5:]
    return f"patent:{country}{prefix or ''}{digits}"


def patent_url(number: str) -> str:
    """Return an address where the publication can be read."""
    return f"https://patents.google.com/patent/{re.sub(r'[^A-Z0-9]', '', number.upper())}/en"


def found_patent(patent: Patent, origin: str) -> Found:
    """Return the patent as a result; its record is the document unless the office gave nothing but a number."""
    inventors, applicants = distinct(patent.inventors), distinct(patent.applicants)
    title = patent.title or f"Patent {patent.number}"
    known = bool(patent.abstract or patent.claims or patent.facts or inventors or applicants)
    found = Found(
        key=patent.key or patent_key(patent.number),
        title=title,
        url=patent.url or patent_url(patent.number),
        origin=origin,
        published=patent.published,
        authors=inventors,
        snippet=snippet(patent.abstract or "; ".join(applicants)),
    )
    if not known:
        return found
    read = _writing.document(
        title,
        facts=(
            ("Publication", patent.number),
            ("Inventors", _writing.people(inventors)),
            ("Applicants", _writing.people(applicants)),
            *patent.facts,
        ),
        sections=[("Abstract", patent.abstract), ("Claims", "\n\n".join(patent.claims))],
        published=patent.published,
    )
    return found.model_copy(update={"document": read.model_copy(update={"authors": inventors})})
