"""A report's Markdown as blocks, each citation with the passages that it means: what every exporter with a layout draws from."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from markdown_it import MarkdownIt
from markdown_it.token import Token

from deep_research.data import OWN_KINDS, Claim, ExportFigure, ExportInput, Report
from deep_research.i18n.catalog import phrase
from deep_research.text.cleaning import letters_of
from deep_research.text.tokens import content_terms
from deep_research.text.workings import workings_apart

_LONGEST_HEADING, _SUBHEADING = 100, 3
_CITATION = re.compile(r"\[(\d{1,4})\]")
_MOST_GUESSED = 2
Group = Literal["supported", "own", "general", "unverified", "contradicted"]
"""What a statement is to a reader."""


@dataclass(frozen=True)
class Text:
    """A stretch of text of one look."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False


@dataclass(frozen=True)
class Cite:
    """A citation: the number of a reference, and the passages of it that are meant."""

    number: int
    passages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Break:
    """The end of a line inside a paragraph."""


Inline = Text | Cite | Break


@dataclass(frozen=True)
class Heading:
    """A heading; `level` 1 is that of the report, `key` names it in the document."""

    level: int
    content: tuple[Inline, ...]
    key: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    content: tuple[Inline, ...]


@dataclass(frozen=True)
class Items:
    """A list; numbered from `start` on, or not at all where it is None."""

    items: tuple[tuple["Block", ...], ...]
    start: int | None = None


@dataclass(frozen=True)
class Table:
    """A table: the cells of its header and of its rows."""

    head: tuple[tuple[Inline, ...], ...]
    rows: tuple[tuple[tuple[Inline, ...], ...], ...]


@dataclass(frozen=True)
class Code:
    """Lines that stand as they are."""

    text: str


@dataclass(frozen=True)
class Quote:
    """What is set off from the text: here, a notice."""

    blocks: tuple["Block", ...]


@dataclass(frozen=True)
class Bar:
    """A row of a chart: what is measured, the number as it was stated with its citations, and its share of the largest."""

    label: str
    value: tuple[Inline, ...]
    share: float
    number: float


@dataclass(frozen=True)
class Chart:
    """Numbers side by side as bars, one number over the years (`is_line`), or dated events (`is_timeline`)."""

    title: str
    bars: tuple[Bar, ...]
    is_timeline: bool = False
    is_line: bool = False


Block = Heading | Paragraph | Items | Table | Code | Quote | Chart


@dataclass(frozen=True)
class Count:
    """How many statements of the report are of a group, and its name in the report's language."""

    group: Group
    number: int
    text: str


@dataclass
class Document:
    """A report to be laid out: `references` are the blocks of each entry of the source list by its number.

    `made` says when and by which run it was made, `counts` how many statements have which verdict, `cited` how many
    sources are cited.
    """

    title: str
    made: str = ""
    counts: tuple[Count, ...] = ()
    cited: str = ""
    blocks: list[Block] = field(default_factory=list)
    references_title: str = ""
    references: dict[int, tuple[Block, ...]] = field(default_factory=dict)


def read_document(given: ExportInput) -> Document:
    """Return the report's Markdown as a document with its figures, its title and its list of references apart."""
    report = given.report
    tokens = MarkdownIt("commonmark", {"html": False}).enable("table").parse(report.report)
    blocks = _Parser(tokens, report).blocks()
    document = _headed(report)
    if blocks and isinstance(blocks[0], Heading) and blocks[0].level == 1:
        document.title = plain_text(blocks[0].content)
        blocks = blocks[1:]
    last = max((n for n, block in enumerate(blocks) if isinstance(block, Heading)), default=None)
    if last is not None and _is_reference_list(blocks[last:], report):
        heading, items = blocks[last], blocks[last + 1]
        assert isinstance(heading, Heading)
        assert isinstance(items, Items)
        document.references_title = plain_text(heading.content)
        document.references = dict(enumerate(items.items, items.start or 1))
        blocks = blocks[:last]
    document.blocks = _with_figures(blocks, given)
    return document


def _headed(report: Report) -> Document:
    """Return the document of a report with what stands at its head alone."""
    language = report.language
    date = max((source.retrieved_at[:10] for source in report.sources.values()), default="")
    return Document(
        title=report.title,
        made=phrase("made_on", language, date=date, run=report.run_id),
        counts=tuple(_counts(report)),
        cited=phrase("said_of_sources", language, count=len(report.references)),
    )


def group_of(claim: Claim) -> Group:
    """Return what a reader is told of a statement: a source says it, it is our own, general knowledge, or how it failed."""
    if claim.kind == "background":
        return "general"
    if not claim.stands:
        return claim.verdict.kind
    return "own" if claim.kind in OWN_KINDS else "supported"


