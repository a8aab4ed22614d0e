"""Split a Markdown report into statements with the passages they cite.

A statement is a sentence, a list item or a table row; headings, code, charts, HTML and lists of references state nothing.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from claimcheck.language import CJK, columns
from claimcheck.lexicon import words
from claimcheck.text.sentences import sentences, trim_span
from deep_research.text.code_spans import code_spans, inline_spans, is_within
from deep_research.text.rewritten_text import RewrittenText
from deep_research.verification.citations import Citation, citations

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

StatementKind = Literal["sentence", "item", "row"]
_OF_A_HEADING, _OF_A_CELL, _CELLS = 300, 40, 20
"""Characters of the heading that every statement below it carries, of a cell of the header of its table, and such cells."""
_SHORT_LABEL = 40
"""Columns of a bold sentence that only names what the next one is about: **Redis.**"""
_MARKERS = re.compile(r"(?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>)(?=[ \t\n]|(?<=>)))*[ \t]*(?:\[[ xX]\][ \t]+)?")
_QUOTE_MARK = re.compile(r"\n[ \t]*(?:>[ \t]?)+")
_EMPHASIS = re.compile(
    r"\*\*\*?|~~|(?<!\w)__|__(?!\w)|(?<![\w*])\*(?=\S)|(?<=[^\s*])\*(?![\w*])"
    r"|</?(?:b|i|u|em|strong|sup|sub|br|mark|small)\s{0,2}/?>",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\((?:[^()\s]|\([^()\s]{0,200}\)){0,1000}(?:\s\"[^\"\n]{0,200}\")?\)")
_STOPS_BEFORE = re.compile(r"[.!?…。！？][\"'”’」』）)\]*_]{0,4}$")
_LINE_BEHIND = re.compile(r"[ \t]{0,9}\n[ \t]{0,9}[^\W\da-z_]")
"""An address that ends a line ends a sentence where the next begins with a capital."""
_HEADING_MARKS = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?#{1,6}[ \t]*|(?<![ \t])[ \t]++#{1,6}[ \t]*$|\n[ \t>]*+(?:=+|-+)[ \t]*$"
)
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_BOLD_LABEL = re.compile(r"(?:\*\*|__)[^*_\n]{1,80}(?:\*\*|__)[.:。：]?\Z")
_REFERENCE_HEADINGS = frozenset(word.casefold() for word in words("document.reference_headings"))
_SHORTEST_OPENING, _LONGEST_OPENING, _TOLERANCE = 100, 200, 0.25
"""The share is by which an opening may be shorter or longer before anything is said."""
_SIGNS = re.compile(f"[{CJK}]|[^\\W{CJK}]+")


class Statement(NamedTuple):
    """A statement at `[start:end]`, citations included; `text` has none, no emphasis.

    `passages` are the ids it cites. `where` is the heading it stands under, `block` the paragraph, list item or row
    line around it, `header` the cells of the header of a row's table.
    """

    text: str
    passages: tuple[str, ...]
    start: int
    end: int
    kind: StatementKind
    where: str = ""
    block: tuple[int, int] = (0, 0)
    header: tuple[str, ...] = ()


def split_statements(text: str, cited: Sequence[Citation] | None = None) -> list[Statement]:
    """Return a report's statements in order; `cited` if it cites no passage ids."""
    return list(_Splitter(text, citations(text) if cited is None else cited).statements())


def plain_text(text: str) -> str:
    """Return Markdown as read: without emphasis, link addresses and line breaks."""
    text = _LINK.sub(r"\1", text)
    code = list(inline_spans(text, 0, len(text)))
    shown = _EMPHASIS.sub(
        lambda mark: mark[0] if is_within(code, mark.start()) else " " if "br" in mark[0] else "", text
    )
    return " ".join(shown.split())


def end_of_words(text: str, end: int) -> int:
    """Return the place to add to a statement: `end`, or inside a row's last cell."""
    return len(text[: end - 1].rstrip()) if text[:end].endswith("|") else end


