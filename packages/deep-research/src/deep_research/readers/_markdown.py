"""Markdown to blocks: headings, lists, tables and code; marks and tags removed."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import PurePath
from typing import Any

from claimcheck.lexicon import compile_on_use
from claimcheck.text.cleaning import shorten
from deep_research.text.document_builder import DocumentBuilder
from deep_research.text.page_noise import gives_orders, is_image_seen

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|\{/\*[^`*]*+\*/\}[ \t]*+$", re.DOTALL | re.MULTILINE)
_FENCED = re.compile(r"(^\s{0,3}```.*?^\s{0,3}```\s*$)", re.DOTALL | re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A(?:---|\+\+\+)\n(.*?)\n(?:---|\+\+\+)\s*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^\s*(title|date|published|authors?)\s*[:=]\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_TRAIL = re.compile(r"\s*[>»›|·•→/«‹←]\s*")
_TASK = re.compile(r"\A\[[ xX]\]\s+")
_CONTAINER = re.compile(r"^( {0,3}):{3,}[ \t]*[\w-]*(?:\{[^}\n]*\})?[ \t]*\[?([^\]\n]*)\]?", re.MULTILINE)
_NOTE = re.compile(r"^( {0,3})\[\^[^\]\n]+\]:[ \t]*", re.MULTILINE)
_DEFINITION = re.compile(r"^(?= {0,3}\[[^\]\n]+\]:[ \t]+\S)", re.MULTILINE)

# What CommonMark leaves standing and a reader does not miss: marks of notes, links to places that a file does not
# define or whose address has blanks, and emphasis whose marks touch the punctuation of a script without spaces.
_NOTE_MARK = re.compile(r"\[\^[^\]]+\]")
_LOOSE_LINK = re.compile(r"\[([^\[\]]+)\](?:\[[^\[\]]*\]|\((?:https?:|[./#])[^()]*\))")
_LOOSE_STRONG = re.compile(r"(\*\*|__)(?=\S)([^*_\n]{1,400}?)(?<=\S)\1")
_WITHOUT_SPACES = compile_on_use("[\u2e80-\uffef]")
_TAG = re.compile(r"</?([A-Za-z][\w-]*)\s*/?>")
_TAGS = frozenset(
    "a abbr article aside b bdi bdo big blockquote br button caption center cite code col dd del details dfn div dl dt em"
    " figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label li link main"
    " mark meta nav ol option p path picture pre q rp rt ruby s samp script section select small source span strike strong"
    " style sub summary sup svg table tbody td textarea tfoot th thead time title tr tt u ul var video wbr".split()
)
_PICTURES = frozenset((".avif", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"))
_FEW, _LONGEST_ALT = 50, 300
_LINE_TAG = re.compile(r"<(?:br|/?p|/?div|/?li|/?td|/?th)\b", re.IGNORECASE)


def write_markdown(text: str, builder: DocumentBuilder) -> dict[str, str]:
    """Write the blocks of CommonMark with tables; return the front matter's fields."""
    fields: dict[str, str] = {}
    if match := _FRONT_MATTER.match(text):
        fields = {name.lower(): value.strip("\"' ") for name, value in _FIELD.findall(match.group(1))}
        text = text[match.end() :]
        builder.front_matter(match.group(1).replace(" = ", ": ") if match[0][0] == "+" else match.group(1))
    _Blocks(builder).write(_parser().parse(_prepare(text)))
    return fields


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - only with Markdown

    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 40}).enable(["table", "strikethrough"])
    parser.block.ruler.at("html_block", _open_html, {"alt": ["paragraph", "reference", "blockquote"]})
    return parser


def _open_html(state: Any, start: int, end: int, silent: bool) -> bool:
    """Take a block of HTML that is `<pre>`: other tags have Markdown between them."""
    from markdown_it.rules_block import html_block  # noqa: PLC0415 - only with Markdown

    first = state.bMarks[start] + state.tShift[start]
    is_pre = state.src[first : min(first + 5, state.eMarks[start])].lower() in ("<pre", "<pre>", "<pre ")
    return is_pre and html_block(state, start, end, silent)


def _write_html(text: str, builder: DocumentBuilder) -> None:
    from deep_research.readers import _html_tree, _html_walk  # noqa: PLC0415 - which read images as this file does

    root = _html_tree.parse(text.encode())
    _html_tree.prune(root, furniture=False)
    _html_walk.write_blocks(root, builder)


def _prepare(text: str) -> str:
    """Remove comments and the marks of boxes and notes, except in fenced code."""
    pieces = _FENCED.split(text) if "```" in text else [text]
    for index in range(0, len(pieces), 2):
        piece = _COMMENT.sub("", pieces[index]) if "<!--" in pieces[index] or "{/*" in pieces[index] else pieces[index]
        piece = _NOTE.sub(r"\1", _DEFINITION.sub("\n", piece)) if "]:" in piece else piece
        pieces[index] = _CONTAINER.sub(r"\n\1\2\n", piece) if ":::" in piece else piece
    return "".join(pieces)


