"""Page text as a source sent it, Markdown or one block per line, read as a document."""

import re

from deep_research import registry
from deep_research.data import Document, Found
from deep_research.i18n.language import CJK, columns
from deep_research.sources._record_documents import headed

_LINE_OF_PROSE = re.compile(r"\n(?<![\n|]\n)(?![\n|\-*>#\d ])")  # the line end first, which is quick to find
_WIDE = re.compile(f"[{CJK}]")
_ENDED = re.compile(r"[.!?:;。！？：；…][\"'”’)\]」』）]*$")
_BROKEN_FROM, _SURELY_BROKEN_FROM = 40, 60
"""Widths in columns from which a line without an end goes on in the next."""
_MARKED = re.compile(r"^#{2,6} \S[^\n]*\n\s*\n[^#\s]|^```|\]\((?:https?:|/|#)|^\|? *:?-{3,}:? *\|", re.MULTILINE)
"""Markdown; a line with one # may be a comment in code."""


def read_page(found: Found) -> Document:
    """Return the page that a source sent with its result. Raises Unreadable when it is no text."""
    text = found.page_text
    name = "page.md" if _MARKED.search(text) else "page.text"
    read = registry.component("readers", "plain")().read(_lines_apart(text).encode("utf-8", "replace"), name=name)
    return headed(read, found.title, published=found.published, authors=found.authors)


def _lines_apart(text: str) -> str:
    """Page text without Markdown has one block per line; its lines must not be joined to one paragraph.

    Where the page's own line breaks were kept, the lines of a sentence stay together.
    """
    if "```" in text:
        return text
    return _LINE_OF_PROSE.sub(lambda found: "\n" if _goes_on(text, found.start()) else "\n\n", text)


def _goes_on(text: str, end: int) -> bool:
    """Tell whether the line that ends at `end` was broken inside a sentence."""
    line = text[text.rfind("\n", 0, end) + 1 : end].rstrip()
    following = text[end + 1 : end + 40].lstrip(" ")[:1]
    wide = columns(line)
    if _ENDED.search(line) or wide < _BROKEN_FROM:
        return False
    return following.islower() or bool(_WIDE.match(following)) or wide >= _SURELY_BROKEN_FROM
