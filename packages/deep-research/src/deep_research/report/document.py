"""Parse a report's Markdown to blocks with cited passages, for all exporters."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import get_args

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from deep_research.data import DOUBT_SIGN, Claim, ExportInput, Figure, Reference, Report, VerdictKind
from deep_research.i18n.catalog import explain, phrase
from deep_research.report import blocks
from deep_research.report.counts import verdict_counts
from deep_research.verification.chart_points import INFO, is_doubtful, read_chart

_OPEN, _CLOSE = "\U00010a50", "\U00010a51"
"""Where statements begin and end: punctuation of no living script, next to which emphasis begins and ends as without."""
_NONE = str.maketrans(dict.fromkeys((_OPEN, _CLOSE)))
_HARMLESS = str.maketrans(dict.fromkeys((_OPEN, _CLOSE), "\ufffd"))
_BEFORE = re.compile(r"(?:[\s>|]|#{1,6}[ \t]|[*+-][ \t]|\d{1,9}[.)][ \t])*")  # what makes a line a block
_AFTER = " \t\n|"
_LONGEST_HEADING, _SUBHEADING = 100, 3
_PIECE = re.compile(rf"\[(?P<number>\d{{1,4}})\]|(?P<mark>[{_OPEN}{_CLOSE}{DOUBT_SIGN}])")
_MOST_GUESSED = 2
_FORMULA = re.compile(
    r"\\\(.{1,2000}?\\\)|\\\[.{1,2000}?\\\]|\$\$.{1,2000}?\$\$|\$(?=\S)[^$\n]{1,500}(?<!\s)\$(?!\d)", re.DOTALL
)
_LATEX = re.compile(r"[\\^_{]")
"""What a formula loses to Markdown, and no price and no citation between such marks has."""


def _keep_formula(state: StateInline, silent: bool) -> bool:
    """Take a LaTeX formula as code, not Markdown (a rule of markdown-it)."""
    if not (found := _FORMULA.match(state.src, state.pos)) or not _LATEX.search(found[0].strip("$\\()[]")):
        return False
    if not silent:
        state.push("code_inline", "code", 0).content = found[0]
    state.pos = found.end()
    return True


def read_document(given: ExportInput) -> blocks.Document:
    """Parse a report to a document with its charts; title and references apart."""
    report = given.report
    marked, claims = _mark_claims(report.report, report.claims)
    # What was escaped stays apart from the text around it: "\\[1\\]" is no citation.
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("text_join")
    markdown.inline.ruler.before("escape", "formula", _keep_formula)
    tokens = markdown.parse(marked)
    found = _Parser(tokens, report, claims).parse()
    language, counts = report.language, vars(verdict_counts(report))
    date = max((source.retrieved_at[:10] for source in report.sources.values()), default="")
    is_judged = any("not_judged" not in claim.verdict.codes for claim in report.claims)
    document = blocks.Document(
        title=report.title,
        made=phrase("made_on", language, date=date, run=report.run_id),
        counts=tuple(
            blocks.Count(verdict, counts[verdict], phrase(f"verdict_{verdict}", language))
            for verdict in get_args(VerdictKind)
            if is_judged and (counts[verdict] or verdict == "supported")  # how many are is told also where none is
        ),
        cited=phrase("said_of_sources", language, count=len(report.references)),
    )
    if found and isinstance(found[0], blocks.Heading) and found[0].level == 1:
        document.title = blocks.plain_text(found[0].content)
        del found[0]
    for place, (heading, items) in enumerate(pairwise(found)):
        if not (isinstance(heading, blocks.Heading) and isinstance(items, blocks.Items)):
            continue
        title = blocks.plain_text(heading.content)
        if title == phrase("references", language) and len(items.items) == len(report.references):
            document.references_title = title
            document.references = dict(enumerate(items.items, items.start or 1))
            del found[place : place + 2]
            break
    document.blocks = found
    return document


def _mark_claims(markdown: str, claims: Sequence[Claim]) -> tuple[str, list[Claim]]:
    """Return a text with statements marked at both ends, and those that are."""
    text = markdown.translate(_HARMLESS)
    parts: list[str] = []
    marked: list[Claim] = []
    at = 0
    for claim in sorted(claims, key=lambda claim: claim.start):
        begun = _BEFORE.match(text, claim.start, claim.end)
        start = begun.end() if begun else claim.start
        end = start + len(text[start : claim.end].rstrip(_AFTER))
        if start < at or end <= start or text.startswith(("```", "~~~"), start):
            continue
        parts += [text[at:start], _OPEN, text[start:end], _CLOSE]
        marked.append(claim)
        at = end
    return "".join([*parts, text[at:]]), marked


def _by_source(keys: Sequence[str], report: Report) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for key in keys:
        if key in report.passages:
            found.setdefault(report.passages[key].source, []).append(key)
    return {source: tuple(own) for source, own in found.items()}


def doubt_of(claim: Claim | None, language: str) -> blocks.Doubt:
    """Return the mark of a statement that is not confirmed."""
    verdict = claim.verdict.kind if claim is not None else "unverified"
    told = phrase(f"verdict_{verdict}", language)
    why = explain(claim.verdict, language).strip() if claim is not None else ""
    return blocks.Doubt(verdict, f"{told}{phrase('colon', language)}{why}" if why else told)


def cites_of(keys: Sequence[str], report: Report, numbers: Mapping[str, int]) -> list[blocks.Cite]:
    """Return a citation for each source of `keys`, in order; `numbers` are by source."""
    return [blocks.Cite(numbers[source], own) for source, own in _by_source(keys, report).items() if source in numbers]


def _chart(figure: Figure, report: Report, numbers: Mapping[str, int]) -> blocks.Chart:
    largest = max((abs(point.value) for point in figure.points), default=0) or 1
    bars: list[blocks.Bar] = []
    for point in figure.points:
        doubt = (doubt_of(None, report.language),) if is_doubtful(point, report) else ()
        value = (blocks.Text(point.display), *cites_of(point.passages, report, numbers), *doubt)
        bars.append(blocks.Bar(point.label, value, abs(point.value) / largest, point.value))
    return blocks.Chart(figure.title, tuple(bars), figure.kind == "line")


class _Parser:
    """A parser of markdown-it tokens into blocks; `claims` are marked, in text order."""

    def __init__(self, tokens: Sequence[Token], report: Report, claims: Sequence[Claim]) -> None:
        self._tokens = tokens
        self._at = 0
        self._headings = 0
        self._report = report
        self._claims = iter(claims)
        self._claim: Claim | None = None
        self._is_inside = False
        self._cited: dict[str, tuple[str, ...]] = {}
        self._references = {reference.number: reference for reference in reversed(report.references)}
        self._numbers = {reference.source: reference.number for reference in report.references}

    def parse(self, end: str = "") -> list[blocks.Block]:
        """Return the blocks up to a token of the type `end`, which is passed."""
        found: list[blocks.Block] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token.type == end:
                break
            if block := self._block(token):
                found.append(block)
        return found

    def _block(self, token: Token) -> blocks.Block | None:
        if token.type == "heading_open":
            self._headings += 1
            return blocks.Heading(int(token.tag[1:]), self._inline("heading_close"), f"h{self._headings}")
        if token.type == "paragraph_open":
            return self._paragraph(self._inline("paragraph_close"))
        if token.type in ("fence", "code_block", "html_block"):
            return self._code(token)
        if token.type == "blockquote_open":
            return blocks.Quote(tuple(self.parse("blockquote_close")))
        if token.type in ("bullet_list_open", "ordered_list_open"):
            return self._items(token)
        return self._table() if token.type == "table_open" else None

    def _code(self, token: Token) -> blocks.Block:
        self._follow_marks(token.content)
        text = token.content.translate(_NONE).rstrip("\n")
        figure = read_chart(text) if token.info.split()[:1] == [INFO] else None
        return _chart(figure, self._report, self._numbers) if figure is not None else blocks.Code(text)

    def _paragraph(self, content: tuple[blocks.Inline, ...]) -> blocks.Block:
        """Return a paragraph; one of a few bold words is a heading of what follows it."""
        is_heading = all(isinstance(part, blocks.Text) and part.bold for part in content)
        if content and is_heading and len(blocks.plain_text(content)) <= _LONGEST_HEADING:
            self._headings += 1
            plain = tuple(replace(part, bold=False) for part in content if isinstance(part, blocks.Text))
            return blocks.Heading(_SUBHEADING, plain, f"h{self._headings}")
        return blocks.Paragraph(content)

    def _items(self, opening: Token) -> blocks.Items:
        start = int(opening.attrs.get("start", 1)) if opening.type == "ordered_list_open" else None
        end = opening.type.replace("open", "close")
        items: list[tuple[blocks.Block, ...]] = []
        while self._tokens[self._at].type != end:
            self._at += 1  # list_item_open
            items.append(tuple(self.parse("list_item_close")))
        self._at += 1
        return blocks.Items(tuple(items), start)

    def _table(self) -> blocks.Table:
        rows: list[tuple[tuple[blocks.Inline, ...], ...]] = []
        cells: list[tuple[blocks.Inline, ...]] = []
        while (token := self._tokens[self._at]).type != "table_close":
            self._at += 1
            if token.type in ("th_open", "td_open"):
                cells.append(self._inline(token.type.replace("open", "close")))
            elif token.type == "tr_close":
                rows.append(tuple(cells))
                cells = []
        self._at += 1
        return blocks.Table(rows[0] if rows else (), tuple(rows[1:]))

    def _inline(self, end: str) -> tuple[blocks.Inline, ...]:
        """Return the content up to a token of the type `end`, which is passed."""
        content: list[blocks.Inline] = []
        if not self._is_inside:
            self._claim, self._cited = None, {}
        while (token := self._tokens[self._at]).type != end:
            self._at += 1
            self._add_inlines(content, token.children or ())
        self._at += 1
        return tuple(content)

    def _add_inlines(self, content: list[blocks.Inline], tokens: Sequence[Token]) -> None:
        bold = italic = 0
        for token in tokens:
            if token.type in ("strong_open", "strong_close"):
                bold += token.nesting
            elif token.type in ("em_open", "em_close"):
                italic += token.nesting
            elif token.type == "code_inline":
                self._follow_marks(token.content)
                content.append(
                    blocks.Text(token.content.translate(_NONE), bool(bold), bool(italic), True, self._is_own)
                )
            elif token.type == "hardbreak":
                content.append(blocks.Break())
            elif token.type in ("text", "text_special", "softbreak", "html_inline", "image"):
                text = "\n" if token.type == "softbreak" else token.content
                self._add_text(content, blocks.Text(text, bool(bold), bool(italic)))

    def _add_text(self, content: list[blocks.Inline], given: blocks.Text) -> None:
        """Add a text to the inlines, split at citations and marks of doubt."""
        at = 0
        for found in _PIECE.finditer(given.text):
            is_cite = found["number"] is not None and int(found["number"]) in self._references
            is_behind = found.start() == at and content and isinstance(content[-1], blocks.Cite)
            is_doubt = found["mark"] == DOUBT_SIGN and is_behind
            if not (is_cite or is_doubt or found["mark"] in (_OPEN, _CLOSE)):
                continue
            self._add_piece(content, given, given.text[at : found.start()])
            at = found.end()
            if is_cite:
                if content and isinstance(last := content[-1], blocks.Text):  # no blank stands before a citation
                    content[-1:] = [replace(last, text=text)] if (text := last.text.rstrip(" ")) else []
                number = int(found["number"])
                content.append(blocks.Cite(number, self._passages_of(self._references[number])))
            elif is_doubt:
                content.append(doubt_of(self._claim, self._report.language))
            else:
                self._follow_marks(found[0])
        self._add_piece(content, given, given.text[at:])

    def _passages_of(self, reference: Reference) -> tuple[str, ...]:
        first = (key for key in reference.passages if key in self._report.passages)
        return self._cited.get(reference.source) or tuple(islice(first, _MOST_GUESSED))

    def _add_piece(self, content: list[blocks.Inline], given: blocks.Text, text: str) -> None:
        piece = replace(given, text=text, is_own=self._is_own)
        if content and isinstance(last := content[-1], blocks.Text) and replace(last, text=text) == piece:
            content[-1] = replace(last, text=last.text + text)
        elif text:
            content.append(piece)

    def _follow_marks(self, text: str) -> None:
        """Follow where statements begin and end; the last holds for what follows it."""
        for sign in text:
            if sign == _OPEN:
                self._claim, self._is_inside = next(self._claims, None), True
                self._cited = _by_source(self._claim.passages, self._report) if self._claim is not None else {}
            elif sign == _CLOSE:
                self._is_inside = False

    @property
    def _is_own(self) -> bool:
        return self._is_inside and self._claim is not None and self._claim.verdict.kind == "own"
