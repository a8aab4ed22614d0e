"""Writes the light Markdown of a `Document` block by block and keeps the offsets of headings and pages."""

import re
from collections.abc import Iterable, Sequence

from claimcheck.text.cleaning import clean, fold
from deep_research.data import Document, Heading, PageStart, PartStart

_FENCE = re.compile(r"\s{0,3}(?:```+|~~~+)\s*")
_LOOKS_LIKE_HEADING = re.compile(r"#{1,6} +")
_ATTRIBUTES = re.compile(r"[ \t]{0,9}\{[#.:][^{}\n]{0,80}\}$")
"""An anchor or class behind a heading in extended Markdown (Pandoc, kramdown, VitePress)."""
_MAX_INDENT = 10  # more would no longer read as a list item
_MAX_HEADING_CHARS = 300
MAX_COLUMNS = 60
"""Columns of a table that are kept."""


class DocumentBuilder:
    """Collects blocks in order of the text; empty ones vanish. `document` gives the result."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._last = ""
        self._headings: list[Heading] = []
        self._pages: list[PageStart] = []
        self._page: int | None = None
        self._documents: list[PartStart] = []
        self._part: PartStart | None = None
        self.warnings: list[str] = []

    def __len__(self) -> int:
        """Characters written so far."""
        return self._length

    def heading(self, level: int, title: str) -> None:
        """Add a heading; one too long to be a title becomes a paragraph."""
        title = _ATTRIBUTES.sub("", fold(title).strip("# "))
        if len(title) > _MAX_HEADING_CHARS:
            self.paragraph(title)
        elif title:
            level = min(6, max(1, level))
            start = self._add("heading", f"{'#' * level} {title}")
            self._headings.append(Heading(start=start, level=level, title=title))

    def paragraph(self, text: str) -> None:
        """Add a paragraph on one line. Marks that would turn it into code or a heading are dropped."""
        text = fold(text)
        if "```" in text or "~~~" in text:
            text = _FENCE.sub("", text, count=1)
        if "# " in text:
            text = _LOOKS_LIKE_HEADING.sub("", text, count=1)
        if text:
            self._add("prose", text)

    def item(self, text: str, *, depth: int = 0, marker: str = "-") -> None:
        """Add a list item; `depth` counts from 0, `marker` is `-` or a number such as `3.`."""
        text = fold(text)
        if text:
            self._add("item", f"{' ' * min(2 * depth, _MAX_INDENT)}{marker} {text}")

    def table(self, rows: Iterable[Sequence[str]], *, header: bool = True) -> None:
        """Add a table; with `header` the first row is told apart by a line of dashes."""
        cells = [[fold(cell).replace("|", "\\|") for cell in row[:MAX_COLUMNS]] for row in rows]
        cells = [row for row in cells if any(row)]
        if not cells:
            return
        width = max(map(len, cells))
        lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in cells]
        if header and len(lines) > 1:
            lines.insert(1, "|" + " --- |" * width)
        self._add("table", "\n".join(lines))

    def code(self, text: str) -> None:
        """Add code as it stands, between fences; a fence inside it is indented so that it cannot end it."""
        lines = [line.rstrip() for line in clean(text).expandtabs(8).split("\n")]
        body = "\n".join(f"    {line.lstrip()}" if _FENCE.match(line) else line for line in lines).strip("\n")
        if body:
            self._add("code", f"```\n{body}\n```")

    def page(self, number: int) -> None:
        """Say that the next block begins page `number`."""
        self._page = number

    def part(self, title: str, *, published: str | None, media_type: str, authors: Sequence[str] = ()) -> None:
        """Say that the next block begins a document of its own."""
        named = tuple(filter(None, map(fold, authors)))
        self._part = PartStart(start=0, title=fold(title), media_type=media_type, published=published, authors=named)

    def append(self, document: Document) -> None:
        """Add the text of a document that was read, with its headings, pages, parts and warnings."""
        if not document.text.strip():
            return
        start = self._add("document", document.text)
        for found, own in ((self._headings, document.headings), (self._pages, document.pages)):
            found += [each.model_copy(update={"start": start + each.start}) for each in own]
        if document.parts:
            self._documents = [part for part in self._documents if part.start < start]
        self._documents += [part.model_copy(update={"start": start + part.start}) for part in document.parts]
        for warning in document.warnings:
            self.warn(warning)

    def warn(self, warning: str) -> None:
        """Record something inside the document that could not be read, once."""
        if warning not in self.warnings:
            self.warnings.append(warning)

    def document(
        self,
        *,
        title: str = "",
        name: str = "",
        media_type: str = "text/plain",
        published: str | None = None,
        authors: Sequence[str] = (),
    ) -> Document:
        """Return what was collected; without `title` the only heading of the highest level names it, or the file's `name`."""
        if not fold(title):
            top = [h.title for h in self._headings if h.level == min(one.level for one in self._headings)]
            title = (top[0] if len(top) == 1 else name.rsplit(".", 1)[0]) or next(iter(top), "")
        return Document(
            text="".join(self._parts),
            title=fold(title),
            media_type=media_type,
            published=published,
            authors=tuple(dict.fromkeys(name for author in authors if (name := fold(author)))),
            headings=tuple(self._headings),
            pages=tuple(self._pages),
            warnings=tuple(self.warnings),
            parts=tuple(self._documents),
        )

    def _add(self, kind: str, block: str) -> int:
        if self._parts:
            separator = "\n" if kind == self._last == "item" else "\n\n"
            self._parts.append(separator)
            self._length += len(separator)
        start = self._length
        if self._page is not None:
            self._pages.append(PageStart(start=start, number=self._page))
            self._page = None
        if self._part is not None:
            self._documents.append(self._part.model_copy(update={"start": start}))
            self._part = None
        self._parts.append(block)
        self._length += len(block)
        self._last = kind
        return start
