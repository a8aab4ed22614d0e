"""The report as slides: section starts, lists, tables, charts and the sources."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from claimcheck.text.sentences import sentences
from deep_research.data import ExportInput
from deep_research.exporters.reference_formats import web_address
from deep_research.i18n.catalog import phrase
from deep_research.report import blocks
from deep_research.report.document import read_document

_EAST_ASIAN = {"zh": "Microsoft YaHei", "ja": "Yu Gothic", "ko": "Malgun Gothic"}
_WIDTH, _HEIGHT, _LEFT, _TOP = 13.333, 7.5, 0.8, 1.75  # inches; slides are 16:9
_TEXT_WIDTH = _WIDTH - 2 * _LEFT
_LINE_CHARS, _SLIDE_LINES, _MOST_SLIDES = 88, 12, 3
_TABLE_LINES, _SMALL_LINE = 15, 105
_REFERENCES, _LONGEST_QUESTION, _LONGEST_TITLE = 8, 240, 110
_CITATIONS = re.compile(r"(?:\[\d+\]\s*)+(?:°\s*)?")
_T = TypeVar("_T")
_INK, _SOFT = "1B1F24", "59636E"


@dataclass
class _Part:
    """A main heading with points (first paragraphs, lists), and `text` for notes."""

    title: str
    points: list[str] = field(default_factory=list)
    tables: list[blocks.Table] = field(default_factory=list)
    charts: list[blocks.Chart] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class PptxExporter:
    """Writes 16:9 slides with titles and lists; full section texts are in the notes."""

    name = "pptx"
    suffix = ".pptx"
    media_type = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    purpose = "slides: how each section begins, lists, tables, charts and sources; the whole text in the notes"

    def export(self, given: ExportInput) -> bytes:
        return _Slides(given).write()


class _Slides:
    def __init__(self, given: ExportInput) -> None:
        from pptx import Presentation  # noqa: PLC0415 - heavy

        self._report, self._language = given.report, given.report.language
        self._document: blocks.Document = read_document(given)
        self._file: Any = Presentation()
        self._file.slide_width, self._file.slide_height = _emu(_WIDTH), _emu(_HEIGHT)
        self._east_asian = _EAST_ASIAN.get(self._language, "Microsoft YaHei")

    def write(self) -> bytes:
        self._cover()
        for part in _parts(self._document):
            self._points(part.title, part.points, "\n\n".join(part.text))
            for table in part.tables:
                self._table(part.title, table)
            for chart in part.charts:
                self._chart(chart)
        self._references()
        properties = self._file.core_properties
        properties.title, properties.subject = self._document.title[:255], self._report.question[:255]
        properties.author, properties.language = "deep-research", self._language
        saved = io.BytesIO()
        self._file.save(saved)
        return saved.getvalue()

    def _slide(self, title: str, number: int = 0, layout: int = 1) -> Any:
        """Return a new slide, from `number` 1 on a continuation; layout 5 has no list."""
        title = phrase("continued", self._language, title=title) if number else title
        slide = self._file.slides.add_slide(self._file.slide_layouts[layout])
        _place(slide.shapes.title, 0.55, 1.0)
        self._write(slide.shapes.title.text_frame, [title], size=_title_size(title, 30), bold=True)
        if layout == 1:
            _place(slide.placeholders[1], _TOP, _HEIGHT - _TOP - 0.5)
        return slide

    def _cover(self) -> None:
        slide = self._file.slides.add_slide(self._file.slide_layouts[0])
        title, below = slide.shapes.title, slide.placeholders[1]
        _place(title, 1.7, 2.2)
        _place(below, 4.1, 2.2)
        size = _title_size(self._document.title, 44)
        self._write(title.text_frame, [self._document.title], size=size, bold=True)
        made, cited = self._document.made, self._document.cited
        counts = [f"{count.number} {count.text}" for count in self._document.counts]
        lines = [blocks.quote_passage(self._report.question, _LONGEST_QUESTION), " · ".join([*counts, cited]), made]
        self._write(below.text_frame, lines, size=16, colour=_SOFT)

    def _points(self, title: str, points: Sequence[str], notes: str) -> None:
        """Add the slides of a list of statements; what finds no room stays in the notes."""
        room = _LINE_CHARS * _SLIDE_LINES // 2  # where one takes more lines than a slide has
        shown = [point if _lines(point) <= _SLIDE_LINES else blocks.quote_passage(point, room) for point in points]
        pages = list(_pages(shown, [_lines(point) for point in points], _SLIDE_LINES))
        for number, page in enumerate(pages[:_MOST_SLIDES]):
            slide = self._slide(title, number)
            more = number == _MOST_SLIDES - 1 and len(pages) > _MOST_SLIDES
            last = [phrase("more_on_slides", self._language)] * more
            self._write(slide.placeholders[1].text_frame, [*page, *last], size=18)
            slide.notes_slide.notes_text_frame.text = notes

    def _table(self, title: str, table: blocks.Table) -> None:
        columns = len(table.head)
        texts = [[blocks.cited_text(cell) for cell in row][:columns] for row in table.rows]
        shares = blocks.column_widths(table, _SMALL_LINE)
        widths = [max(6, _SMALL_LINE * share // sum(shares)) for share in shares]
        lines = [max(map(_lines, row, widths), default=1) for row in texts]
        for number, rows in enumerate(_pages(texts, lines, _TABLE_LINES)):
            slide = self._slide(title, number, layout=5)
            size = (_emu(_LEFT), _emu(_TOP), _emu(_TEXT_WIDTH), _emu(0.4 * (len(rows) + 1)))
            grid = slide.shapes.add_table(len(rows) + 1, columns, *size).table
            # `grid.columns` looks for each column anew.
            for column, share in zip(grid._tbl.tblGrid.gridCol_lst, shares, strict=True):
                column.w = _emu(_TEXT_WIDTH * share / sum(shares))
            grid._tbl.tblPr.set("rtl", str(int(blocks.is_right_to_left(blocks.block_text(table)))))
            for line, row in enumerate(([blocks.cited_text(cell) for cell in table.head], *rows)):
                for cell, text in zip(tuple(grid.rows[line].cells), row, strict=False):
                    frame = cell.text_frame
                    self._write(frame, [text], size=12, bold=line == 0, colour="FFFFFF" if line == 0 else _INK)
                    frame.paragraphs[0].space_after = 0

    def _chart(self, chart: blocks.Chart) -> None:
        from pptx.chart.data import CategoryChartData  # noqa: PLC0415
        from pptx.enum.chart import XL_CHART_TYPE  # noqa: PLC0415
        from pptx.util import Pt  # noqa: PLC0415

        title = chart.title or phrase("figures", self._language)
        lines = [f"{bar.label}: {blocks.cited_text(bar.value)}" for bar in chart.bars]
        slide = self._slide(title, layout=5)
        data: Any = CategoryChartData()
        bars = chart.bars if chart.is_line else chart.bars[::-1]  # a bar chart draws from below
        data.categories = [bar.label for bar in bars]
        data.add_series(title, [bar.number for bar in bars])
        kind = XL_CHART_TYPE.LINE_MARKERS if chart.is_line else XL_CHART_TYPE.BAR_CLUSTERED
        size = (_emu(_LEFT), _emu(_TOP), _emu(_TEXT_WIDTH), _emu(_HEIGHT - _TOP - 0.5))
        drawn = slide.shapes.add_chart(kind, *size, data).chart
        drawn.has_legend, drawn.has_title, drawn.font.size = False, False, Pt(14)
        drawn.plots[0].has_data_labels = True
        slide.notes_slide.notes_text_frame.text = "\n".join(lines)

    def _references(self) -> None:
        references = self._report.references
        title = self._document.references_title or phrase("references", self._language)
        for first in range(0, len(references), _REFERENCES):
            slide = self._slide(title, first)
            lines = [
                f"[{r.number}] {blocks.quote_passage(r.title, _LONGEST_TITLE)} — {web_address(r.url) or r.location}"
                for r in references[first : first + _REFERENCES]
            ]
            self._write(slide.placeholders[1].text_frame, lines, size=13)

    def _write(self, frame: Any, lines: Sequence[str], *, size: int, bold: bool = False, colour: str = _INK) -> None:
        from pptx.dml.color import RGBColor  # noqa: PLC0415
        from pptx.enum.text import PP_ALIGN  # noqa: PLC0415
        from pptx.oxml.ns import qn  # noqa: PLC0415
        from pptx.util import Pt  # noqa: PLC0415

        frame.word_wrap = True
        for number, line in enumerate(lines):
            paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
            paragraph.alignment, paragraph.space_after = PP_ALIGN.LEFT, Pt(6)
            if blocks.is_right_to_left(line):
                paragraph.alignment = PP_ALIGN.RIGHT
                paragraph._p.get_or_add_pPr().set("rtl", "1")
            run = paragraph.add_run()
            run.text = " ".join(line.split())
            run.font.size, run.font.bold, run.font.name = Pt(size), bold, "Calibri"
            run.font.color.rgb = RGBColor.from_string(colour)
            font = run._r.get_or_add_rPr().makeelement(qn("a:ea"), {"typeface": self._east_asian})
            run._r.get_or_add_rPr().append(font)


def _title_size(title: str, most: int) -> int:
    width = blocks.text_width(title)
    return next((size for size, room in ((most, 55), (24, 110), (20, 200)) if width < room), 14)


def _parts(document: blocks.Document) -> Iterator[_Part]:
    """Yield the report's parts by main heading; the first is titled like the report."""
    part, is_first = _Part(document.title), True
    for block in document.blocks:
        if isinstance(block, blocks.Heading):
            is_first = True
        if isinstance(block, blocks.Heading) and block.level <= 2:
            if part.text or part.tables or part.charts:
                yield part
            part = _Part(blocks.cited_text(block.content))
        elif isinstance(block, blocks.Table):
            part.tables.append(block)
        elif isinstance(block, blocks.Chart):
            part.charts.append(block)
        else:
            texts = _texts(block)
            part.text += texts
            if isinstance(block, blocks.Items) or (is_first and isinstance(block, blocks.Paragraph)):
                part.points += [sentence for text in texts for sentence in _split(text)]
                is_first = is_first and not isinstance(block, blocks.Paragraph)
    if part.text or part.tables or part.charts:
        yield part


