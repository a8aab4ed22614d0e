"""What an API knows about one thing, as a document that claims can cite: title, facts, sections."""

import re
from collections.abc import Iterable, Sequence

from deep_research.data import Document, Heading, PageStart
from deep_research.text.document_builder import DocumentBuilder

_ITEM = re.compile(r"(?:[-*•]|(\d{1,3}[.)]))\s+(?=\S)")
_BLANK_LINES = re.compile(r"\n\s*\n")
_MAX_SHOWN_AUTHORS = 20

Fact = tuple[str, object]
"""What it is called, and its value; a fact without a value is left out."""


def document(
    title: str,
    *,
    facts: Iterable[Fact] = (),
    sections: Iterable[tuple[str, str]] = (),
    published: str | None = None,
    authors: Sequence[str] = (),
    warnings: Iterable[str] = (),
) -> Document:
    """Return the title as a heading, the facts as a list, and each section under its heading.

    Authors and the date of publication are the first facts. Sections without text are left out.
    """
    builder = DocumentBuilder()
    builder.heading(1, title)
    for name, value in (("Authors", people(authors)), ("Published", published), *facts):
        if shown := _shown(value):
            builder.item(f"{name}: {shown}")
    for heading, body in sections:
        if body.strip():
            builder.heading(2, heading)
            write_text(builder, body)
    for warning in warnings:
        builder.warn(warning)
    return builder.document(title=title, media_type="text/markdown", published=published, authors=authors)


def headed(
    body: Document,
    title: str,
    *,
    facts: Iterable[Fact] = (),
    published: str | None = None,
    authors: Sequence[str] = (),
) -> Document:
    """Return a document that was read elsewhere below a title and facts; offsets follow."""
    whole = joined(document(title, facts=facts), body)
    told = {"title": title, "published": published or body.published, "authors": tuple(authors) or body.authors}
    return whole.model_copy(update=told)


def joined(above: Document, below: Document) -> Document:
    """Return two documents as one with the title and facts of the first; headings and pages of both."""
    if not below.text:
        return above
    shift = len(above.text) + 2 if above.text else 0
    headings = [Heading(start=h.start + shift, level=h.level, title=h.title) for h in below.headings]
    pages = [PageStart(start=page.start + shift, number=page.number) for page in below.pages]
    return above.model_copy(
        update={
            "text": f"{above.text}\n\n{below.text}" if above.text else below.text,
            "headings": (*above.headings, *headings),
            "pages": (*above.pages, *pages),
            "warnings": (*above.warnings, *below.warnings),
            "media_type": below.media_type,
        }
    )


def write_text(builder: DocumentBuilder, text: str) -> None:
    """Add plain text: paragraphs are parted by blank lines, lines that begin like list items are items."""
    for block in _BLANK_LINES.split(text):
        prose: list[str] = []
        for line in block.splitlines():
            if match := _ITEM.match(line.strip()):
                builder.paragraph("\n".join(prose))
                prose = []
                builder.item(line.strip()[match.end() :], marker=match[1] or "-")
            else:
                prose.append(line)
        builder.paragraph("\n".join(prose))


def people(names: Sequence[str]) -> str:
    """Return the names, the first twenty of a long list with the number of the others."""
    shown = "; ".join(names[:_MAX_SHOWN_AUTHORS])
    more = len(names) - _MAX_SHOWN_AUTHORS
    return f"{shown}; and {more} more" if more > 0 else shown


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value if item)
    return "" if value is None else str(value)