def is_reference_heading(title: str) -> bool:
    """Return whether a heading stands above the list of what a report cites."""
    return re.sub(r"^[\W\d]+|(?<![\W\d])[\W\d]++$", "", title.casefold()) in _REFERENCE_HEADINGS


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - only where a report is read

    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "reference", "code"])
    parser.block.ruler.at("fence", _open_fence, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    return parser


def _open_fence(state: Any, start: int, end: int, silent: bool) -> bool:
    """Parse a fence, unless it is deeply indented, though indented text is no code."""
    from markdown_it.rules_block import fence  # noqa: PLC0415 - only where a report is read

    state._code_enabled = True
    is_opened = fence(state, start, end, silent)
    state._code_enabled = False
    return is_opened


class _Splitter:
    """Reads one text; holds where its lines, code and citations are."""

    def __init__(self, text: str, cited: Sequence[Citation]) -> None:
        self.text = text
        self.cited = cited
        self.starts_of_citations = [citation.start for citation in cited]
        self.code = code_spans(text)
        self.lines = [0, *(match.end() for match in re.finditer("\n", text)), len(text) + 1]

    def statements(self) -> Iterator[Statement]:
        """Yield the statements, block by block."""
        heading, skipped = "", 0
        items = 0
        header: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        tokens = _parser().parse(self.text.replace("\r", " ").replace("\x00", " "))
        for number, token in enumerate(tokens):
            if token.type == "heading_open":
                heading = plain_text(_HEADING_MARKS.sub("", self._clean(*self._span(token))[0]))[:_OF_A_HEADING]
                level = int(token.tag[1:])
                if not skipped or level <= skipped:
                    skipped = level if is_reference_heading(heading) else 0
            elif token.type in ("list_item_open", "list_item_close"):
                items += token.nesting
            elif skipped:
                continue
            elif token.type == "paragraph_open":
                yield from self._sentences(*self._span(token), "item" if items else "sentence", heading)
            elif token.type == "tr_open":
                start, end = self._span(token)
                if tokens[number + 1].type == "th_open":
                    cells = tuple(plain_text(cell)[:_OF_A_CELL] for cell in self._cells(start, end)[:_CELLS])
                    header = cells, self._ids(start, end)[:_CELLS]
                else:
                    yield from self._row(start, end, heading, header)

    def _span(self, token: "Token") -> tuple[int, int]:
        """Return where the lines of a block begin and end, without the last line's break."""
        first, last = token.map or [0, 0]
        return self.lines[first], min(self.lines[last] - 1, len(self.text))

    def _between(self, start: int, end: int) -> Sequence[Citation]:
        return self.cited[bisect_left(self.starts_of_citations, start) : bisect_left(self.starts_of_citations, end)]

    def _ids(self, start: int, end: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key for citation in self._between(start, end) for key in citation.ids))

    def _cells(self, start: int, end: int) -> list[str]:
        """Return the cells of a row of a table, citations left out."""
        cells = _CELL_BORDER.split(self._clean(start, end)[0].strip().removeprefix("|"))
        return [cell.strip().replace("\\|", "|") for cell in (cells if cells[-1].strip() else cells[:-1])]

    def _row(
        self, start: int, end: int, where: str, header: tuple[tuple[str, ...], tuple[str, ...]]
    ) -> Iterator[Statement]:
        cells = [plain_text(cell) for cell in self._cells(start, end)]
        own = self._ids(start, end)
        # Of a row that cites, the first cell may be all there is: | It weighs 85 kg. | [1] |
        if any(re.search(r"\w", cell) for cell in (cells if own else cells[1:] or cells)):
            ids = tuple(dict.fromkeys((*own, *header[1])))
            yield Statement(" | ".join(cells), ids, start, end, "row", where, (start, end), header[0])

    def _clean(self, start: int, end: int) -> tuple[str, RewrittenText]:
        """Return a block without citations and quote signs, and its mapping of offsets."""
        block = self.text[start:end]
        gone = [(mark.start() + 1, mark.end(), "") for mark in _QUOTE_MARK.finditer(block)]
        for citation in self._between(start, end):
            first = citation.start
            while first > start and not citation.kept and self.text[first - 1] in " \t":
                first -= 1
            gone.append((first - start, citation.end - start, citation.kept))
        rewritten = RewrittenText(block, sorted(gone))
        return rewritten.text, rewritten

    def _sentences(self, start: int, end: int, kind: StatementKind, where: str) -> Iterator[Statement]:
        """Yield a paragraph's sentences, each with the citations in it and right behind."""
        marker = _MARKERS.match(self.text, start, end)
        begin = marker.end() if marker else start
        clean, rewritten = self._clean(begin, end)
        cited = self._between(begin, end)
        borders = [rewritten.to_new(citation.end - begin) for citation in cited]
        ends = {
            border
            for border, citation in zip(borders, cited, strict=True)
            if _STOPS_BEFORE.search(clean, max(0, border - 8), border)
            or ("//" in self.text[citation.start : citation.end] and _LINE_BEHIND.match(clean, border))
        }
        whole = [
            (rewritten.to_new(one.start - begin), rewritten.to_new(one.end - begin) - 1) for one in cited if one.kept
        ]
        spans = _sentence_spans(clean, ends, whole)
        firsts = [first for first, _last in spans]
        owned: list[list[Citation]] = [[] for _ in spans]
        for border, citation in zip(borders, cited if spans else (), strict=bool(spans)):
            owned[max(0, bisect_left(firsts, max(1, border)) - 1)].append(citation)
        for number, (first, last) in enumerate(spans):
            own = owned[number]
            place = begin + rewritten.to_old(first), begin + rewritten.to_old(last - 1) + 1
            stop = max([place[1], *(citation.end for citation in own)])
            ids = tuple(dict.fromkeys(key for citation in own for key in citation.ids))
            if text := plain_text(clean[first:last]):
                yield Statement(text, ids, min([place[0], *(c.start for c in own)]), stop, kind, where, (start, end))


