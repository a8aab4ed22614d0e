"""Text, Markdown and reStructuredText."""

import re
from pathlib import PurePath

from deep_research.data import Document
from deep_research.i18n.lexicon import any_word
from deep_research.readers._decode import decode
from deep_research.readers._markdown import write_markdown
from deep_research.readers._plain_text import write_text
from deep_research.readers._rst import write_rst
from deep_research.text.cleaning import clean
from deep_research.text.document_builder import DocumentBuilder

_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
_RST = (".rst", ".rest")
_MARKDOWN_SIGN = re.compile(r"^#{1,6} \S|^```|^\[[^\]]+\]\(|\]\(https?://|^\|.*\|\s*$", re.MULTILINE)
_RST_SIGN = re.compile(r"^\.\. [\w-]+::|:[a-z]+:`[^`]+`|^\.\. _", re.MULTILINE)
_DATE = re.compile(r"\d{4}(?:-\d{2}){0,2}")
_DATE_LINE = re.compile(
    rf"^\W{{0,4}}{any_word('document.date_labels')}\W{{0,4}}[:：]\W{{0,4}}(\d{{4}}(?:-\d{{2}}){{0,2}})\b",
    re.I | re.M,
)
"""A line near the beginning that says when a text was published."""


class PlainReader:
    """Reads text, Markdown and reStructuredText, by suffix or, without one that tells, by their signs."""

    name = "plain"
    suffixes = (".txt", ".text", *_MARKDOWN, *_RST)
    media_types = ("text/plain", "text/markdown", "text/x-rst")

    def read(self, data: bytes, *, name: str) -> Document:
        """Return the text with wrapped lines joined. Raises Unreadable when `data` is no text."""
        text = clean(decode(data))
        builder = DocumentBuilder()
        kind = _kind(name, text)
        fields: dict[str, str] = {}
        if kind == "text/markdown":
            fields = write_markdown(text, builder)
        elif kind == "text/x-rst":
            write_rst(text, builder)
        else:
            write_text(text, builder)
        date = _DATE.match(fields.get("date") or fields.get("published") or "")
        line = _DATE_LINE.search(text[:1500])
        published = date.group() if date else line.group(1) if line else None
        authors = fields.get("authors") or fields.get("author") or ""
        document = builder.document(
            title=fields.get("title", ""),
            media_type=kind,
            published=published,
            authors=[author.strip(" \"'") for author in authors.split(",")],
        )
        return document if document.title else document.model_copy(update={"title": PurePath(name).stem or name})


def _kind(name: str, text: str) -> str:
    suffix = PurePath(name.lower()).suffix
    if suffix in _MARKDOWN:
        return "text/markdown"
    if suffix in _RST or (name.lower().endswith(".rst.txt")):
        return "text/x-rst"
    if suffix == ".text":
        return "text/plain"
    sample = text[:20_000]
    if len(_RST_SIGN.findall(sample)) > 1:
        return "text/x-rst"
    return "text/markdown" if len(_MARKDOWN_SIGN.findall(sample)) > 1 else "text/plain"
