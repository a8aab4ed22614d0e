"""CSV and TSV."""

import csv
import io

from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._data_rows import write_rows
from deep_research.readers._decode import decode
from deep_research.text.cleaning import clean
from deep_research.text.document_builder import DocumentBuilder

_DELIMITERS = ",;\t|"
_MAX_FIELD = 10_000_000


class TableReader:
    """Reads delimited text; the delimiter is the one that cuts the lines into equally many cells."""

    name = "table"
    suffixes = (".csv", ".tsv", ".tab")
    media_types = ("text/csv", "text/tab-separated-values")

    def read(self, data: bytes, *, name: str) -> Document:
        """Return the rows, each of a large table with its column names. Raises Unreadable when it is no text."""
        text = clean(decode(data))
        csv.field_size_limit(_MAX_FIELD)
        builder = DocumentBuilder()
        try:
            write_rows(csv.reader(io.StringIO(text), delimiter=_delimiter(text, name)), builder)
        except csv.Error as error:
            raise Unreadable(f"the table is broken: {error}") from error
        return builder.document(title=name.rsplit(".", 1)[0], media_type="text/csv")


def _delimiter(text: str, name: str) -> str:
    if name.lower().endswith((".tsv", ".tab")):
        return "\t"
    lines = [line for line in text[:20_000].split("\n")[:-1] or [text] if line.strip()][:20]

    def evenness(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        common = max(set(widths), key=widths.count) if widths else 1
        return (widths.count(common) if common > 1 else 0, common)

    return max(_DELIMITERS, key=evenness)
