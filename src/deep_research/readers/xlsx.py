"""Spreadsheets (XLSX): a heading and a table for each sheet."""

import io
import warnings
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._data_rows import write_rows
from deep_research.readers._zip import open_zip
from deep_research.text.document_builder import DocumentBuilder

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MAX_COLUMNS = 200
_MAX_SHEETS = 300
_MAX_EMPTY_ROWS = 20_000
"""Rows without a value, one after another, after which a sheet is taken to be at its end."""


class XlsxReader:
    """Reads XLSX: the values that were last calculated, not the formulas."""

    name = "xlsx"
    suffixes = (".xlsx", ".xlsm", ".xltx")
    media_types = (_MEDIA_TYPE,)

    def read(self, data: bytes, *, name: str) -> Document:
        """Return all sheets. Raises Unreadable when the file is broken or encrypted."""
        import openpyxl  # noqa: PLC0415 - heavy

        open_zip(data, what="XLSX").close()
        builder = DocumentBuilder()
        try:
            with warnings.catch_warnings():  # openpyxl warns of every extension that it does not know
                warnings.simplefilter("ignore")
                book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
                for sheet in book.worksheets[:_MAX_SHEETS]:
                    _write_sheet(sheet, builder)
                if len(book.worksheets) > _MAX_SHEETS:
                    builder.warn(f"only the first {_MAX_SHEETS} of {len(book.worksheets)} sheets were read")
                about = book.properties
                book.close()
        except Exception as error:  # openpyxl passes on whatever XML, ZIP or lookup failed
            raise Unreadable("the XLSX file is broken") from error
        return builder.document(
            title=about.title or name.rsplit(".", 1)[0],
            media_type=_MEDIA_TYPE,
            authors=(about.creator or "").replace("openpyxl", "").split(";"),
        )


def _write_sheet(sheet: Any, builder: DocumentBuilder) -> None:
    # The size that the file states may be wrong, and read-only mode believes it.
    sheet.reset_dimensions()
    rows = _rows(sheet, builder)
    first = next(rows, None)
    if first is None:
        return
    builder.heading(2, sheet.title)

    def all_rows() -> Iterator[list[str]]:
        yield first
        yield from rows

    write_rows(all_rows(), builder, what=f"sheet {sheet.title!r}")


def _rows(sheet: Any, builder: DocumentBuilder) -> Iterator[list[str]]:
    empty = 0
    for row in sheet.iter_rows(max_col=_MAX_COLUMNS, values_only=True):
        cells = [_shown(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        empty = 0 if cells else empty + 1
        if cells:
            yield cells
        elif empty > _MAX_EMPTY_ROWS:
            builder.warn(f"what follows {_MAX_EMPTY_ROWS} empty rows of sheet {sheet.title!r} was not read")
            return


def _shown(value: Any) -> str:
    """A value as a person would write it: 3 for 3.0, the date for a date without time."""
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.12g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    return str(value)
