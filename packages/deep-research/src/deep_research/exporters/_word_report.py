"""A report by python-docx, and footnotes, which it lacks, after ISO 29500."""

import io
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import docx
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.table import WD_TABLE_DIRECTION
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Mm, Pt, RGBColor

from deep_research.data import DOUBT_SIGN, ExportInput
from deep_research.exporters.reference_formats import web_address
from deep_research.i18n.catalog import phrase
from deep_research.report import blocks
from deep_research.report.document import read_document

_EAST_ASIAN = {"zh": ("Microsoft YaHei", "zh-CN"), "ja": ("Yu Gothic", "ja-JP"), "ko": ("Malgun Gothic", "ko-KR")}
_LATIN, _MONO = "Calibri", "Consolas"
_QUOTED_CHARS = 220
_GREY, _TINT = "59636E", "F0F3F6"
_MARGIN, _TEXT_WIDTH, _TABLE_LETTERS = 24, 162, 84  # millimetres; letters of a table side by side
_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
_TEXT, _MARK = "footnote text", "footnote reference"
_LINES = (
    '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
    '<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>'
)


class _Footnotes:
    def __init__(self, document: Any) -> None:
        self._root = parse_xml(f"<w:footnotes {nsdecls('w')}>{_LINES}</w:footnotes>")
        part = XmlPart(PackURI("/word/footnotes.xml"), _CONTENT_TYPE, self._root, document.part.package)
        document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
        about = f'<w:footnotePr {nsdecls("w")}><w:footnote w:id="-1"/><w:footnote w:id="0"/></w:footnotePr>'
        document.settings.element.append(parse_xml(about))
        text = document.styles.add_style(_TEXT, WD_STYLE_TYPE.PARAGRAPH)
        text.base_style, text.font.size = document.styles["Normal"], Pt(8.5)
        text.paragraph_format.space_after = Pt(2)
        mark = document.styles.add_style(_MARK, WD_STYLE_TYPE.CHARACTER)
        mark.font.superscript = True
        self._text_style, self._mark_style = text.style_id, mark.style_id
        self._count = 0

    def add(self, paragraph: Any, text: str) -> None:
        """Add a footnote after a paragraph's content; a comma separates two marks."""
        self._count += 1
        if len(paragraph._p) and paragraph._p[-1].find(qn("w:footnoteReference")) is not None:
            paragraph._p.append(parse_xml(self._mark("<w:t>,</w:t>")))
        paragraph._p.append(parse_xml(self._mark(f'<w:footnoteReference w:id="{self._count}"/>')))
        turned, rtl = ("<w:bidi/>", "<w:rPr><w:rtl/></w:rPr>") if blocks.is_right_to_left(text) else ("", "")
        words = f'<w:r>{rtl}<w:t xml:space="preserve"> {escape(text)}</w:t></w:r>'
        body = f'<w:pPr><w:pStyle w:val="{self._text_style}"/>{turned}</w:pPr>{self._mark("<w:footnoteRef/>")}{words}'
        note = f'<w:footnote {nsdecls("w")} w:id="{self._count}"><w:p>{body}</w:p></w:footnote>'
        self._root.append(parse_xml(note))

    def _mark(self, inner: str) -> str:
        return f'<w:r {nsdecls("w")}><w:rPr><w:rStyle w:val="{self._mark_style}"/></w:rPr>{inner}</w:r>'