class _Blocks:
    """A writer of blocks from tokens; `_markers` are of open items, "" once written."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._markers: list[str] = []
        self._row: list[str] | None = None
        self._rows: list[list[str]] = []
        self._heading = 0

    def write(self, tokens: Sequence[Any]) -> None:
        for token in tokens:
            if token.type == "inline":
                self._inline(token)
            elif token.type in ("fence", "code_block"):
                self._builder.code(token.content)
            elif token.type == "html_block":
                _write_html(token.content, self._builder)
            elif token.type == "heading_open":
                self._heading = int(token.tag[1:])
            elif token.type == "list_item_open":
                self._markers.append(f"{token.info}." if token.info else "-")
            elif token.type == "list_item_close":
                self._markers.pop()
            elif token.type == "tr_open":
                self._row = []
            elif token.type == "tr_close":
                self._rows.append(self._row or [])
                self._row = None
            elif token.type == "table_close":
                self._builder.table(self._rows)
                self._rows = []

    def _inline(self, token: Any) -> None:
        paragraphs = list(_lines(token.children or ()))
        if self._row is not None:
            self._row.append(" ".join(paragraphs))
        elif self._heading:
            self._builder.heading(self._heading, " ".join(paragraphs))
            self._heading = 0
        elif _leads_elsewhere(token.children or (), is_item=any(self._markers[-1:])):
            return
        elif self._markers and self._markers[-1]:
            text = _TASK.sub("", "\n".join(paragraphs))
            self._builder.item(text, depth=len(self._markers) - 1, marker=self._markers[-1])
            self._markers[-1] = ""
        else:
            for text in paragraphs:
                self._builder.paragraph(text)


def is_trail(beside: Sequence[str]) -> bool:
    """Return whether links on a line are a trail ("Home › Guide › Filters").

    `beside` are the texts before, between and behind the links.
    """
    before, *between, after = beside
    parted = all(map(_TRAIL.fullmatch, between)) and (not after.strip() or _TRAIL.match(after))
    return bool(between and parted and not before.strip())


def _leads_elsewhere(tokens: Sequence[Any], *, is_item: bool) -> bool:
    """Return whether an item is just a link within the file, or a paragraph a trail."""
    beside, is_inside = [""], False
    for token in tokens:
        if token.type in ("link_open", "link_close"):
            is_inside = token.type == "link_open"
            beside += [""] * is_inside
        elif not is_inside:
            beside[-1] += token.content
    if is_item:
        link = next((token for token in tokens if token.type == "link_open"), None)
        return beside == ["", ""] and link is not None and str(link.attrs.get("href", "")).startswith("#")
    return len(beside) > 2 and is_trail(beside)


def _lines(tokens: Sequence[Any]) -> Iterator[str]:
    """Yield a block's lines without marks, split at hard breaks; keep code spans."""
    pieces: list[str] = []
    prose: list[str] = []

    def end_prose() -> None:
        pieces.append(_tidy("".join(prose)))
        prose.clear()

    for token in tokens:
        if token.type == "code_inline":
            end_prose()
            pieces.append(token.content.strip())
        elif token.type == "hardbreak":
            end_prose()
            yield "".join(pieces)
            pieces.clear()
        elif token.type == "image":
            beside = [one.content.strip() for one in tokens if one.type == "text"] if len(tokens) <= _FEW else ()
            image = {"alt": "".join(_lines(token.children or ()))}
            prose.append(image_words(image, beside))
        elif token.type == "html_inline" and token.content[:4].lower() == "<img":
            etree = import_module("lxml.etree")  # heavy, without types
            prose.append(image_words(etree.fromstring(token.content, etree.HTMLParser()).find(".//img").attrib))
        elif token.type == "html_inline":
            tag = _TAG.match(token.content)
            # What is no tag of HTML is a placeholder: "Vcs-<type>".
            kept = token.content if tag is not None and tag[1].lower() not in _TAGS else ""
            prose.append(" " if _LINE_TAG.match(token.content) else kept)
        else:
            prose.append("\n" if token.type == "softbreak" else token.content)
    end_prose()
    yield "".join(pieces)


def image_words(image: Mapping[str, str], beside: Container[str] = ()) -> str:
    """Return the words that stand in the text for an image: `[image: alt]`.

    No visitor sees them: they are cut, and "" for what is not seen, a file name, an address, an order, or said `beside`.
    """
    if not is_image_seen(image):
        return ""
    whole = " ".join((image.get("alt") or "").split())
    is_name = " " not in whole and PurePath(whole).suffix.lower() in _PICTURES
    is_told = any(map(str.isalnum, whole)) and not (is_name or "://" in whole or gives_orders(whole))
    told = shorten(whole, _LONGEST_ALT)
    return f"[image: {told}]" if is_told and told not in beside else ""


def _tidy(text: str) -> str:
    """Remove the marks that CommonMark takes for text."""
    if "[" in text:
        text = _LOOSE_LINK.sub(r"\1", _NOTE_MARK.sub("", text))
    if "**" in text or "__" in text:
        text = _LOOSE_STRONG.sub(r"\2", text) if _WITHOUT_SPACES.search(text) else text
    return text
