"""PDF: text by page, lines joined into paragraphs, running headers and footers dropped."""

import re
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._html_meta import iso_date
from deep_research.readers._pdf_lines import Line, blocks, page_lines
from deep_research.text.cleaning import fold
from deep_research.text.light_markdown import DocumentBuilder

_MAX_PAGES = 5000
_EDGE_LINES = 3  # lines at the top and bottom of a page among which running headers and footers are looked for
_REPEATED = 0.3  # of the pages
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_PAGE_NUMBER = re.compile(
    r"[-–—\s]*(?:page|p\.|第)?\s*(?:\d{1,4}|[ivxlc]{1,6})\s*(?:(?:of|/)\s*\d+|页|頁|쪽)?[-–—\s]*", re.IGNORECASE
)
_CONTENTS_LINE = re.compile(r"(?:\.\s?){5,}\s*(?:\d+|[ivxlc]+)?\s*$")
_NO_TITLE = re.compile(r"^(?:untitled|microsoft |powerpoint |slide 1$)|\.(?:dvi|docx?|tex|indd|pptx?|qxd|fm)$")
_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD, https://pdfium.googlesource.com/pdfium/+/refs/heads/main/public/fpdfview.h


_PDFIUM = threading.Lock()  # the library is not safe across threads


class PdfReader:
    """Reads PDF with PDFium. Scanned pages have no text; they are not guessed."""

    name = "pdf"
    suffixes = (".pdf",)
    media_types = ("application/pdf",)

    def read(self, data: bytes, *, name: str) -> Document:
        """Return the text with the offsets of its pages.

        Raises Unreadable when the file is broken, encrypted, or has no text (scanned pages).
        """
        with _PDFIUM:
            return self._read(data, name)

    def _read(self, data: bytes, name: str) -> Document:
        pdf = _open(data)
        try:
            builder = DocumentBuilder()
            pages = [page_lines(pdf, number) for number in range(min(len(pdf), _MAX_PAGES))]
            if len(pdf) > _MAX_PAGES:
                builder.warn(f"only the first {_MAX_PAGES} of {len(pdf)} pages were read")
            if not any(pages):
                raise Unreadable(f"no text in its {len(pdf)} pages; they are probably scanned images")
            if empty := sum(not lines for lines in pages):
                builder.warn(f"{empty} of {len(pdf)} pages have no text (images?)")
            _write(pages, builder)
            about = pdf.get_metadata_dict(skip_empty=True)
        finally:
            pdf.close()
        return _document(builder, about, name)


def _open(data: bytes) -> Any:
    import pypdfium2 as pdfium  # noqa: PLC0415 - heavy

    try:
        pdf = pdfium.PdfDocument(data)
        if not len(pdf):
            raise Unreadable("a PDF without pages")
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_ERROR:
            raise Unreadable("encrypted; a password is needed") from error
        raise Unreadable("the PDF is broken") from error
    return pdf


def _document(builder: DocumentBuilder, about: dict[str, str], name: str) -> Document:
    title = fold(about.get("Title", ""))
    if _NO_TITLE.search(title.lower()):
        title = ""
    date = re.match(r"D:(\d{4})(\d\d)?(\d\d)?", about.get("CreationDate", ""))
    document = builder.document(
        title=title,
        media_type="application/pdf",
        published=iso_date("-".join(part for part in date.groups() if part)) if date else None,
        authors=re.split(r"[;,]\s*|\s+and\s+", about.get("Author", "")),
    )
    return document if document.title else document.model_copy(update={"title": name.rsplit(".", 1)[0]})


def _write(pages: list[list[Line]], builder: DocumentBuilder) -> None:
    running = _running_lines(pages)
    body = _body_size(pages)
    for number, lines in enumerate(pages, start=1):
        kept = list(_without_edges(lines, running))
        builder.page(number)
        for block in blocks(kept, body):
            if block.kind == "heading":
                builder.heading(block.level, block.text)
            elif block.kind == "item":
                builder.item(block.text)
            else:
                builder.paragraph(block.text)


def _pattern(text: str) -> str:
    """A line without its numbers: "Chapter 3 · 57" and "Chapter 3 · 58" are the same running line."""
    return _DIGITS.sub("#", fold(text).lower())


def _running_lines(pages: list[list[Line]]) -> set[str]:
    """The lines that stand at the edges of many pages."""
    if len(pages) < 3:
        return set()
    counts: Counter[str] = Counter()
    for lines in pages:
        edges = [*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:]]
        counts.update({_pattern(line.text) for line in edges})
        # The outermost line is nearly always a running one, often changing with the chapter.
        counts.update({_pattern(line.text) for line in (lines[:1] + lines[-1:])})
    least = max(6, min(10, _REPEATED * len(pages)))
    return {pattern for pattern, count in counts.items() if count >= least}


def _without_edges(lines: list[Line], running: set[str]) -> Iterator[Line]:
    last = len(lines) - _EDGE_LINES
    for index, line in enumerate(lines):
        at_edge = index < _EDGE_LINES or index >= last
        outermost = index in (0, len(lines) - 1)
        if _CONTENTS_LINE.search(line.text) or (at_edge and _pattern(line.text) in running):
            continue
        if outermost and _PAGE_NUMBER.fullmatch(line.text.strip()):
            continue
        yield line


def _body_size(pages: list[list[Line]]) -> float:
    """The font size in which most of the text is set."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


COMPONENT = PdfReader