class WordReport:
    """One report as a Word document."""

    def __init__(self, given: ExportInput) -> None:
        self._given, self._report = given, given.report
        self._document: blocks.Document = read_document(given)
        self._references = {reference.number: reference for reference in given.report.references}
        self._file: Any = docx.Document()
        self._style_fonts()
        self._footnotes = _Footnotes(self._file)
        self._noted: set[tuple[int, tuple[str, ...]]] = set()

    def write(self) -> bytes:
        self._describe()
        self._head()
        for block in self._document.blocks:
            self._block(block)
        self._reference_list()
        saved = io.BytesIO()
        self._file.save(saved)
        return saved.getvalue()

    def _style_fonts(self) -> None:
        family, locale = _EAST_ASIAN.get(self._report.language, ("Microsoft YaHei", "zh-CN"))
        styles = self._file.styles
        for name in ("Normal", "Title", "Heading 1", "Heading 2", "Heading 3"):
            style = styles[name]
            fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
            fonts.attrib.clear()
            for script, font in (("ascii", _LATIN), ("hAnsi", _LATIN), ("cs", _LATIN), ("eastAsia", family)):
                fonts.set(qn(f"w:{script}"), font)
            if name != "Normal":
                style.font.color.rgb = RGBColor.from_string("1B1F24")
        styles["Normal"].font.size = Pt(10.5)
        styles["Normal"].paragraph_format.space_after = Pt(6)
        styles["Title"].font.size = Pt(22)
        latin = "en-US" if self._report.language in _EAST_ASIAN else self._report.language
        language = f'<w:lang {nsdecls("w")} w:val={quoteattr(latin)} w:eastAsia="{locale}"/>'
        styles["Normal"].element.get_or_add_rPr().append(parse_xml(language))

    def _describe(self) -> None:
        report, properties = self._report, self._file.core_properties
        properties.title, properties.subject = self._document.title[:255], report.question[:255]
        properties.author, properties.language = "deep-research", report.language
        properties.comments = f"Run {report.run_id}"[:255]
        dates = [source.retrieved_at for source in report.sources.values() if source.retrieved_at]
        if dates:
            properties.created = properties.modified = datetime.fromisoformat(max(dates)).replace(tzinfo=None)
        page = self._file.sections[0]
        page.page_width, page.page_height = Mm(210), Mm(297)
        page.left_margin = page.right_margin = Mm(_MARGIN)
        page.top_margin = page.bottom_margin = Mm(_MARGIN)
        footer = page.footer.paragraphs[0]
        footer.alignment = 2
        footer._p.append(parse_xml(f'<w:fldSimple {nsdecls("w")} w:instr="PAGE"/>'))
        footer.add_run(" / ")
        footer._p.append(parse_xml(f'<w:fldSimple {nsdecls("w")} w:instr="NUMPAGES"/>'))

    def _head(self) -> None:
        document = self._document
        self._inlines(self._file.add_paragraph(style="Title"), (blocks.Text(document.title),))
        verdicts = [f"{count.number} {count.text}" for count in document.counts]
        told = " · ".join([document.made, *verdicts, document.cited])
        self._grey(self._file.add_paragraph().add_run(told))

    def _grey(self, run: Any) -> None:
        run.font.size, run.font.color.rgb = Pt(9), RGBColor.from_string(_GREY)

    def _block(self, block: blocks.Block, depth: int = 0) -> None:
        if isinstance(block, blocks.Heading):
            paragraph = self._file.add_paragraph(style=f"Heading {min(max(block.level - 1, 1), 3)}")
            self._inlines(paragraph, block.content)
        elif isinstance(block, blocks.Paragraph):
            self._inlines(self._file.add_paragraph(), block.content)
        elif isinstance(block, blocks.Code):
            self._code(block.text)
        elif isinstance(block, blocks.Quote):
            for part in block.blocks:
                if isinstance(part, blocks.Paragraph):
                    self._inlines(self._file.add_paragraph(style="Quote"), part.content)
                else:
                    self._block(part, depth)
        elif isinstance(block, blocks.Items):
            self._items(block, depth)
        elif isinstance(block, blocks.Chart):
            rows = tuple(((blocks.Text(bar.label),), bar.value) for bar in block.bars)
            self._table(blocks.Table((), rows), title=block.title)
        else:
            self._table(block)

    def _code(self, text: str) -> None:
        run = self._file.add_paragraph(style="No Spacing").add_run(text)
        run.font.size, run.font.name = Pt(8.5), _MONO
        run._r.get_or_add_rPr().get_or_add_rFonts().set(qn("w:cs"), _MONO)
        self._file.add_paragraph(style="No Spacing")

    def _items(self, block: blocks.Items, depth: int) -> None:
        """Write a list with Word's styles; each numbered one begins at its own number."""
        level = f" {min(depth + 1, 3)}" if depth else ""
        style = f"List {'Bullet' if block.start is None else 'Number'}{level}"
        numbering = None if block.start is None else self._restart(style, block.start)
        for item in block.items:
            first = item[0] if item and isinstance(item[0], blocks.Paragraph | blocks.Heading) else None
            paragraph = self._file.add_paragraph(style=style)
            if numbering is not None:
                properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
                properties.get_or_add_ilvl().val, properties.get_or_add_numId().val = 0, numbering
            if first is not None:
                self._inlines(paragraph, first.content)
            for part in item[1:] if first is not None else item:
                self._block(part, depth + 1)

    def _restart(self, style: str, start: int) -> int:
        """Return the id of a numbering like that of a style which begins at `start`."""
        numbering = self._file.part.numbering_part.numbering_definitions._numbering
        used = self._file.styles[style].element.pPr.numPr.numId.val
        abstract = numbering.num_having_numId(used).abstractNumId.val
        made = numbering.add_num(abstract)
        made.add_lvlOverride(ilvl=0).add_startOverride(start)
        return made.numId

    def _table(self, block: blocks.Table, *, title: str = "") -> None:
        widths = blocks.column_widths(block, _TABLE_LETTERS)
        if title:
            self._file.add_paragraph(title, style="Caption")
        table = self._file.add_table(rows=0, cols=len(widths), style="Table Grid")
        if blocks.is_right_to_left(blocks.block_text(block)):
            table.table_direction = WD_TABLE_DIRECTION.RTL
        rows = (block.head, *block.rows) if block.head else block.rows
        table.autofit = False
        for column, width in zip(table.columns, widths, strict=True):
            column.width = Mm(_TEXT_WIDTH * width / sum(widths))
        for number, row in enumerate(rows):
            line = table.add_row()
            line._tr.get_or_add_trPr().append(OxmlElement("w:cantSplit"))
            for cell, content, width in zip(line.cells, row, widths, strict=False):
                cell.width = Mm(_TEXT_WIDTH * width / sum(widths))
                self._inlines(cell.paragraphs[0], content)
                for run in cell.paragraphs[0].runs:
                    run.font.size = run.font.size or Pt(9)
                    if run.text:
                        run.text = blocks.break_words(run.text, width - blocks.COLUMN_EDGES // 2)
                if number == 0 and block.head:
                    shade = parse_xml(f'<w:shd {nsdecls("w")} w:val="clear" w:fill="{_TINT}"/>')
                    cell._tc.get_or_add_tcPr().append(shade)
            if number == 0 and block.head:
                line._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
        self._file.add_paragraph()

    def _inlines(self, paragraph: Any, content: Sequence[blocks.Inline]) -> None:
        text, properties = blocks.plain_text(content), paragraph._p.get_or_add_pPr()
        if blocks.is_right_to_left(text) and properties.find(qn("w:bidi")) is None:
            properties.append(OxmlElement("w:bidi"))
        for part in content:
            if isinstance(part, blocks.Break):
                paragraph.add_run().add_break()
            elif isinstance(part, blocks.Cite):
                self._footnotes.add(paragraph, self._note(part))
            elif isinstance(part, blocks.Doubt):
                paragraph.add_run(DOUBT_SIGN)
                self._footnotes.add(paragraph, part.told)
            else:
                run = paragraph.add_run(part.text.replace("\n", " "))
                run.bold, run.italic = part.bold or None, part.italic or None
                if blocks.is_right_to_left(part.text + text):
                    run.font.rtl, run.font.cs_bold, run.font.cs_italic = True, run.bold, run.italic
                if part.code:
                    run.font.name = _MONO

    def _note(self, cite: blocks.Cite) -> str:
        """Return a footnote: reference and quotation, or its number alone if repeated."""
        reference, language = self._references[cite.number], self._report.language
        pages = sorted({p.page for key in cite.passages if (p := self._report.passages.get(key)) and p.page})
        where = [phrase("page", language, page=", ".join(map(str, pages)))] if pages else []
        if (cite.number, cite.passages) in self._noted:
            return ", ".join([phrase("see_reference", language, number=cite.number), *where])
        is_known = any(number == cite.number for number, _ in self._noted)
        self._noted.add((cite.number, cite.passages))
        place = "" if is_known else web_address(reference.url) or reference.location
        quoted = (self._report.passages[key].text for key in cite.passages[:2] if key in self._report.passages)
        said = " … ".join(blocks.quote_passage(text, _QUOTED_CHARS) for text in quoted)
        named = (" ".join((part or "").split()) for part in (reference.title, place, reference.published, *where))
        facts = ", ".join(part for part in named if part)
        return f"[{cite.number}] {facts}" + (f": “{said}”" if said else "")

    def _reference_list(self) -> None:
        if not self._document.references:
            return
        self._file.add_paragraph(self._document.references_title, style="Heading 1")
        for number, parts in self._document.references.items():
            paragraph = self._file.add_paragraph()
            paragraph.add_run(f"[{number}] ")
            for block in parts:
                if isinstance(block, blocks.Paragraph | blocks.Heading):
                    self._inlines(paragraph, block.content)
            if address := web_address(self._references[number].url):
                paragraph.add_run().add_break()
                self._grey(paragraph.add_run(address))
