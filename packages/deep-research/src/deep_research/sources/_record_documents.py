"""Turn an API's texts into documents that can be cited: records and pages.

A record has a title, facts and sections; a page is Markdown, or has one block per line. Markup in titles and abstracts
(HTML, JATS XML, MathML) is taken out.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from claimcheck.language import columns
from claimcheck.text.cleaning import clean, fold, shorten
from deep_research import registry
from deep_research.data import Document, Found
from deep_research.data.noun import copy_fields
from deep_research.text.document_builder import DocumentBuilder
from deep_research.text.listed_headings import with_marked_headings
from deep_research.text.page_noise import without_menus

_TAG_NAMES = (
    "a abbr abstract acronym address annotation article aside b bdi bdo big blockquote bold br caption center cite code"
    " content dd del details dfn div dl dt em ext-link fig figure font footer g h1 h2 h3 h4 h5 h6 header hr i img"
    " inf inline-formula inline-graphic ins italic kbd label li link list list-item main mark math mfenced mfrac mi mn"
    " mo monospace mover mpadded mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder"
    " munderover named-content nav ol overline p pre q roman s samp sans-serif sc script sec section semantics small"
    " span strike strong style styled-content sub summary sup table tbody td tex-math tfoot th thead time title tr tt u"
    " ul underline uri var xref"
).split()
_NAME = rf"(?:[a-z]+:[a-z][\w-]*|{'|'.join(sorted(_TAG_NAMES, key=len, reverse=True))})"
_TAG = re.compile(rf"<(/?)({_NAME})((?:\s[^<>]*)?)(/?)>", re.IGNORECASE)
_ESCAPED_TAG = re.compile(rf"&lt;(/?{_NAME}(?:\s[^<>&]*)?/?)&gt;", re.IGNORECASE)
_DROPPED = re.compile(r"(<!--)|(<\?)|<(?:[a-z]+:)?(script|style|annotation(?:-xml)?)\b[^<>]*>", re.IGNORECASE)
# JATS writes a formula twice, as TeX and as MathML; the latter reads better as plain text.
_TWICE = re.compile(r"<(?:jats:)?(tex-math)\b[^<>]*>", re.IGNORECASE)
_ENDS = {"<!--": "-->", "<?": r"\?>", "tex-math": r"</(?:jats:)?tex-math\s*>(?=\s*<(?:mml:)?math\b)"}
_EXPONENT = re.compile(r"(?<=\d)\s*<((?:[a-z]+:)?sup)\b[^<>]*>\s*([-−–+]?\d+)\s*</\1\s*>", re.IGNORECASE)
_ESCAPED_TWICE = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#x?[0-9a-fA-F]{1,6});")
_BREAKS = frozenset(
    "p div li ul ol br tr table sec section list list-item blockquote dd dt dl pre hr title label caption"
    " h1 h2 h3 h4 h5 h6".split()
)
_HEADINGS = frozenset("title h1 h2 h3 h4 h5 h6".split())
_MAX_HEADING_CHARS = 100

Section = tuple[str, str]
"""A heading ("" for none) and the text under it, paragraphs parted by blank lines."""
_ITEM = re.compile(r"(?:[-*•]|(\d{1,3}[.)]))\s+(?=\S)")
_BETWEEN_BLOCKS = re.compile(r"\n\s*\n")
_MAX_SHOWN_AUTHORS = 20
Fact = tuple[str, object]
"""What it is called, and its value; a fact without a value is left out."""
_LINE_OF_PROSE = re.compile(r"\n(?<![\n|]\n)(?![\n|\-*>#\d ])")  # the line end first, which is quick to find
_ENDED = re.compile(r"[.!?:;。！？：；…][\"'”’)\]」』）]*$")
_BROKEN_FROM = 60
"""The width in columns from which a line without an end goes on in the next."""
_MARKED = re.compile(r"^#{2,6} \S[^\n]*\n\s*\n[^#\s]|^```|\]\((?:https?:|/|#)|^\|? *:?-{3,}:? *\|", re.MULTILINE)
"""Markdown; a line with one # may be a comment in code."""
snippet = partial(shorten, most=300)
"""The beginning of a text on one line."""


def line(markup: str) -> str:
    """Return `markup` as one line: tags removed, entities decoded, powers as `10^-3`."""
    return fold(" ".join(" ".join(part) for part in sections(markup)))


def paragraphs(markup: str) -> str:
    """Return the text of `markup`, paragraphs and headings parted by blank lines."""
    return "\n\n".join(part for section in sections(markup) for part in section if part)


