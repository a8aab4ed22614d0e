"""Text of pictures, and of PDF pages without text, by OCR (extra `ocr`).

RapidOCR has its models (PP-OCRv6: scripts of Latin, Chinese and Japanese; no Korean) in the wheel: nothing is downloaded.
"""

import io
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import islice
from statistics import median
from typing import Any

from deep_research import registry
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._pdf_lines import Line
from deep_research.readers.pdf import read_pdf, write_pages
from deep_research.reading_child import MOST_PAGES
from deep_research.text.document_builder import DocumentBuilder

_SIDE, _DOTS = 1_800, 150
"""Pixels of the longer side of a picture, and dots an inch at which a page is looked at: with more, blanks are lost."""
_NUMBER = re.compile(r"^(\d{1,2}[.)])(?=[^\s\d])")  # of a list item whose blank was not seen
_SURE = 0.5  # how sure (0-1) the recognition must be of a line
_OF_PICTURES = "read from a picture (OCR): signs may be mistaken, compare figures and names with the original"
_INSTALL = "a picture; pip install 'deep-research[ocr]' has its text read"


class PictureReader:
    """A reader of PNG, JPEG and TIFF (every page), and of PDF pages without text."""

    name = "picture"
    suffixes = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".svg")
    media_types = ("image/png", "image/jpeg", "image/tiff", "image/svg+xml")

    def __init__(self, pages: int = MOST_PAGES) -> None:
        """Look at `pages` pages at most."""
        self._pages = pages

    def read(self, data: bytes, *, name: str) -> Document:
        if name.lower().endswith(".svg"):
            raise Unreadable("a drawing, which is not read")
        if not registry.reads_pictures():
            raise Unreadable(_INSTALL)
        if data.startswith(b"%PDF-"):
            seen = iter(range(self._pages))

            def see(page: Any) -> list[Line]:
                if next(seen, None) is None:
                    return []
                scale = min(_DOTS / 72, _SIDE / max(*page.get_size(), 1.0))
                return _lines(page.render(scale=scale).to_pil().convert("RGB"))

            document = read_pdf(data, name, see)
            return document.model_copy(update={"warnings": (*document.warnings, _OF_PICTURES)})
        builder = DocumentBuilder()
        try:
            images = _images(data)
            write_pages([_lines(image) for image in islice(images, self._pages)], builder, {})
            if next(images, None) is not None:
                builder.warn(f"only the first {self._pages} pages were read")
        except (OSError, ValueError, SyntaxError) as error:
            raise Unreadable("the picture is broken, or too large") from error
        if not len(builder):
            raise Unreadable("no text was seen in the picture")
        builder.warn(_OF_PICTURES)
        return builder.document(title=name.rsplit(".", 1)[0], media_type=self.media_types[0])


def _images(data: bytes) -> Iterator[Any]:
    from PIL import Image, ImageOps, ImageSequence  # noqa: PLC0415 - of the extra

    try:
        for frame in ImageSequence.Iterator(Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "TIFF"))):
            frame.draft("RGB", (_SIDE, _SIDE))
            image = ImageOps.exif_transpose(frame)
            image.thumbnail((_SIDE, _SIDE))
            yield image.convert("RGB")
    except Image.DecompressionBombError as error:
        raise ValueError(str(error)) from error


@cache
def _engine() -> Any:
    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    return import_module("rapidocr").RapidOCR(params={**threads, "Global.log_level": "critical"})


def _lines(image: Any) -> list[Line]:
    """Return the lines seen, from the top; in pixels from the lower left corner."""
    seen = _engine()(import_module("numpy").asarray(image)[:, :, ::-1])
    found = zip(seen.boxes.tolist(), seen.txts, seen.scores, strict=True) if seen.txts else ()
    boxes = [(box, text) for box, text, score in found if score >= _SURE]
    # Heights of single lines differ by their letters; only what is much larger is a heading.
    usual = median([box[3][1] - box[0][1] for box, _ in boxes]) if boxes else 0.0
    made: list[Line] = []
    for box, text in boxes:
        (left, top), (right, _), _, (_, bottom) = box
        size = bottom - top if bottom - top > 1.5 * usual else usual
        made.append(Line(_NUMBER.sub(r"\1 ", text), left, right, image.height - top, image.height - bottom, size))
    return sorted(made, key=lambda line: (-round(line.top / (usual or 1.0)), line.left))
