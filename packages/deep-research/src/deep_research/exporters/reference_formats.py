"""References for other programs: BibTeX, RIS, CSL-JSON, from one kind of entry."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from claimcheck.text.normal_forms import normalized
from deep_research.data import ExportInput, Reference

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}\\^|]+", re.IGNORECASE)
_ARXIV = re.compile(r"arxiv\.org/(?:abs|pdf|html)/(?:(?P<new>\d{4}\.\d{4,5})|(?P<old>[a-z-]+/\d{7}))", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_PAPER_ORIGINS = frozenset({"crossref", "europepmc", "openalex", "pubmed", "semantic_scholar", "unpaywall"})
_NAME_WORDS = range(2, 5)
_BIBTEX_SPECIAL = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
})  # fmt: skip
"""BibTeX counts braces, escaped or not: in a text there may be none."""
_UNSAFE_IN_ADDRESS = re.compile(r"[\\{}%#$^~\s]")
_RIS_TYPES = {"preprint": "UNPB", "article": "JOUR", "webpage": "ELEC", "document": "GEN"}
_CSL_TYPES = {"preprint": "article", "article": "article-journal", "webpage": "webpage", "document": "document"}


@dataclass(frozen=True)
class Person:
    """An author: family and given name, or an undivided name in `literal`."""

    family: str = ""
    given: str = ""
    literal: str = ""

    @property
    def sorted_name(self) -> str:
        """The name with the family name first."""
        return self.literal or f"{self.family}, {self.given}"


@dataclass(frozen=True)
class Entry:
    """A reference; `kind` is preprint, article, webpage or document; dates ISO or ""."""

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
    """Return `url` if it is a web address without blanks, else ""."""
    return url if re.fullmatch(r"https?://[^\s<>\"{}|\\^`]+", url, re.IGNORECASE) else ""


def _date_parts(date: str) -> list[int]:
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
    named = (authors[0].family or authors[0].literal) if authors else reference.title
    plain = normalized("NFKD", named).encode("ascii", "ignore").decode()
    word = next(iter(re.findall(r"[A-Za-z]{3,}", plain)), "source").lower()
    return f"{word}{published[:4]}-{reference.number}"


class BibtexExporter:
    """Writes one `@misc` per reference, as a page's publication type is uncertain."""

    name = "bibtex"
    suffix = ".bib"
    media_type = "application/x-bibtex; charset=utf-8"
    purpose = "the references for LaTeX and reference managers"

    def export(self, given: ExportInput) -> bytes:
        return "\n\n".join(_bibtex_entry(entry) for entry in entries_of(given)).encode() + b"\n"


def _bibtex_entry(entry: Entry) -> str:
    fields = {
        "title": f"{{{_bibtex_escaped(entry.title)}}}",
        "author": " and ".join(_bibtex_person(person) for person in entry.authors),
        "year": entry.published[:4],
        "date": entry.published,
        "doi": _bibtex_escaped(entry.doi),
        "eprint": entry.arxiv,
        "archiveprefix": "arXiv" if entry.arxiv else "",
        "howpublished": _bibtex_escaped(entry.location),
        "url": _bibtex_address(entry.url),
        "urldate": entry.retrieved if entry.url else "",
        "note": f"Reference {entry.number} of the report",
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value.strip("{}")]
    return f"@misc{{{entry.key},\n" + ",\n".join(lines) + "\n}"


def _bibtex_person(person: Person) -> str:
    if person.literal:
        return f"{{{_bibtex_escaped(person.literal)}}}"
    return f"{_bibtex_braced(person.family)}, {_bibtex_braced(person.given)}"


def _bibtex_braced(name: str) -> str:
    escaped = _bibtex_escaped(name)
    return f"{{{escaped}}}" if " and " in f" {name.lower()} " or "," in name else escaped


def _bibtex_escaped(text: str) -> str:
    return text.translate(_BIBTEX_SPECIAL)


def _bibtex_address(url: str) -> str:
    """Return an address with TeX's special characters percent-encoded, `%` escaped."""
    coded = _UNSAFE_IN_ADDRESS.sub(lambda found: found[0] if found[0] in "%#~" else f"%{ord(found[0]):02X}", url)
    return coded.replace("%", r"\%").replace("#", r"\#")


class RisExporter:
    """Writes one record a reference."""

    name = "ris"
    suffix = ".ris"
    media_type = "application/x-research-info-systems; charset=utf-8"
    purpose = "the references for reference managers"

    def export(self, given: ExportInput) -> bytes:
        return "\r\n".join(line for entry in entries_of(given) for line in _ris_record(entry)).encode() + b"\r\n"


def _ris_record(entry: Entry) -> list[str]:
    date = _date_parts(entry.published)
    retrieved = _date_parts(entry.retrieved)
    fields = [
        ("TY", _RIS_TYPES[entry.kind]),
        *(("AU", person.sorted_name) for person in entry.authors),
        ("TI", entry.title),
        ("PY", entry.published[:4]),
        ("DA", _ris_date(date) if len(date) > 1 else ""),
        ("DO", entry.doi),
        ("AN", f"arXiv:{entry.arxiv}" if entry.arxiv else ""),
        ("UR", entry.url),
        ("Y2", _ris_date(retrieved) if entry.url and retrieved else ""),
        ("N1", f"{entry.location} (reference {entry.number})" if entry.location else f"reference {entry.number}"),
        ("ID", entry.key),
    ]
    lines = [f"{tag}  - {' '.join(value.split())}" for tag, value in fields if value]
    return [*lines, "ER  - ", ""]


def _ris_date(parts: list[int]) -> str:
    year, month, day = (*(f"{part:02d}" for part in parts), "", "")[:3]
    return f"{year}/{month}/{day}/"


class CslExporter:
    """Writes one item a reference."""

    name = "csl"
    suffix = ".csl.json"
    media_type = "application/vnd.citationstyles.csl+json"
    purpose = "the references for Pandoc and citation processors (CSL-JSON)"

    def export(self, given: ExportInput) -> bytes:
        items = [_csl_item(entry) for entry in entries_of(given)]
        return json.dumps(items, ensure_ascii=False, indent=1).encode() + b"\n"


def _csl_item(entry: Entry) -> dict[str, Any]:
    published, retrieved = _date_parts(entry.published), _date_parts(entry.retrieved)
    fields = {
        "id": entry.key,
        "type": _CSL_TYPES[entry.kind],
        "title": entry.title,
        "author": [{name: part for name, part in asdict(person).items() if part} for person in entry.authors],
        "issued": {"date-parts": [published]} if published else None,
        "accessed": {"date-parts": [retrieved]} if retrieved else None,
        "DOI": entry.doi,
        "URL": entry.url,
        "number": f"arXiv:{entry.arxiv}" if entry.arxiv else "",
        "archive_location": entry.location,
        "citation-number": str(entry.number),
    }
    return {name: value for name, value in fields.items() if value}
