"""Write the light Markdown of a `Document` by blocks; track headings and pages."""

import re
from collections.abc import Iterable, Sequence

from claimcheck.text.cleaning import clean, fold
from claimcheck.text.sentences import FRONT_MATTER
from deep_research.data import MOST_MARKS, Document, Heading, Link, PageStart, PartStart

_FENCE = re.compile(r"\s{0,3}(?:```+|~~~+)\s*")
_LOOKS_LIKE_HEADING = re.compile(r"#{1,6} +")
_ATTRIBUTES = re.compile(r"[ \t]{0,9}\{[#.:][^{}\n]{0,80}\}$")
_MAX_INDENT = 10  # more would no longer read as a list item
_MAX_HEADING_CHARS, LONGEST_TITLE = 300, 1_000
MOST_PARTS = MOST_MARKS
_MOST_WARNINGS = 200  # that are told one by one; more are counted
MAX_COLUMNS = 60
TOO_WIDE = f"only the first {MAX_COLUMNS} columns of a table were read"
LINK_END = "\U0010fffd"
"""The sign behind the words of a link; before them stands that of its address, from `FIRST_SIGN` on (`link_start`)."""
FIRST_SIGN, _MOST_ADDRESSES, _MOST_LINKED = "\U000f0000", 5_000, 2_000_000
"""Addresses that are told apart, and characters of those of all links: each carries its own, whatever it links."""
_MOST_AUTHORS, _LONGEST_NAME = 200, 200


def _named(authors: Sequence[str]) -> tuple[str, ...]:
    names = dict.fromkeys(fold(author[:_LONGEST_NAME]) for author in authors[:_MOST_AUTHORS])
    return tuple(filter(None, names))


