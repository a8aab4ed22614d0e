"""The references of a report as bibliographic entries, which BibTeX, RIS and CSL-JSON spell differently."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from deep_research.data import ExportInput, Reference

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}\\^|]+", re.IGNORECASE)
_ARXIV = re.compile(r"arxiv\.org/(?:abs|pdf|html)/(?:(?P<new>\d{4}\.\d{4,5})|(?P<old>[a-z-]+/\d{7}))", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_PAPER_ORIGINS = frozenset({"crossref", "europepmc", "openalex", "pubmed", "semantic_scholar", "unpaywall"})
_NAME_WORDS = range(2, 5)


@dataclass(frozen=True)
class Person:
    """An author: family and given name, or one name that cannot be told apart in `literal`."""

    family: str = ""
    given: str = ""
    literal: str = ""

    @property
    def sorted_name(self) -> str:
        """The name with the family name first."""
        return self.literal or f"{self.family}, {self.given}"


@dataclass(frozen=True)
class Entry:
    """One reference. `kind` is preprint, article, webpage or document; dates are ISO dates, "" for none."""

    key: str
    number: int
    kind: str
    title: str
    authors: tuple[Person, ...]
    published: str
    retrieved: str
    url: str
    doi: str
    arxiv: str
    location: str


def entries_of(given: ExportInput) -> Sequence[Entry]:
    """Return the references of a report in the order of their numbers."""
    return [_entry(reference, given) for reference in given.report.references]


def _entry(reference: Reference, given: ExportInput) -> Entry:
    source = given.report.sources.get(reference.source)
    url = web_address(reference.url)
    doi = _DOI.search(url)
    arxiv = _ARXIV.search(url)
    origin = source.origin if source else ""
    kind = "preprint" if arxiv else "article" if doi or origin in _PAPER_ORIGINS else "webpage" if url else "document"
    authors = tuple(_person(name) for name in given.authors.get(reference.source, ()) if name.strip())
    published = reference.published if reference.published and _DATE.match(reference.published) else ""
    return Entry(
        key=_key(reference, authors, published),
        number=reference.number,
        kind=kind,
        title=" ".join(reference.title.split()),
        authors=authors,
        published=published,
        retrieved=source.retrieved_at[:10] if source else "",
        url=url,
        doi=doi[0].rstrip(".,;)") if doi else "",
        arxiv=(arxiv["new"] or arxiv["old"]) if arxiv else "",
        location="" if url else reference.location,
    )


def web_address(url: str) -> str:
    """Return `url` where it is one of the web without blanks, else ""; places on a disk are nobody else's business."""
    return url if re.fullmatch(r"https?://[^\s<>\"{}|\\^`]+", url, re.IGNORECASE) else ""


def date_parts(date: str) -> list[int]:
    """Return year, month and day of an ISO date as far as it has them."""
    found = _DATE.match(date)
    return [int(part) for part in found.groups() if part] if found else []


def _person(name: str) -> Person:
    name = " ".join(name.split())
    family, comma, first = name.partition(",")
    if comma and first.strip():
        return Person(family=family.strip(), given=first.strip())
    words = name.split()
    if len(words) in _NAME_WORDS and name.isascii() and all(w[0].isupper() and not w.isupper() for w in words[-1:]):
        return Person(family=words[-1], given=" ".join(words[:-1]))
    return Person(literal=name)


def _key(reference: Reference, authors: tuple[Person, ...], published: str) -> str:
    """Return a key of ASCII letters and digits that no other reference of the report has."""
    named = (authors[0].family or authors[0].literal) if authors else reference.title
    plain = unicodedata.normalize("NFKD", named).encode("ascii", "ignore").decode()
    word = next(iter(re.findall(r"[A-Za-z]{3,}", plain)), "source").lower()
    return f"{word}{published[:4]}-{reference.number}"
