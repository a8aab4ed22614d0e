"""Footnotes of a Word document, which python-docx cannot make: their part, their settings, their styles (ISO 29500)."""

from typing import Any
from xml.sax.saxutils import escape

from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Pt

from deep_research.report.blocks import is_right_to_left

_CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
_TEXT, _MARK = "footnote text", "footnote reference"
_LINES = (
    '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
    '<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>'
)


class Footnotes:
    """The footnotes of one document, numbered by Word in the order in which they are added."""

    def __init__(self, document: Any) -> None:
        self._root = parse_xml(f"<w:footnotes {nsdecls('w')}>{_LINES}</w:footnotes>")
        part = XmlPart(PackURI("/word/footnotes.xml"), _CONTENT_TYPE, self._root, document.part.package)
        document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
        document.settings.element.append(
            parse_xml(f'<w:footnotePr {nsdecls("w")}><w:footnote w:id="-1"/><w:footnote w:id="0"/></w:footnotePr>')
        )
        text = document.styles.add_style(_TEXT, WD_STYLE_TYPE.PARAGRAPH)
        text.base_style, text.font.size = document.styles["Normal"], Pt(8.5)
        text.paragraph_format.space_after = Pt(2)
        mark = document.styles.add_style(_MARK, WD_STYLE_TYPE.CHARACTER)
        mark.font.superscript = True
        self._text_style, self._mark_style = text.style_id, mark.style_id
        self._count = 0

    def add(self, paragraph: Any, text: str) -> None:
        """Add a footnote behind what stands in a paragraph; a comma parts the marks of two."""
        self._count += 1
        if len(paragraph._p) and paragraph._p[-1].find(qn("w:footnoteReference")) is not None:
            paragraph._p.append(parse_xml(self._mark("<w:t>,</w:t>")))
        paragraph._p.append(parse_xml(self._mark(f'<w:footnoteReference w:id="{self._count}"/>')))
        turned, rtl = ("<w:bidi/>", "<w:rPr><w:rtl/></w:rPr>") if is_right_to_left(text) else ("", "")
        words = f'<w:r>{rtl}<w:t xml:space="preserve"> {escape(text)}</w:t></w:r>'
        body = f'<w:pPr><w:pStyle w:val="{self._text_style}"/>{turned}</w:pPr>{self._mark("<w:footnoteRef/>")}{words}'
        note = f'<w:footnote {nsdecls("w")} w:id="{self._count}"><w:p>{body}</w:p></w:footnote>'
        self._root.append(parse_xml(note))

    def _mark(self, inner: str) -> str:
        """Return a run of the style of marks."""
        return f'<w:r {nsdecls("w")}><w:rPr><w:rStyle w:val="{self._mark_style}"/></w:rPr>{inner}</w:r>'
