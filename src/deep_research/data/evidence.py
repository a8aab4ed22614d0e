"""What evidence is made of: documents as read, sources, snapshots, passages.

All offsets are in Unicode code points (Python string indices) and half open: `text[start:end]`.
"""

import hashlib

from deep_research.data.noun import Noun


class Heading(Noun):
    """A heading of a document. `start` is the offset of its line, `level` 1 is the highest."""

    start: int
    level: int
    title: str


class PageStart(Noun):
    """Where a page begins; `number` counts from 1 as a reader of the file would."""

    start: int
    number: int


class Document(Noun):
    """What a reader makes of a file or page: plain text with its structure, not yet stored.

    The text is light Markdown: headings as `## Title` lines, list items as `- item`, tables as
    `| a | b |` rows, code between lines of three backticks, blank lines between blocks;
    no emphasis, no links. `warnings` says what could not be read inside it.
    """

    text: str
    title: str = ""
    media_type: str = "text/plain"
    published: str | None = None
    authors: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    pages: tuple[PageStart, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Hexadecimal SHA-256 of the text as UTF-8: the address of its snapshot."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


class Source(Noun):
    """One thing out there. `key` names it uniquely (an address or `file:` path); `id` is `s7`."""

    id: str
    key: str
    title: str
    url: str = ""
    origin: str
    location: str = ""
    published: str | None = None
    authors: tuple[str, ...] = ()
    found_by: str = ""


class Snapshot(Noun):
    """The text of a source as it was read. Two sources with the same text share one."""

    sha256: str
    source: str
    text: str
    retrieved_at: str
    media_type: str
    headings: tuple[Heading, ...] = ()
    pages: tuple[PageStart, ...] = ()


class Passage(Noun):
    """An addressable stretch of a snapshot: `text == snapshot.text[start:end]`, exactly.

    `id` is `s7p3` (third passage of source s7, counted from 1); `heading` is the path of headings
    above it, joined by ` > `.
    """

    id: str
    source: str
    sha256: str
    start: int
    end: int
    text: str
    page: int | None = None
    heading: str = ""


class PassageHit(Noun):
    """A passage that answers a search, with its score (higher is better; comparable within one search)."""

    passage: Passage
    score: float
    title: str = ""