def sections(markup: str) -> list[Section]:
    """Return an abstract's sections in order, headed by `<title>`, `<h4>` and alike."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for is_heading, piece in _pieces(markup):
        if is_heading and len(piece) <= _MAX_HEADING_CHARS:
            found.append((fold(piece).rstrip(":"), []))
        else:
            found[-1][1].append(piece)
    return [(title, body) for title, pieces in found if (body := _tidy("".join(pieces))) or title]


def entities(text: str) -> str:
    """Return unmarked text on one line, with escapes (`&#x2F;`) resolved, also twice."""
    return fold(_unescape(text))


def _pieces(markup: str) -> Iterator[tuple[bool, str]]:
    """Yield stretches of text, and whether each is a heading."""
    markup = _ESCAPED_TAG.sub(r"<\1>", markup)
    markup = _without(_without(markup.replace("<![CDATA[", "").replace("]]>", ""), _DROPPED), _TWICE)
    markup = _EXPONENT.sub(r"^\2", markup)
    depth, start = 0, 0
    heading: list[str] = []
    for match in _TAG.finditer(markup):
        piece = _unescape(markup[start : match.start()])
        start = match.end()
        name = match[2].lower().rsplit(":", 1)[-1]
        if depth:
            heading.append(piece)
        elif piece:
            yield False, piece
        if name in _HEADINGS and not match[4]:
            depth = max(0, depth + (-1 if match[1] else 1))
            if not depth and heading:
                yield True, " ".join(heading)
                heading = []
        elif name in _BREAKS and not depth:
            yield False, "\n\n"
    rest = _unescape(markup[start:])
    yield False, " ".join([*heading, rest])


def _without(markup: str, begins: re.Pattern[str]) -> str:
    """Return `markup` without stretches that begin so and end; in linear time."""
    kept, start, place, endless = list[str](), 0, 0, set[str]()
    while begun := begins.search(markup, place):
        name, place = begun[begun.lastindex or 0].lower(), begun.end()
        ending = re.compile(_ENDS.get(name, rf"</(?:[a-z]+:)?{name}\s*>"), re.IGNORECASE)
        if name in endless or not (end := ending.search(markup, place)):
            endless.add(name)
            continue
        kept += [markup[start : begun.start()], " " * (begun.lastindex == 3)]
        start = place = end.end()
    return "".join([*kept, markup[start:]])


def _unescape(text: str) -> str:
    text = html.unescape(text)
    return html.unescape(text) if _ESCAPED_TWICE.search(text) else text


def _tidy(text: str) -> str:
    parts = (fold(part) for part in _BETWEEN_BLOCKS.split(clean(text)))
    return "\n\n".join(part for part in parts if part)


UNSHOWN = ("", "")
"""Labels of what is known of a document and not written into it."""


class Item(NamedTuple):
    """One thing as its source describes it, which is written into its document.

    A `body` was read elsewhere. The first `shown` characters of `about` are the snippet.
    """

    key: str
    title: str
    url: str = ""
    about: str = ""
    shown: int = 300
    published: str | None = None
    authors: Sequence[str] = ()
    score: float = 0.0
    facts: Sequence[Fact] = ()
    sections: Sequence[Section] = ()
    labels: tuple[str, str] = ("Authors", "Published")
    warnings: Sequence[str] = ()
    location: str = ""
    body: Document | None = None
    page_text: str = ""
    excerpt: bool = False

    def found(self, origin: str) -> Found | None:
        """Return it, None without key or title; no document when its sections are blank."""
        if not (self.key and self.title):
            return None
        has_text = self.body or any(text.strip() for _, text in self.sections) or (self.facts and not self.sections)
        read, about = self.document() if has_text else None, snippet(self.about, most=self.shown)
        authors = distinct(self.authors)
        return copy_fields(Found, self, origin=origin, authors=authors, snippet=about, document=read)

    def document(self) -> Document:
        """Return what is known of it as a document.

        The title is a heading, facts are a list; below are the body and each section under its heading. Authors and
        the date are the first facts where `labels` name them. Sections without text are left out, those without a
        name have no heading.
        """
        builder, body, authors = DocumentBuilder(), self.body, distinct(self.authors)
        builder.heading(1, self.title)
        for name, value in ((self.labels[0], people(authors)), (self.labels[1], self.published), *self.facts):
            if name and (shown := _shown(value)):
                builder.item(f"{name}: {shown}")
        if body:
            builder.append(body)
        for heading, text in self.sections:
            if text.strip():
                if heading:
                    builder.heading(2, heading)
                write_text(builder, text)
        for warning in self.warnings:
            builder.warn(warning)
        return builder.document(
            title=self.title,
            media_type=body.media_type if body else "text/markdown",
            published=self.published or (body.published if body else None),
            authors=authors or (body.authors if body else ()),
        )


def distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that are not empty, each once."""
    return tuple(dict.fromkeys(value for value in values if value))


def write_text(builder: DocumentBuilder, text: str) -> None:
    """Add plain text: paragraphs by blank lines, lines like list items as items."""
    for block in _BETWEEN_BLOCKS.split(text):
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
    """Return the names, of a long list the first twenty and the number of others."""
    shown = "; ".join(names[:_MAX_SHOWN_AUTHORS])
    more = len(names) - _MAX_SHOWN_AUTHORS
    return f"{shown}; and {more} more" if more > 0 else shown


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value if item)
    return "" if value is None else str(value)


def read_page(found: Found) -> Document:
    """Return the page a source sent with its result; raise Unreadable for no text."""
    text = without_menus(found.page_text)
    is_marked = _MARKED.search(text) is not None
    lines = with_marked_headings(_lines_apart(text)) if is_marked else _lines_apart(text)
    name = "page.md" if is_marked else "page.text"
    read = registry.component("readers", "plain")().read(lines.encode("utf-8", "replace"), name=name)
    if found.title:
        about = {"published": found.published, "authors": found.authors}
        return Item(found.key, found.title, labels=UNSHOWN, body=read, **about).document()
    return read.model_copy(update={"title": read.title if is_marked else ""})


def _lines_apart(text: str) -> str:
    """Set apart the lines of page text without Markdown, so that none are joined.

    Where the page's own line breaks were kept, the lines of a sentence stay together.
    """
    if "```" in text:
        return text
    return _LINE_OF_PROSE.sub(lambda found: "\n" if _goes_on(text, found.start()) else "\n\n", text)


def _goes_on(text: str, end: int) -> bool:
    """Tell whether the line that ends at `end` was broken inside a sentence."""
    line = text[text.rfind("\n", 0, end) + 1 : end].rstrip()
    following = text[end + 1 : end + 40].lstrip(" ")[:1]
    return bool(following) and columns(line) >= _BROKEN_FROM and not _ENDED.search(line)