def _sentence_spans(clean: str, ends: Collection[int], whole: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans of a paragraph's sentences; at `ends` a citation ends one.

    No sentence ends within `whole`, the words of links: "e.s.t. Live in Hamburg".
    """
    # A sign in front keeps the text from being taken for a list item or table; line breaks are spaces here.
    flat = "\u200b" + re.sub(r"\s", " ", clean)
    cuts = {*(sentence.end - 1 for sentence in sentences(flat)), *ends}
    spans: list[tuple[int, int]] = []
    start = 0
    for stop in sorted({*(cut for cut in cuts if not is_within(whole, cut - 1)), len(clean)}):
        first, last = trim_span(clean, start, stop)
        has_words = re.search(r"\w", clean[first:last])
        if spans and last > first and (not has_words or _is_label(clean, spans)):
            spans[-1] = spans[-1][0], last
        elif has_words:
            spans.append((first, last))
        start = stop
    return spans


def _is_label(clean: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether the text so far is a short bold label of the next sentence."""
    first, last = spans[0]
    said = clean[first:last]
    return len(spans) == 1 and columns(said) <= _SHORT_LABEL and _BOLD_LABEL.match(said) is not None


def asked_length(language: str) -> str:
    """Return the wanted length of a report's opening, in characters or words."""
    return f"{_SHORTEST_OPENING} to {_LONGEST_OPENING} {'characters' if language in ('zh', 'ja') else 'words'}"


def wrong_length(text: str, language: str) -> str:
    """Return the fault in length of a report's opening; "" for none.

    The opening is the text before the first section, without tables, code and citations.
    """
    asked, end = asked_length(language), text.find("\n## ")
    opening = " ".join(s.text for s in split_statements(text) if s.start < end and s.kind != "row")
    count = len(_SIGNS.findall(opening) if asked.endswith("characters") else opening.split())
    if end < 0 or _SHORTEST_OPENING * (1 - _TOLERANCE) <= count <= _LONGEST_OPENING * (1 + _TOLERANCE):
        return ""
    return f"The opening before the first `##` has {count} {asked.split()[-1]}; asked were {asked}."