def _counts(report: Report) -> Iterator[Count]:
    """Yield how many statements of a report there are of each group; what sources say is told also where it is none."""
    counted = Counter(group_of(claim) for claim in report.claims)
    names = {"own": "count_own", "general": "count_general"}
    if counted["own"]:
        names["supported"] = "count_sourced"
    for group in get_args(Group):
        if counted[group] or group == "supported":
            yield Count(group, counted[group], phrase(names.get(group, f"verdict_{group}"), report.language))


def _with_figures(blocks: list[Block], given: ExportInput) -> list[Block]:
    """Return the blocks with the figures before what could not be found."""
    if not given.figures:
        return blocks
    language = given.report.language
    charts: list[Block] = [_chart(figure, given.report) for figure in given.figures]
    gaps = phrase("gaps", language)
    titles = [plain_text(block.content) if isinstance(block, Heading) else "" for block in blocks]
    place = titles.index(gaps) if gaps in titles else len(blocks)
    heading = Heading(2, (Text(phrase("figures", language)),), "figures")
    return [*blocks[:place], heading, *charts, *blocks[place:]]


def _chart(figure: ExportFigure, report: Report) -> Chart:
    numbers = {reference.source: reference.number for reference in report.references}
    largest = max((abs(point.value) for point in figure.points), default=0) or 1
    bars: list[Bar] = []
    for point in figure.points:
        by_number: dict[int, list[str]] = {}
        for key in point.passages:
            passage = report.passages.get(key)
            if passage is not None and passage.source in numbers:
                by_number.setdefault(numbers[passage.source], []).append(key)
        cites = (Cite(number, tuple(keys)) for number, keys in by_number.items())
        bars.append(Bar(point.label, (Text(point.display), *cites), abs(point.value) / largest, point.value))
    return Chart(figure.title, tuple(bars), figure.kind == "timeline", figure.kind == "line")


def plain_text(content: Sequence[Inline]) -> str:
    """Return the text of inlines without citations."""
    parts = (part.text if isinstance(part, Text) else " " if isinstance(part, Break) else "" for part in content)
    return " ".join("".join(parts).split())


def cited_text(content: Sequence[Inline]) -> str:
    """Return the text of inlines with its citations as `[n]`."""
    parts = (
        part.text if isinstance(part, Text) else f" [{part.number}]" if isinstance(part, Cite) else " "
        for part in content
    )
    return " ".join("".join(parts).split())


