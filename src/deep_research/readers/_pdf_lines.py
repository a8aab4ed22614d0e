"""Lines of a PDF page with their place and size, and the paragraphs they make."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import Any, Literal, NamedTuple

from deep_research.text.cleaning import clean, fold

_HYPHEN_AT_END = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad\u0002\ufffe]$")
_ITEM = re.compile(r"^\s*(?:[•◦▪●○■□–‣∙·*\uf0b7\u2022\uf0a7]|\(?\d{1,2}[.)])\s+(?=\S)")
_BULLET_ONLY = re.compile(r"^\s*[•◦▪●○■□‣∙·\uf0b7\uf0a7]\s*$")
_SENTENCE_END = re.compile(r"[.!?:。！？：][\"'”’)\]]*$")
_LIGATURES = re.compile("[\ufb00-\ufb06\uff21-\uff5a\uff10-\uff19]")
_NUMBERED_HEADING = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,4}\.|[A-Z]\.)\s+[A-Z\u3040-\u9fff\uac00-\ud7af]")
_LARGER = 1.12  # than the text: a heading
_MAX_HEADING_CHARS = 160


class Line(NamedTuple):
    """One line; `left`, `right`, `top` and `bottom` in points from the lower left corner, `size` of its font."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float


class Block(NamedTuple):
    """A paragraph, list item or heading made of lines."""

    kind: Literal["prose", "item", "heading"]
    text: str
    level: int = 0


def page_lines(pdf: Any, number: int) -> list[Line]:
    """Return the lines of page `number` (from 0) in the order of the file, which is the reading order of columns."""
    page = pdf[number]
    try:
        text_page = page.get_textpage()
        try:
            return list(_lines(text_page))
        finally:
            text_page.close()
    finally:
        page.close()


def _lines(text_page: Any) -> Iterator[Line]:
    text = text_page.get_text_range()
    # PDFium's character indices run over its own text, in which a line ends with \r\n.
    position = 0
    for raw in text.split("\n"):
        content = raw.rstrip("\r")
        start = position + len(content) - len(content.lstrip())
        position += len(raw) + 1
        if not content.strip():
            continue
        box = _box(text_page, start, len(content.strip()))
        if box:
            yield Line(_readable(content), *box)


def _box(text_page: Any, start: int, length: int) -> tuple[float, float, float, float, float] | None:
    from pypdfium2 import raw  # noqa: PLC0415 - heavy

    first, last = start, start + length - 1
    try:
        left, bottom, _, top = text_page.get_charbox(first, loose=True)
        _, bottom_2, right, top_2 = text_page.get_charbox(last, loose=True)
    except Exception:  # noqa: BLE001 - a glyph without a box must not cost the page
        return (0.0, 0.0, 0.0, 0.0, 0.0)
    size = raw.FPDFText_GetFontSize(text_page, first + length // 2)
    height = max(top - bottom, top_2 - bottom_2)
    # Some producers set everything in size 1 and scale it: then the height of the line tells.
    return left, right, max(top, top_2), min(bottom, bottom_2), size if size > 1.5 else height


def _readable(text: str) -> str:
    """Ligatures and full-width Latin letters as the letters that they stand for."""
    return clean(_LIGATURES.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)).rstrip()


def blocks(lines: list[Line], body_size: float) -> Iterator[Block]:
    """Join lines into paragraphs, items and headings. `body_size` is the font size of the running text."""
    lines = _with_bullets(lines)
    right = _right_margin(lines)
    open_lines: list[Line] = []
    for line in lines:
        if open_lines and not _goes_on(open_lines, line, right, body_size):
            yield _block(open_lines, body_size)
            open_lines = []
        open_lines.append(line)
    if open_lines:
        yield _block(open_lines, body_size)


def _with_bullets(lines: list[Line]) -> list[Line]:
    """A bullet that stands on a line of its own belongs to the next line."""
    joined: list[Line] = []
    bullet = False
    for line in lines:
        if _BULLET_ONLY.match(line.text):
            bullet = True
            continue
        joined.append(line._replace(text=f"• {line.text.lstrip()}") if bullet else line)
        bullet = False
    return joined


def _right_margin(lines: list[Line]) -> float:
    """How wide a full line is: most lines of running text reach it."""
    widths = sorted(line.right - line.left for line in lines)
    return widths[int(len(widths) * 0.8)] if widths else 0.0


def _is_heading(line: Line, body_size: float) -> bool:
    text = line.text.strip()
    if len(text) > _MAX_HEADING_CHARS or not any(char.isalpha() for char in text):
        return False
    return body_size > 0 and line.size > body_size * _LARGER


def _goes_on(open_lines: list[Line], line: Line, full_width: float, body_size: float) -> bool:
    """Whether `line` continues the paragraph of `open_lines`."""
    last = open_lines[-1]
    if _is_heading(last, body_size) or _is_heading(line, body_size):
        both = _is_heading(last, body_size) and _is_heading(line, body_size)
        return both and abs(line.size - last.size) < 0.6 and 0 <= last.bottom - line.top < line.size
    if _ITEM.match(line.text):
        return False
    if line.top > last.bottom + 2 * line.size:  # the next column
        return not _SENTENCE_END.search(last.text)
    leading = _leading(open_lines, line)
    if last.top - line.top > leading * 1.45:
        return False
    short = (last.right - last.left) < 0.75 * full_width
    return not (short and _SENTENCE_END.search(last.text)) and not _indented(open_lines, line)


def _leading(open_lines: list[Line], line: Line) -> float:
    """The distance between lines of this paragraph, or what is usual for the size."""
    gaps = [a.top - b.top for a, b in pairwise(open_lines) if 0 < a.top - b.top < 4 * line.size]
    return median(gaps) if gaps else max(line.size, line.top - line.bottom) * 1.25


def _indented(open_lines: list[Line], line: Line) -> bool:
    """A first line that is indented begins a paragraph, after a line that ends a sentence."""
    last = open_lines[-1]
    step = line.left - last.left
    return bool(_SENTENCE_END.search(last.text)) and 0.8 * line.size < step < 5 * line.size


def _block(lines: list[Line], body_size: float) -> Block:
    text = _joined([line.text for line in lines])
    if all(_is_heading(line, body_size) for line in lines):
        ratio = lines[0].size / body_size
        return Block("heading", text, 1 if ratio > 1.6 else 2 if ratio > 1.25 else 3)
    if len(lines) == 1 and _NUMBERED_HEADING.match(text) and len(text) < 80 and not _SENTENCE_END.search(text):
        return Block("heading", text, 2 + text.split()[0].strip(".").count("."))
    if match := _ITEM.match(text):
        marker = match.group().strip()
        rest = text[match.end() :]
        return Block("item", rest if not marker.strip("().").isdecimal() else f"{marker} {rest}")
    return Block("prose", text)


def _joined(texts: list[str]) -> str:
    """Join lines, undoing the hyphens that the line breaks made."""
    joined = ""
    for text in map(str.strip, texts):
        if (match := _HYPHEN_AT_END.search(joined)) and text[:1].islower():
            joined = joined[: match.start()] + text
        else:
            joined = f"{joined}\n{text}" if joined else text
    return fold(joined)