def _texts(block: blocks.Block) -> list[str]:
    """Return the texts of a block, those of a list or notice one by one."""
    parts = block.items if isinstance(block, blocks.Items) else [[block]]
    parts = [[part] for part in block.blocks] if isinstance(block, blocks.Quote) else parts
    return [text for part in parts if (text := " ".join(filter(None, map(blocks.block_text, part))))]


def _split(text: str) -> list[str]:
    """Return a long text's sentences as points, each with the citations after it."""
    if blocks.text_width(text) <= 2 * _LINE_CHARS:
        return [text]
    points: list[str] = []
    for sentence in sentences(text):
        said = text[sentence.start : sentence.end].strip()
        cited = _CITATIONS.match(said)
        if cited and points:
            points[-1] = f"{points[-1]} {cited[0].strip()}"
            said = said[cited.end() :]
        points += [said] if said else []
    return points


def _lines(text: str, width: int = _LINE_CHARS) -> int:
    return 1 + blocks.text_width(text) // width


def _pages(items: Sequence[_T], lines: Sequence[int], most: int) -> Iterator[list[_T]]:
    page: list[_T] = []
    used = 0
    for item, needed in zip(items, lines, strict=True):
        if page and used + needed > most:
            yield page
            page, used = [], 0
        page.append(item)
        used += needed
    if page:
        yield page


def _emu(inches: float) -> int:
    return round(inches * 914_400)


def _place(shape: Any, top: float, height: float) -> None:
    shape.left, shape.top, shape.width, shape.height = _emu(_LEFT), _emu(top), _emu(_TEXT_WIDTH), _emu(height)
