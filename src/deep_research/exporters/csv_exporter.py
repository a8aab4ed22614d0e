"""The table of evidence as CSV."""

import csv
import io

from deep_research.data import ExportInput
from deep_research.exporters._evidence_table import COLUMNS, Cell, rows_of

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


class CsvExporter:
    """Writes UTF-8 with a byte order mark, by which spreadsheets know it.

    A text that a spreadsheet would calculate is preceded by an apostrophe, as OWASP advises for CSV.
    """

    name = "csv"
    suffix = ".csv"
    media_type = "text/csv; charset=utf-8"
    purpose = "the evidence: a row for each statement and passage"

    def export(self, given: ExportInput) -> bytes:
        """Return the table (RFC 4180)."""
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        writer.writerows([_harmless(cell) for cell in row] for row in rows_of(given))
        return text.getvalue().encode("utf-8-sig")


def _harmless(cell: Cell) -> Cell:
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip(" ").startswith(_FORMULA_STARTS) else cell
