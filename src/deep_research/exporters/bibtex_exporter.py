"""References for LaTeX."""

import re

from deep_research.data import ExportInput
from deep_research.exporters._bibliography import Entry, Person, entries_of

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip
"""BibTeX counts braces, escaped or not: in a text there may be none."""
_UNSAFE_IN_ADDRESS = re.compile(r"[\\{}%#$^~\s]")


class BibtexExporter:
    """Writes one `@misc` a reference: what kind of publication a page is, is not known for certain."""

    name = "bibtex"
    suffix = ".bib"
    media_type = "application/x-bibtex; charset=utf-8"
    purpose = "the references for LaTeX and reference managers"

    def export(self, given: ExportInput) -> bytes:
        """Return the references as BibTeX in UTF-8."""
        return "\n\n".join(_entry(entry) for entry in entries_of(given)).encode() + b"\n"


def _entry(entry: Entry) -> str:
    fields = {
        "title": f"{{{_escaped(entry.title)}}}",
        "author": " and ".join(_person(person) for person in entry.authors),
        "year": entry.published[:4],
        "date": entry.published,
        "doi": _escaped(entry.doi),
        "eprint": entry.arxiv,
        "archiveprefix": "arXiv" if entry.arxiv else "",
        "howpublished": _escaped(entry.location),
        "url": _address(entry.url),
        "urldate": entry.retrieved if entry.url else "",
        "note": f"Reference {entry.number} of the report",
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value.strip("{}")]
    return f"@misc{{{entry.key},\n" + ",\n".join(lines) + "\n}"


def _person(person: Person) -> str:
    if person.literal:
        return f"{{{_escaped(person.literal)}}}"
    return f"{_braced(person.family)}, {_braced(person.given)}"


def _braced(name: str) -> str:
    """Return a name, in braces where a word in it would divide it."""
    escaped = _escaped(name)
    return f"{{{escaped}}}" if " and " in f" {name.lower()} " or "," in name else escaped


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(char, char) for char in text)


def _address(url: str) -> str:
    """Return an address with what TeX would take for its own as percent codes, `%` itself escaped."""
    coded = _UNSAFE_IN_ADDRESS.sub(lambda found: found[0] if found[0] in "%#~" else f"%{ord(found[0]):02X}", url)
    return coded.replace("%", r"\%").replace("#", r"\#")
