"""Word documents (DOCX)."""

import io
import re
from typing import Any

from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.i18n.lexicon import any_word
from deep_research.readers._zip import open_zip
from deep_research.text.document_builder import MAX_COLUMNS, DocumentBuilder

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_HEADING = re.compile(rf"{any_word('document.heading_styles')}\s*(\d)", re.IGNORECASE)
_LIST = re.compile(r"list|aufzählung|bullet", re.IGNORECASE)


class DocxReader:
    """Reads DOCX: headings by style, lists and tables in place; headers and footers are left out."""

    name = "docx"
    suffixes = (".docx", ".docm", ".dotx")
    media_types = (_MEDIA_TYPE,)

    def read(self, data: bytes, *, name: str) -> Document:
        """Return the body of the document. Raises Unreadable when it is broken or encrypted."""
        import docx  # noqa: PLC0415 - heavy

        open_zip(data, what="DOCX").close()
        try:
            file = docx.Document(io.BytesIO(data))
            builder = DocumentBuilder()
            for block in file.iter_inner_content():
                _write_table(block, builder) if hasattr(block, "rows") else _write_paragraph(block, builder)
            about = file.core_properties
            published = about.modified or about.created
        except Exception as error:  # python-docx passes on whatever XML, ZIP or lookup failed
            raise Unreadable("the DOCX file is broken") from error
        document = builder.document(
            title=about.title or "",
            media_type=_MEDIA_TYPE,
            published=published.date().isoformat() if published else None,
            authors=(about.author or "").split(";"),
        )
        return document if document.title else document.model_copy(update={"title": name.rsplit(".", 1)[0]})


def _write_paragraph(paragraph: Any, builder: DocumentBuilder) -> None:
    text = paragraph.text
    style = (paragraph.style.name if paragraph.style is not None else "") or ""
    level = _list_level(paragraph)
    if style.lower() == "title":
        builder.heading(1, text)
    elif match := _HEADING.match(style):
        builder.heading(int(match.group(1)), text)
    elif level is not None or _LIST.search(style):
        builder.item(text, depth=level or 0)
    else:
        for line in text.split("\n"):
            builder.paragraph(line)


def _list_level(paragraph: Any) -> int | None:
    """The depth of a numbered or bulleted paragraph, None for others."""
    properties = paragraph._p.pPr
    numbering = properties.numPr if properties is not None else None
    if numbering is None:
        return None
    return numbering.ilvl.val if numbering.ilvl is not None else 0


def _write_table(table: Any, builder: DocumentBuilder) -> None:
    rows: list[list[str]] = []
    for row in table.rows:
        rows.append(_row_cells(row, table, rows[-1] if rows else []))
    builder.table(rows)


def _row_cells(row: Any, table: Any, above: list[str]) -> list[str]:
    """Return the texts of a row by column: one that spans columns stands in the first, one that spans rows in each.

    The file may name any number of columns, so that a row is cut at the width that a table may have.
    """
    from docx.table import _Cell  # noqa: PLC0415 - heavy

    cells: list[str] = []
    for element in row._tr.tc_lst[:MAX_COLUMNS]:
        column = len(cells)
        goes_on = element.vMerge == "continue" and column < len(above)
        cells.append(above[column] if goes_on else _Cell(element, table).text)
        cells += [""] * (min(element.grid_span, MAX_COLUMNS) - 1)
        if len(cells) >= MAX_COLUMNS:
            break
    return cells[:MAX_COLUMNS]