def text_width(text: str) -> int:
    """Return how many letters of the usual width a text is wide: Chinese and its like take two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _is_reference_list(blocks: Sequence[Block], report: Report) -> bool:
    """Tell whether a heading and what follows it are the list of references."""
    if len(blocks) != 2 or not isinstance(blocks[0], Heading) or not isinstance(blocks[1], Items):
        return False
    title = phrase("references", report.language)
    return plain_text(blocks[0].content) == title and len(blocks[1].items) == len(report.references)


class _Parser:
    """Turns the tokens of markdown-it into blocks."""

    def __init__(self, tokens: Sequence[Token], report: Report) -> None:
        self._tokens = tokens
        self._at = 0
        self._headings = 0
        self._cited = CitedPassages(report)
        self._code = ""
        self._numbers = {reference.number for reference in report.references}

    def blocks(self, end: str = "") -> list[Block]:
        """Return the blocks up to a token of the type `end`, which is passed."""
        found: list[Block] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token.type == end:
                break
            if block := self._block(token):
                found.append(block)
        return found

    def _block(self, token: Token) -> Block | None:
        if token.type == "heading_open":
            self._headings += 1
            level = int(token.tag[1:])
            content = self._inline("heading_close")
            if level <= 2:
                self._cited.enter_section(plain_text(content))
            return Heading(level, content, f"h{self._headings}")
        if token.type == "paragraph_open":
            return self._paragraph(self._inline("paragraph_close"))
        if token.type in ("fence", "code_block", "html_block"):
            self._code = token.content
            return Code(token.content.rstrip("\n"))
        if token.type == "blockquote_open":
            return Quote(tuple(self.blocks("blockquote_close")))
        if token.type in ("bullet_list_open", "ordered_list_open"):
            return self._items(token)
        return self._table() if token.type == "table_open" else None

    def _paragraph(self, content: tuple[Inline, ...]) -> Block:
        """Return a paragraph; one of a few bold words is a heading of what follows it."""
        is_heading = all(isinstance(part, Text) and part.bold for part in content)
        if content and is_heading and len(plain_text(content)) <= _LONGEST_HEADING:
            self._headings += 1
            plain = tuple(replace(part, bold=False) for part in content if isinstance(part, Text))
            return Heading(_SUBHEADING, plain, f"h{self._headings}")
        return Paragraph(content)

    def _items(self, opening: Token) -> Items:
        start = int(opening.attrs.get("start", 1)) if opening.type == "ordered_list_open" else None
        end = opening.type.replace("open", "close")
        items: list[tuple[Block, ...]] = []
        while self._tokens[self._at].type != end:
            self._at += 1  # list_item_open
            items.append(tuple(self.blocks("list_item_close")))
        self._at += 1
        return Items(tuple(items), start)

    def _table(self) -> Table:
        rows: list[tuple[tuple[Inline, ...], ...]] = []
        cells: list[tuple[Inline, ...]] = []
        while (token := self._tokens[self._at]).type != "table_close":
            self._at += 1
            if token.type in ("th_open", "td_open"):
                cells.append(self._inline(token.type.replace("open", "close")))
            elif token.type == "tr_close":
                rows.append(tuple(cells))
                cells = []
        self._at += 1
        return Table(rows[0] if rows else (), tuple(rows[1:]))

    def _inline(self, end: str) -> tuple[Inline, ...]:
        """Return the content up to a token of the type `end`, which is passed."""
        content: list[Inline] = []
        while (token := self._tokens[self._at]).type != end:
            self._at += 1
            content += self._inlines(token.children or ())
        self._at += 1
        return tuple(content)

    def _inlines(self, tokens: Sequence[Token]) -> list[Inline]:
        """Return inlines; the text since the last citation tells which passages of a source are meant."""
        found: list[Inline] = []
        bold = italic = 0
        said, self._code = self._code, ""  # a citation alone in its paragraph belongs to the code above it
        for token in tokens:
            if token.type in ("strong_open", "strong_close"):
                bold += token.nesting
            elif token.type in ("em_open", "em_close"):
                italic += token.nesting
            elif token.type == "code_inline":
                found.append(Text(token.content, bool(bold), bool(italic), code=True))
                said += token.content
            elif token.type == "hardbreak":
                found.append(Break())
            elif token.type in ("text", "softbreak", "html_inline", "image"):
                text = "\n" if token.type == "softbreak" else token.content
                for part in self._split(text):
                    if isinstance(part, int):
                        found.append(Cite(part, self._cited.passages(said, part)))
                    elif part:
                        said = part if found and isinstance(found[-1], Cite) and part.strip() else said + part
                        found.append(Text(part, bool(bold), bool(italic)))
        return found

    def _split(self, text: str) -> list[str | int]:
        """Return a text as texts and the numbers of the references that it cites."""
        parts: list[str | int] = []
        at = 0
        for mark in _CITATION.finditer(text):
            if int(mark[1]) in self._numbers:
                parts += [text[at : mark.start()].rstrip(" "), int(mark[1])]
                at = mark.end()
        return [*parts, text[at:]]


class CitedPassages:
    """Finds the statements of a report in its text, section by section."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._by_source = {reference.number: reference for reference in report.references}
        self._titles = {section.title for section in report.sections}
        self._claims: dict[str, list[tuple[str, Claim]]] = defaultdict(list)
        for claim in report.claims:
            self._claims[claim.section].append((letters_of(workings_apart(claim.text)[0]), claim))
        self._section = ""

    def enter_section(self, title: str) -> None:
        """Tell that the texts which follow stand under this heading."""
        self._section = title if title in self._titles else ""

    def passages(self, said: str, number: int) -> tuple[str, ...]:
        """Return the passages of reference `number` that a text rests on.

        Where no statement of the section stands in the text, those of the source that share most words with it.
        """
        reference = self._by_source[number]
        folded = letters_of(said)
        cited = {
            key for text, claim in self._claims[self._section] if text and text in folded for key in claim.passages
        }
        found = tuple(key for key in reference.passages if key in cited)
        return found or self._nearest(said, reference.passages)

    def _nearest(self, said: str, passages: tuple[str, ...]) -> tuple[str, ...]:
        terms = set(content_terms(said))
        known = [key for key in passages if key in self._report.passages]
        shared = {key: len(terms & set(content_terms(self._report.passages[key].text))) for key in known}
        best = max(shared.values(), default=0)
        return tuple(key for key in known if shared[key] == best)[:_MOST_GUESSED]


def quote_passage(text: str, most: int) -> str:
    """Return at most so many characters of a passage in one line, without its headings and fences of code."""
    lines = (line for line in text.splitlines() if not line.startswith(("#", "```")))
    line = " ".join(" ".join(lines).split())
    if len(line) <= most:
        return line
    space = line.rfind(" ", most // 2, most)
    return f"{line[: space if space > 0 else most].rstrip()} …"
