"""Presentations (PPTX): slides are pages."""

import io
from collections.abc import Iterator
from typing import Any

from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._zip import open_zip
from deep_research.text.document_builder import DocumentBuilder

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


class PptxReader:
    """Reads PPTX: titles as headings, text, tables and speaker notes of every slide."""

    name = "pptx"
    suffixes = (".pptx", ".pptm", ".potx")
    media_types = (_MEDIA_TYPE,)

    def read(self, data: bytes, *, name: str) -> Document:
        """Return the text of all slides. Raises Unreadable when the file is broken or encrypted."""
        import pptx  # noqa: PLC0415 - heavy

        open_zip(data, what="PPTX").close()
        try:
            file = pptx.Presentation(io.BytesIO(data))
            builder = DocumentBuilder()
            for number, slide in enumerate(file.slides, start=1):
                builder.page(number)
                _write_slide(slide, number, builder)
            about = file.core_properties
            published = about.modified or about.created
        except Exception as error:  # python-pptx passes on whatever XML, ZIP or lookup failed
            raise Unreadable("the PPTX file is broken") from error
        title = "" if about.title == "PowerPoint Presentation" else about.title
        document = builder.document(
            title=title or "",
            media_type=_MEDIA_TYPE,
            published=published.date().isoformat() if published else None,
            authors=(about.author or "").split(";"),
        )
        return document if document.title else document.model_copy(update={"title": name.rsplit(".", 1)[0]})


def _write_slide(slide: Any, number: int, builder: DocumentBuilder) -> None:
    title = slide.shapes.title
    heading = title.text_frame.text.strip() if title is not None else ""
    builder.heading(2, heading or f"Slide {number}")
    for shape in _shapes(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if getattr(shape, "has_table", False) and shape.has_table:
            builder.table([[cell.text for cell in row.cells] for row in shape.table.rows])
        elif shape.has_text_frame:
            _write_text(shape.text_frame, builder)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        for line in slide.notes_slide.notes_text_frame.text.split("\n"):
            builder.paragraph(line)


def _shapes(shapes: Any) -> Iterator[Any]:
    """Yield all shapes, those of groups too."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _write_text(frame: Any, builder: DocumentBuilder) -> None:
    paragraphs = [paragraph for paragraph in frame.paragraphs if paragraph.text.strip()]
    for paragraph in paragraphs:
        if len(paragraphs) > 1:
            builder.item(paragraph.text, depth=paragraph.level)
        else:
            builder.paragraph(paragraph.text)
