"""References for Pandoc, Zotero and citation processors: CSL-JSON."""

import json
from typing import Any

from deep_research.data import ExportInput
from deep_research.exporters._bibliography import Entry, Person, date_parts, entries_of

_TYPES = {"preprint": "article", "article": "article-journal", "webpage": "webpage", "document": "document"}


class CslExporter:
    """Writes one item a reference."""

    name = "csl"
    suffix = ".csl.json"
    media_type = "application/vnd.citationstyles.csl+json"
    purpose = "the references for Pandoc and citation processors (CSL-JSON)"

    def export(self, given: ExportInput) -> bytes:
        """Return the references as a JSON array."""
        items = [_item(entry) for entry in entries_of(given)]
        return json.dumps(items, ensure_ascii=False, indent=1).encode() + b"\n"


def _item(entry: Entry) -> dict[str, Any]:
    published, retrieved = date_parts(entry.published), date_parts(entry.retrieved)
    fields = {
        "id": entry.key,
        "type": _TYPES[entry.kind],
        "title": entry.title,
        "author": [_person(person) for person in entry.authors],
        "issued": {"date-parts": [published]} if published else None,
        "accessed": {"date-parts": [retrieved]} if retrieved else None,
        "DOI": entry.doi,
        "URL": entry.url,
        "number": f"arXiv:{entry.arxiv}" if entry.arxiv else "",
        "archive_location": entry.location,
        "citation-number": str(entry.number),
    }
    return {name: value for name, value in fields.items() if value}


def _person(person: Person) -> dict[str, str]:
    return {"literal": person.literal} if person.literal else {"family": person.family, "given": person.given}
