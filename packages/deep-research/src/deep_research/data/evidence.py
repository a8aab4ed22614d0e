"""Evidence (documents, sources, snapshots, passages), claims, verdicts and gaps.

All offsets are in Unicode code points (Python string indices) and half open: `text[start:end]`.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field

from deep_research.data.noun import Noun

VerdictKind = Literal["supported", "contradicted", "misleading", "unverified", "own"]
"""What became of a statement.

*supported*: its cited passages say it. *contradicted*: a source says the opposite. *misleading*: the passages say
something else than a reader takes from it. *unverified*: nobody could tell. *own*: it cites nothing and is the
author's reasoning.
"""
ClaimKind = Literal["fact", "own"]  # whether a statement cites passages (*fact*) or is the author's (*own*)


class Heading(Noun):
    """A document heading; `start` is its line's offset, `level` 1 is the highest."""

    start: int
    level: int
    title: str


class PageStart(Noun):
    """Where a page begins; `number` counts from 1 as a reader of the file would."""

    start: int
    number: int


class Link(Noun):
    """Words of a document that lead to an address of the web."""

    start: int
    end: int
    address: str


class PartStart(Noun):
    """The start and data of a document within a file (a message, an attachment)."""

    start: int
    title: str
    media_type: str
    published: str | None = None
    authors: tuple[str, ...] = ()


DOUBT_SIGN = "°"  # what stands behind a statement, or the value of a chart, that is not confirmed
MOST_MARKS = 20_000
"""Headings of a document that are told apart, and pages, links, parts and warnings: each costs more than its text."""
_first = BeforeValidator(lambda marks: marks[:MOST_MARKS] if isinstance(marks, list | tuple) else marks)


class Document(Noun):
    """A reader's output for a file or page: structured plain text, not yet stored.

    The text is light Markdown: headings as `## Title` lines, list items as `- item`, tables as
    `| a | b |` rows, code between lines of three backticks, blank lines between blocks;
    no emphasis; `links` says where the words of a PDF lead. `warnings` says what could not be read inside it. A file that
    holds several documents has `parts`, the first of which begins it. Of each list the first `MOST_MARKS` are kept,
    whoever hands it over.
    """

    text: str
    title: str = ""
    media_type: str = "text/plain"
    published: str | None = None
    authors: tuple[str, ...] = ()
    headings: Annotated[tuple[Heading, ...], _first] = ()
    pages: Annotated[tuple[PageStart, ...], _first] = ()
    links: Annotated[tuple[Link, ...], _first] = ()
    warnings: Annotated[tuple[str, ...], _first] = ()
    parts: Annotated[tuple[PartStart, ...], _first] = ()

    def split(self) -> "tuple[Document, ...]":
        """Return the separate documents of a file that holds several, else this one."""
        if not self.parts:
            return (self,)
        starts = [part.start for part in self.parts]
        ends, headings = [*starts[1:], len(self.text)], _by_part(self.headings, starts)
        cut = zip(self.parts, ends, headings, _by_part(self.pages, starts), strict=True)
        return tuple(
            Document(
                text=self.text[part.start : end].rstrip(),
                **part.model_dump(exclude={"start"}),
                headings=tuple(heads),
                pages=tuple(pages),
            )
            for part, end, heads, pages in cut
        )

    @property
    def linked_text(self) -> str:
        """The text with its links as Markdown."""
        pieces, position = list[str](), 0
        for link in self.links:
            pieces += (self.text[position : link.start], write_link(self.text[link.start : link.end], link.address))
            position = link.end
        return "".join((*pieces, self.text[position:]))

    @property
    def sha256(self) -> str:
        """Hexadecimal SHA-256 of the text as UTF-8: the address of its snapshot."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def write_link(shown: str, address: str) -> str:
    """Return a link as Markdown: its words with its address, or the address alone."""
    if not shown or shown.startswith(("http:", "https:")):
        return address
    return f"[{shown.removeprefix('[').removesuffix(']')}]({address})"


_Mark = TypeVar("_Mark", Heading, PageStart)


def _by_part(marks: Iterable[_Mark], starts: Sequence[int]) -> list[list[_Mark]]:
    """Return each part's marks, with offsets from its start; `starts` are sorted."""
    found: list[list[_Mark]] = [[] for _ in starts]
    for mark in marks:
        place = bisect_right(starts, mark.start) - 1
        if place >= 0:
            found[place].append(mark.model_copy(update={"start": mark.start - starts[place]}))
    return found


class Source(Noun):
    """One source; `key` is its unique address or `file:` path, `id` is like `s7`."""

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
    """An addressable span of a snapshot: `text == snapshot.text[start:end]`, exactly.

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
    """A passage found by a search, with a score, higher is better within that search."""

    passage: Passage
    score: float
    title: str = ""


class Told(Noun):
    """A message to the reader as phrase names and values, for any language.

    `codes` is empty where somebody else said it (a source, a server, a model). See `i18n/catalog.py`.
    """

    codes: tuple[str, ...] = ()
    values: dict[str, str] = Field(default_factory=dict)

    def __hash__(self) -> int:
        """Return a hash without the phrase values, which are unhashable and redundant."""
        return hash(tuple(value for name, value in self if name != "values"))


class Verdict(Told):
    """The judgement of a statement; `reason` is in English unless `by_model`."""

    kind: VerdictKind
    reason: str = ""
    by_model: bool = False


class Claim(Noun):
    """One statement (sentence, list item or table row) and the passage ids it cites.

    `id` is `c12`; `where` is the heading that it stands under. `text` is without citations;
    `start` and `end` are its offsets in the Markdown that was verified, citations included.
    """

    id: str
    text: str
    passages: tuple[str, ...] = ()
    kind: ClaimKind = "fact"
    verdict: Verdict
    where: str = ""
    start: int = 0
    end: int = 0

    @property
    def stands(self) -> bool:
        """Whether a judge has found that its passages say it."""
        return self.verdict.kind == "supported"


COVERAGE = "coverage"
"""What a gap is about that a reviewer found; the writer of the report is told it, and says it in its place."""


class Gap(Told):
    """A thing not found or done, and the reason in English; never hidden in results."""

    what: str
    why: str
    source: str = ""


class Reference(Noun):
    """A numbered entry of the source list, made by code from what is really cited.

    `quote` is the sentence of the source that carries what cites it first.
    """

    number: int = Field(ge=1, le=1_000_000)
    source: str
    title: str
    url: str = ""
    location: str = ""
    published: str | None = None
    passages: tuple[str, ...] = ()
    quote: str = ""
