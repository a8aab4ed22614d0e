"""Text out of the markup that APIs put into titles, abstracts and comments: HTML, JATS XML, MathML, entities.

These are fragments of a few lines, not pages; pages go to the HTML reader.
"""

import html
import re
from collections.abc import Iterator

from deep_research.text.cleaning import clean, fold

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
_COMMENT = re.compile(r"<!--.*?-->|<!\[CDATA\[|\]\]>|<\?.*?\?>", re.DOTALL)
_DROPPED = re.compile(
    r"<((?:[a-z]+:)?(?:script|style|annotation|annotation-xml))\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE
)
# JATS writes a formula twice, as TeX and as MathML; the latter reads better as plain text.
_TWICE = re.compile(r"<((?:jats:)?tex-math)\b[^>]*>.*?</\1\s*>(?=\s*<(?:mml:)?math\b)", re.DOTALL | re.IGNORECASE)
_EXPONENT = re.compile(r"(?<=\d)\s*<((?:[a-z]+:)?sup)\b[^>]*>\s*([-−–+]?\d+)\s*</\1\s*>", re.IGNORECASE)
_ESCAPED_TWICE = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#x?[0-9a-fA-F]{1,6});")
_BREAKS = frozenset(
    "p div li ul ol br tr table sec section list list-item blockquote dd dt dl pre hr title label caption"
    " h1 h2 h3 h4 h5 h6".split()
)
_HEADINGS = frozenset("title h1 h2 h3 h4 h5 h6".split())
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_MAX_HEADING_CHARS = 100

Section = tuple[str, str]
"""A heading ("" for none) and the text under it, paragraphs parted by blank lines."""


def line(markup: str) -> str:
    """Return `markup` on one line: tags gone, entities resolved, exponents written `10^-3`."""
    return fold(" ".join(" ".join(part) for part in sections(markup)))


def paragraphs(markup: str) -> str:
    """Return the text of `markup`, paragraphs parted by blank lines, headings as paragraphs of their own."""
    return "\n\n".join(part for section in sections(markup) for part in section if part)


def sections(markup: str) -> list[Section]:
    """Return the sections of an abstract: what its `<title>` or `<h4>` elements head, in order."""
    found: list[Section] = []
    heading, body = "", ""
    for is_heading, piece in _pieces(markup):
        if is_heading and len(piece) <= _MAX_HEADING_CHARS:
            if heading or body.strip():
                found.append((heading, _tidy(body)))
            heading, body = fold(piece).rstrip(":"), ""
        else:
            body += piece
    if heading or body.strip():
        found.append((heading, _tidy(body)))
    return [(title, body) for title, body in found if body or title]


def entities(text: str) -> str:
    """Return text without markup whose characters are escaped (`&#x2F;`), also twice, on one line."""
    return fold(_unescape(text))


def _pieces(markup: str) -> Iterator[tuple[bool, str]]:
    """Yield stretches of text, and whether each is a heading."""
    markup = _ESCAPED_TAG.sub(r"<\1>", markup)
    markup = _TWICE.sub("", _DROPPED.sub(" ", _COMMENT.sub("", markup)))
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


def _unescape(text: str) -> str:
    text = html.unescape(text)
    return html.unescape(text) if _ESCAPED_TWICE.search(text) else text


def _tidy(text: str) -> str:
    parts = (fold(part) for part in _BLANK_LINES.split(clean(text)))
    return "\n\n".join(part for part in parts if part)