class DocumentBuilder:
    """A collector of blocks in text order, without empty ones; see `document`."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = self._linked = 0
        self._last = ""
        self._head: list[str] = []
        self._headings: list[Heading] = []
        self._pages: list[PageStart] = []
        self._page: int | None = None
        self._documents: list[PartStart] = []
        self._part: PartStart | None = None
        self._warnings: dict[str, None] = {}
        self._addresses: dict[str, int] = {}
        self._links: list[Link] = []

    def __len__(self) -> int:
        """Characters written so far."""
        return self._length

    def front_matter(self, fields: str) -> None:
        """Put fields, one a line, before the text."""
        lines = [line for line in clean(fields).split("\n") if line.strip() and not line.startswith("#")]
        if lines and not self._parts:
            self._add("front", "\n".join(("---", *lines, "---")))

    def heading(self, level: int, title: str) -> None:
        """Add a heading; one too long to be a title becomes a paragraph."""
        title = _ATTRIBUTES.sub("", fold(title).strip("# "))
        if len(title) > _MAX_HEADING_CHARS or len(self._headings) >= MOST_MARKS:
            self.paragraph(title)
        elif title:
            level = min(6, max(1, level))
            start = self._add("heading", f"{'#' * level} {title}")
            self._headings.append(Heading(start=start, level=level, title=self._parts[-1][level + 1 :]))

    def paragraph(self, text: str) -> None:
        """Add a paragraph on one line, without marks of code or headings."""
        text = fold(text)
        if "```" in text or "~~~" in text:
            text = _FENCE.sub("", text, count=1)
        if "# " in text:
            text = _LOOKS_LIKE_HEADING.sub("", text, count=1)
        if text:
            self._add("prose", text)

    def item(self, text: str, *, depth: int = 0, marker: str = "-") -> None:
        """Add a list item; `depth` counts from 0, `marker` is `-` or a number (`3.`)."""
        text = fold(text)
        if text:
            self._add("item", f"{' ' * min(2 * depth, _MAX_INDENT)}{marker} {text}")

    def table(self, rows: Iterable[Sequence[str]], *, header: bool = True, goes_on: bool = False) -> None:
        """Add a table; with `header` the first row is told apart by a line of dashes.

        With `goes_on` a table as wide as the one right before it has the header of that one.
        """
        cells: list[list[str]] = []
        for row in rows:
            cells.append([fold(cell).replace("|", "\\|") for cell in row[:MAX_COLUMNS]])
            if any(map(str.strip, row[MAX_COLUMNS:])):
                self.warn(TOO_WIDE)
        cells = [row for row in cells if any(row)]
        if not cells:
            return
        width = max(map(len, cells))
        lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in cells]
        dashes = "|" + " --- |" * width
        if goes_on and self._last == "table" and self._head[1:] == [dashes]:
            lines[:0] = self._head
        elif header and len(lines) > 1:
            lines.insert(1, dashes)
        self._head = lines[:2]
        self._add("table", "\n".join(lines))

    def code(self, text: str) -> None:
        """Add code as it stands between fences; indent a fence inside the code."""
        lines = [line.rstrip() for line in clean(text).expandtabs(8).split("\n")]
        body = "\n".join(f"    {line.lstrip()}" if _FENCE.match(line) else line for line in lines).strip("\n")
        if body:
            self._add("code", f"```\n{body}\n```")

    def page(self, number: int) -> None:
        """Say that the next block begins page `number`."""
        self._page = number

    def part(self, title: str, *, published: str | None, media_type: str, authors: Sequence[str] = ()) -> None:
        """Say that the next block begins a document of its own."""
        named, title = _named(authors), fold(title)[:LONGEST_TITLE]
        self._part = PartStart(start=0, title=title, media_type=media_type, published=published, authors=named)

    @property
    def is_full(self) -> bool:
        """Whether no further document of its own may begin."""
        return len(self._documents) >= MOST_PARTS

    def append(self, document: Document) -> None:
        """Add a document that was read, without its front matter."""
        if not document.text.strip():
            return
        begun = front.end() if (front := FRONT_MATTER.match(document.text)) else 0
        start = self._add("document", document.text[begun:]) - begun
        for found, own in ((self._headings, document.headings), (self._pages, document.pages)):
            left = MOST_MARKS - len(found)
            found += [each.model_copy(update={"start": start + each.start}) for each in own[:left]]
        if document.parts and self._documents and self._documents[-1].start == start:
            self._documents.pop()  # the first of its parts begins there
        room = MOST_PARTS - len(self._documents)
        self._documents += [part.model_copy(update={"start": start + part.start}) for part in document.parts[:room]]
        for warning in document.warnings:
            self.warn(warning)

    def link_start(self, address: str) -> str:
        """Return the sign before words that link to `address`; "" beyond the maximum."""
        number = self._addresses.setdefault(address, len(self._addresses))
        return chr(ord(FIRST_SIGN) + number) if number < _MOST_ADDRESSES else ""

    def warn(self, warning: str) -> None:
        """Record something inside the document that could not be read, once."""
        self._warnings.setdefault(warning[:LONGEST_TITLE])

    def document(
        self,
        *,
        media_type: str,
        title: str = "",
        name: str = "",
        published: str | None = None,
        authors: Sequence[str] = (),
    ) -> Document:
        """Return the document; `title` defaults to the `naming_heading`, then to `name`."""
        if not fold(title):
            first = "".join(heading.title for heading in self._headings[:1])
            title = naming_heading(self._headings) or name.rsplit(".", 1)[0] or first
        return Document(
            text="".join(self._parts),
            title=fold(title[: 10 * LONGEST_TITLE])[:LONGEST_TITLE],
            media_type=media_type,
            published=published,
            authors=_named(authors),
            headings=tuple(self._headings),
            pages=tuple(self._pages),
            links=tuple(self._links),
            warnings=self._told(),
            parts=tuple(self._documents),
        )

    def _told(self) -> tuple[str, ...]:
        told, more = list(self._warnings)[:_MOST_WARNINGS], len(self._warnings) - _MOST_WARNINGS
        return (*told, f"{more} more things in it could not be read") if more > 0 else tuple(told)

    def _add(self, kind: str, block: str) -> int:
        if self._parts:
            separator = "\n" if kind == self._last == "item" else "\n\n"
            self._parts.append(separator)
            self._length += len(separator)
        start = self._length
        if self._page is not None:
            if len(self._pages) < MOST_MARKS:
                self._pages.append(PageStart(start=start, number=self._page))
            self._page = None
        if self._part is not None:
            self._documents.append(self._part.model_copy(update={"start": start}))
            self._part = None
        self._parts.append(self._without_signs(block, start) if self._addresses else block)
        self._length += len(self._parts[-1])
        self._last = kind
        return start

    def _without_signs(self, block: str, start: int) -> str:
        """Return a block without the signs of links, and keep where their words stand."""
        kept: list[str] = []
        known, begin, address = list(self._addresses), 0, ""
        for char in block:
            number = ord(char) - ord(FIRST_SIGN)
            if char == LINK_END:
                if address and len(kept) > begin and self._linked < _MOST_LINKED:
                    self._linked += len(address)
                    self._links.append(Link(start=start + begin, end=start + len(kept), address=address))
                address = ""
            elif 0 <= number < len(known):
                begin, address = len(kept), known[number]
            else:
                kept.append(char)
        return "".join(kept)


def naming_heading(headings: Sequence[Heading]) -> str:
    """Return the sole top heading, if of level 1 or opening the text, else ""."""
    highest = min((heading.level for heading in headings), default=0)
    top = [heading for heading in headings if heading.level == highest]
    return top[0].title if len(top) == 1 and (highest == 1 or top[0].start == 0) else ""
