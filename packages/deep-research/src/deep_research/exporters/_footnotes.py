"""Footnotes of a Word document, which python-docx cannot make: their part, their settings, their styles (ISO 29500)."""

from typing import Any

from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Pt

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
            comma = OxmlElement("w:t")
            comma.text = ","
            paragraph._p.append(self._mark(comma))
        reference = OxmlElement("w:footnoteReference")
        reference.set(qn("w:id"), str(self._count))
        paragraph._p.append(self._mark(reference))
        note = OxmlElement("w:footnote")
        note.set(qn("w:id"), str(self._count))
        body, properties, style = OxmlElement("w:p"), OxmlElement("w:pPr"), OxmlElement("w:pStyle")
        style.set(qn("w:val"), self._text_style)
        properties.append(style)
        words, run = OxmlElement("w:t"), OxmlElement("w:r")
        words.text = f" {text}"
        words.set(qn("xml:space"), "preserve")
        run.append(words)
        for element in (properties, self._mark(OxmlElement("w:footnoteRef")), run):
            body.append(element)
        note.append(body)
        self._root.append(note)

    def _mark(self, element: Any) -> Any:
        run, properties, style = OxmlElement("w:r"), OxmlElement("w:rPr"), OxmlElement("w:rStyle")
        style.set(qn("w:val"), self._mark_style)
        properties.append(style)
        run.append(properties)
        run.append(element)
        return run
