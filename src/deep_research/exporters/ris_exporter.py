"""References for reference managers (EndNote, Zotero, Mendeley): the RIS format."""

from deep_research.data import ExportInput
from deep_research.exporters._bibliography import Entry, date_parts, entries_of

_TYPES = {"preprint": "UNPB", "article": "JOUR", "webpage": "ELEC", "document": "GEN"}


class RisExporter:
    """Writes one record a reference."""

    name = "ris"
    suffix = ".ris"
    media_type = "application/x-research-info-systems; charset=utf-8"
    purpose = "the references for reference managers"

    def export(self, given: ExportInput) -> bytes:
        """Return the references as RIS in UTF-8, lines ended as the format asks."""
        return "\r\n".join(line for entry in entries_of(given) for line in _record(entry)).encode() + b"\r\n"


def _record(entry: Entry) -> list[str]:
    date = date_parts(entry.published)
    retrieved = date_parts(entry.retrieved)
    fields = [
        ("TY", _TYPES[entry.kind]),
        *(("AU", person.sorted_name) for person in entry.authors),
        ("TI", entry.title),
        ("PY", entry.published[:4]),
        ("DA", _date(date) if len(date) > 1 else ""),
        ("DO", entry.doi),
        ("AN", f"arXiv:{entry.arxiv}" if entry.arxiv else ""),
        ("UR", entry.url),
        ("Y2", _date(retrieved) if entry.url else ""),
        ("N1", f"{entry.location} (reference {entry.number})" if entry.location else f"reference {entry.number}"),
        ("ID", entry.key),
    ]
    lines = [f"{tag}  - {' '.join(value.split())}" for tag, value in fields if value]
    return [*lines, "ER  - ", ""]


def _date(parts: list[int]) -> str:
    year, month, day = (*(f"{part:02d}" for part in parts), "", "")[:3]
    return f"{year}/{month}/{day}/"
