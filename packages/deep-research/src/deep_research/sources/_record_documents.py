"""Turn an API's texts into documents that can be cited: records and pages.

Markup in titles and abstracts (HTML, JATS XML, MathML) is taken out.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from claimcheck.language import columns
from claimcheck.lexicon import compile_on_use
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
_TAG = compile_on_use(rf"<(/?)({_NAME})((?:\s[^<>]*)?)(/?)>", re.IGNORECASE)
_ESCAPED_TAG = compile_on_use(rf"&lt;(/?{_NAME}(?:\s[^<>&]*)?/?)&gt;", re.IGNORECASE)
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
Section = tuple[str, str]  # a heading ("" for none) and the text under it, paragraphs parted by blank lines
Fact = tuple[str, object]  # what it is called, and its value; a fact without a value is left out
_ITEM = re.compile(r"(?:[-*•]|(\d{1,3}[.)]))\s+(?=\S)")
_BETWEEN_BLOCKS = re.compile(r"\n\s*\n")
_LINE_OF_PROSE = re.compile(r"\n(?<![\n|]\n)(?![\n|\-*>#\d ])")  # the line end first, which is quick to find
_ENDED = re.compile(r"[.!?:;。！？：；…][\"'”’)\]」』）]*$")
_MARKED = re.compile(r"^#{2,6} \S[^\n]*\n\s*\n[^#\s]|^```|\]\((?:https?:|/|#)|^\|? *:?-{3,}:? *\|", re.MULTILINE)
"""Markdown; a line with one # may be a comment in code."""
snippet = partial(shorten, most=300)
UNSHOWN = ("", "")  # labels of what is known of a document and not written into it


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
        if is_heading and len(piece) <= 100:
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
    yield False, " ".join([*heading, _unescape(markup[start:])])


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
    return "\n\n".join(filter(None, map(fold, _BETWEEN_BLOCKS.split(clean(text)))))


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
        """Return it as a document: title, list of facts, body, sections that have text.

        Authors and the date are the first facts where `labels` name them.
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
    shown = "; ".join(names[:20])
    return f"{shown}; and {len(names) - 20} more" if len(names) > 20 else shown


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
    about = {"published": found.published, "authors": found.authors}
    return Item(found.key, found.title, labels=UNSHOWN, body=read, **about).document()


def _lines_apart(text: str) -> str:
    """Set apart the lines of page text without Markdown, but those of one sentence."""
    if "```" in text:
        return text
    return _LINE_OF_PROSE.sub(lambda found: "\n" if _goes_on(text, found.start()) else "\n\n", text)


def _goes_on(text: str, end: int) -> bool:
    """Tell whether the line that ends at `end` was broken inside a sentence.

    So are lines of 60 columns and more without an end.
    """
    line = text[text.rfind("\n", 0, end) + 1 : end].rstrip()
    following = text[end + 1 : end + 40].lstrip(" ")[:1]
    return bool(following) and columns(line) >= 60 and not _ENDED.search(line)
