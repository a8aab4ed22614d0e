"""PDF to text by page: lines joined to paragraphs, running headers dropped."""

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice, pairwise
from statistics import median
from typing import Any, NamedTuple

from claimcheck.lexicon import any_word
from claimcheck.text.cleaning import fold
from claimcheck.text.tokens import tokenize
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._pdf_lines import MOST_LINKS, Line, page_lines, readable
from deep_research.reading_child import NO_TEXT
from deep_research.text.document_builder import FIRST_SIGN, LINK_END, LONGEST_TITLE, DocumentBuilder, naming_heading
from deep_research.text.raised_digits import RAISED_DIGITS

_HYPHEN_AT_END = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad\u0002\ufffe]$")
_ITEM = re.compile(r"^\s*(?:[•◦▪●○■□–‣∙·*\uf0b7\u2022\uf0a7]|\(?\d{1,2}[.)])\s+(?=\S)")
_BULLET_ONLY = re.compile(r"^\s*[•◦▪●○■□‣∙·\uf0b7\uf0a7]\s*$")
_SENTENCE_END = re.compile(r"[.!?:。！？：][\"'”’)\]]*$")
_NUMBERED_HEADING = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,4}\.|[A-Z]\.)\s+[A-Z\u3040-\u9fff\uac00-\ud7af]")
_LARGER = 1.12  # than the text: a heading
_MAX_HEADING_CHARS = 160


def _write_lines(lines: list[Line], body_size: float, builder: DocumentBuilder) -> None:
    """Join lines to blocks; with a `body_size` of 0 no line is taken for a heading."""
    lines = _with_bullets(lines)
    widths = sorted(line.right - line.left for line in lines if line.cell is None)
    right = widths[int(len(widths) * 0.8)] if widths else 0.0  # most lines of running text reach it
    open_lines: list[Line] = []
    for line in lines:
        if open_lines and not _goes_on(open_lines, line, right, body_size):
            _write_block(open_lines, body_size, builder)
            open_lines = []
        open_lines.append(line)
    if open_lines:
        _write_block(open_lines, body_size, builder)


def _with_bullets(lines: list[Line]) -> list[Line]:
    joined: list[Line] = []
    bullet = False
    for line in lines:
        if _BULLET_ONLY.match(line.text):
            bullet = True
            continue
        joined.append(line._replace(text=f"• {line.text.lstrip()}") if bullet else line)
        bullet = False
    return joined


def _is_heading(line: Line, body_size: float) -> bool:
    text = line.text.strip()
    if len(text) > _MAX_HEADING_CHARS or not any(char.isalpha() for char in text):
        return False
    return body_size > 0 and line.size > body_size * _LARGER


def _goes_on(open_lines: list[Line], line: Line, full_width: float, body_size: float) -> bool:
    last = open_lines[-1]
    if last.cell or line.cell:
        return bool(last.cell and line.cell and last.cell.table == line.cell.table)
    if _is_heading(last, body_size) or _is_heading(line, body_size):
        both = _is_heading(last, body_size) and _is_heading(line, body_size)
        return both and abs(line.size - last.size) < 0.6 and 0 <= last.bottom - line.top < line.size
    if _ITEM.match(line.text) or line.text[0] in RAISED_DIGITS:  # a note
        return False
    if line.top > last.bottom + 2 * line.size:  # the next column
        return not _SENTENCE_END.search(last.text)
    leading = _leading(open_lines, line)
    if last.top - line.top > leading * 1.45:
        return False
    # After the end of a sentence a line that is indented begins a paragraph, and so does any after a short one; "Source: …"
    # ends in no stop: after what is short also one that stands farther apart than the leading of most texts.
    is_short = (last.right - last.left) < 0.75 * full_width
    is_indented = 0.8 * line.size < line.left - last.left < 5 * line.size
    is_apart = is_short and last.top - line.top > 1.8 * (line.top - line.bottom)
    return not (is_apart or ((is_short or is_indented) and _SENTENCE_END.search(last.text)))


def _leading(open_lines: list[Line], line: Line) -> float:
    gaps = [a.top - b.top for a, b in pairwise(open_lines) if 0.5 * line.size < a.top - b.top < 4 * line.size]
    return median(gaps) if gaps else max(line.size, line.top - line.bottom) * 1.25


def _write_block(lines: list[Line], body_size: float, builder: DocumentBuilder) -> None:
    text = _joined(lines)
    is_short = len(lines) == 1 and len(text) < 80 and not _SENTENCE_END.search(text)
    if lines[0].cell:
        _write_table(lines, builder)
    elif all(_is_heading(line, body_size) for line in lines):
        ratio = lines[0].size / body_size
        builder.heading(1 if ratio > 1.6 else 2 if ratio > 1.25 else 3, text)
    elif body_size and is_short and _NUMBERED_HEADING.match(text):
        builder.heading(2 + text.split()[0].strip(".").count("."), text)
    elif match := _ITEM.match(text):
        marker, rest = match.group().strip(), text[match.end() :]
        builder.item(f"{marker} {rest}" if marker.strip("().").isdecimal() else rest)
    else:
        builder.paragraph(text)


def _write_table(lines: Sequence[Line], builder: DocumentBuilder) -> None:
    """Write a table by its cells; repeat a cell that spans rows in each."""
    placed = [(line, line.cell) for line in lines if line.cell]
    cells: dict[int, dict[int, list[Line]]] = {cell.row: defaultdict(list) for _, cell in placed}
    for line, cell in placed:
        for row in cells.keys() & range(cell.row, cell.row + cell.rows):
            cells[row][cell.column].append(line)
    rows = [[_joined(row[place]) for place in range(1, max(row) + 1)] for _, row in sorted(cells.items())]
    builder.table(rows, goes_on=not any(cell.heads for _, cell in placed))


def _joined(lines: Sequence[Line]) -> str:
    """Join the text of lines, with link signs, without hyphens from line breaks."""
    joined = ""
    for line in lines:
        text = (line.linked or line.text).strip()
        opened = joined.rfind(text[0]) if text[:1] >= FIRST_SIGN else -1
        if opened >= 0 and joined.find(LINK_END, opened) == len(joined) - 1:
            joined, text = joined[:-1], text[1:]  # a link that its line breaks
        if (match := _HYPHEN_AT_END.search(joined)) and text[:1].islower():
            joined = joined[: match.start()] + text
        else:
            joined = f"{joined}\n{text}" if joined else text
    return fold(joined)


_MAX_PAGES = 5000
_EDGE_LINES = 3  # lines at the top and bottom of a page among which running headers and footers are looked for
_DIGITS = re.compile(r"\d+")
_ONLY_NUMBER = "#"
_PAGE_NUMBER = re.compile(
    rf"[-–—\s]*{any_word('document.page_words')}?\s*(?:\d{{1,4}}|[ivxlc]{{1,6}})\s*"
    rf"(?:(?:of|/)\s*\d+|{any_word('document.page_counters')})?[-–—\s]*",
    re.IGNORECASE,
)
_OUTER_NUMBER = re.compile(r"^\d{1,4}(?=\s)|(?<=\s)\d{1,4}$|^\d{1,4}$")
_PRINTED_AT = re.compile(r"\d{1,4}[-./] ?\d{1,2}[-./] ?\d{1,4}\.?,? (?:\S{1,4} )?\d{1,2}:\d\d")
_CONTENTS = 5  # lines of a table of contents on a page, whose chapters have no dots before their number
_ENDS_IN_NUMBER = re.compile(r"\s\d{1,4}$")
_CONTENTS_LINE = re.compile(r"(?:\.\s?){5,}\s*(?:\d+|[ivxlc]+)?\s*$")
_NO_TITLE = re.compile(r"^(?:untitled|microsoft |powerpoint |slide 1$)|\.(?:dvi|docx?|tex|indd|pptx?|qxd|fm)$")
_MAX_ENTRIES, _FEWEST_ENTRIES, _MOST_ON_PAGE = 20_000, 3, 200
_MOST_LINES, _NUMBERING = 3, 12  # of a heading: lines, and letters before what its entry says
_NO_LETTER = re.compile(r"[\W_]+")
_TEXT_OBJECT = 1  # FPDF_PAGEOBJ_TEXT, which on a page without a line is white space
_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD, https://pdfium.googlesource.com/pdfium/+/refs/heads/main/public/fpdfview.h
_PDFIUM = threading.Lock()  # the library is not safe across threads
_INSTALL = "pip install 'deep-research[ocr]' has them read"


class Entry(NamedTuple):
    """An entry of an outline; `top` is how high on its page it leads."""

    level: int
    title: str
    top: float | None


class PdfReader:
    """A reader of PDF with PDFium; scanned pages are read as pictures, see `picture`."""

    name = "pdf"
    suffixes = (".pdf",)
    media_types = ("application/pdf",)

    def read(self, data: bytes, *, name: str) -> Document:
        return read_pdf(data, name)


def read_pdf(data: bytes, name: str, see: Callable[[Any], list[Line]] | None = None) -> Document:
    """Return the text of a PDF; `see` returns the lines of a page without text."""
    with _PDFIUM, closing(_open(data)) as pdf:
        builder = DocumentBuilder()
        left = iter(range(MOST_LINKS))
        pages = [page_lines(pdf, number, builder, left) for number in range(min(len(pdf), _MAX_PAGES))]
        if len(pdf) > _MAX_PAGES:
            builder.warn(f"only the first {_MAX_PAGES} of {len(pdf)} pages were read")
        if see is not None:
            pages = [lines or see(pdf[number]) for number, lines in enumerate(pages)]
        seen = (pdf[number].get_objects(max_depth=1) for number, lines in enumerate(pages) if not lines)
        unread = sum(any(shown.type != _TEXT_OBJECT for shown in objects) for objects in seen)
        if not any(pages):
            count = f"{len(pdf)} pages" if len(pdf) > 1 else "one page"
            why = f"its {count}: probably scanned images; {_INSTALL}" if unread else "it"
            raise Unreadable(f"{NO_TEXT} in {why}")
        if unread:
            builder.warn(f"{unread} of {len(pdf)} pages have {NO_TEXT} (images?)")
        write_pages(pages, builder, _outline(pdf))
        about = pdf.get_metadata_dict(skip_empty=True)
    authors = re.split(r"[;,]\s*|(?<!\s)\s++and\s+", about.get("Author", ""))
    document = builder.document(name=name, media_type="application/pdf", authors=authors)
    stated = fold(about.get("Title", ""))[:LONGEST_TITLE]
    return document.model_copy(update={"title": stated}) if _is_title(stated, document) else document


def _is_title(stated: str, document: Document) -> bool:
    """Return whether the metadata's title names the document.

    Its words stand on the first page; else it has several, and no heading of that page names the document.
    """
    if not stated or _NO_TITLE.search(stated.lower()):
        return False
    end = document.pages[1].start if document.pages[1:] else len(document.text)
    words = set(tokenize(stated))
    is_named = naming_heading([heading for heading in document.headings if heading.start < end]) != ""
    return words <= set(tokenize(document.text[:end])) or (len(words) > 1 and not is_named)


def _open(data: bytes) -> Any:
    import pypdfium2 as pdfium  # noqa: PLC0415 - heavy

    try:
        pdf = pdfium.PdfDocument(data)
        if not len(pdf):
            raise Unreadable("a PDF without pages")
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_ERROR:
            raise Unreadable("encrypted; a password is needed") from error
        raise Unreadable("the PDF is broken") from error
    return pdf


def _outline(pdf: Any) -> dict[int, list[Entry]]:
    """Return a PDF's outline entries by page, from 1; none if broken or too few."""
    found: dict[int, list[Entry]] = defaultdict(list)
    try:
        for mark in islice(pdf.get_toc(max_depth=6), _MAX_ENTRIES):
            target = mark.get_dest()
            page = target.get_index() if target is not None else None
            view = target.get_view()[1] if target is not None else []
            title = fold(readable(mark.get_title()))
            if title and page is not None and len(found[page + 1]) < _MOST_ON_PAGE:
                found[page + 1].append(Entry(mark.level + 1, title, view[1] if len(view) > 1 else None))
    except Exception:  # noqa: BLE001 - a broken outline must not cost the text
        return {}
    return found if sum(map(len, found.values())) >= _FEWEST_ENTRIES else {}


def _sections(lines: list[Line], entries: Sequence[Entry]) -> Iterator[tuple[Entry | None, list[Line]]]:
    """Yield a page's lines by the outline entry above them, worded as on the page."""
    above, rest = None, lines
    for entry in entries:
        start, end = _place_of(entry, rest)
        yield above, rest[:start]
        said = _joined(rest[start:end])  # with its number, which entries often lack
        above, rest = entry._replace(title=said or entry.title), rest[end:]
    yield above, rest


def _place_of(entry: Entry, lines: list[Line]) -> tuple[int, int]:
    """Return the span of an outline entry's lines; else an empty one at its height."""
    wanted = _letters(entry.title)
    usual = median([line.size for line in lines]) if lines else 0.0
    for end in range(1, len(lines) + 1):
        fits: list[int] = []
        for start in range(max(end - _MOST_LINES, 0), end):
            said = _letters("".join(line.text for line in lines[start:end]))
            if said.endswith(wanted) and len(said) - len(wanted) <= _NUMBERING:
                fits.append(start)
        # A line before it is "Chapter 6" in larger type, or the end of the text above.
        for start in fits:
            if all(line.size > usual * _LARGER for line in lines[start : fits[-1]]):
                return start, end
    top = entry.top
    start = next((n for n, line in enumerate(lines) if top is not None and line.top <= top + line.size), 0)
    return start, start


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text).casefold()


def write_pages(pages: list[list[Line]], builder: DocumentBuilder, outline: Mapping[int, Sequence[Entry]]) -> None:
    """Write pages as paragraphs, items and headings, without running lines.

    Headings are those of `outline`, by page; without one they are guessed from the sizes of fonts.
    """
    before = _pages_before_the_first(pages)
    running, body = _running_lines(pages, before), 0.0 if outline else _body_size(pages)
    for number, lines in enumerate(pages, start=1):
        kept = list(_without_edges(lines, running, str(number - (before or 0)), is_numbered=before is not None))
        builder.page(number)
        for entry, own in _sections(kept, outline.get(number, ())):
            if entry is not None:
                builder.heading(entry.level, entry.title)
            _write_lines(own, body, builder)


def _pattern(text: str, own: str) -> str:
    """Return a line without its page number `own`, so that running lines are alike."""
    line = fold(text).lower()
    if _PAGE_NUMBER.fullmatch(line) and own in (_DIGITS.findall(line) or [own]):
        return _ONLY_NUMBER
    return _OUTER_NUMBER.sub(lambda found: _ONLY_NUMBER if found[0] == own else found[0], line)


def _running_lines(pages: list[list[Line]], before: int | None) -> set[str]:
    printed = _printed_lines(pages)
    if len(pages) < 3:
        return printed
    counts: Counter[str] = Counter()
    for number, lines in enumerate(pages, start=1):
        own = str(number - (before or 0))
        counts.update({_pattern(line.text, own) for line in _edges(lines)})
        # The outermost line is nearly always a running one, often changing with the chapter.
        counts.update({_pattern(line.text, own) for line in (*lines[:1], *lines[-1:])})
    least = max(6, min(10, 0.3 * len(pages)))
    return printed | {pattern for pattern, count in counts.items() if count >= least}


def _edges(lines: list[Line]) -> list[Line]:
    return [*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:]]


def _printed_lines(pages: list[list[Line]]) -> set[str]:
    """Return lines a browser prints around all pages: "2/3" at the end, or a date."""
    edges = [[fold(line.text).lower() for line in _edges(lines)] for lines in pages]
    counted = {text for n, own in enumerate(edges, 1) for text in own if f" {text}".endswith(f" {n}/{len(pages)}")}
    if not all(counted.intersection(own) for own in edges):
        return set()
    return counted | {text for own in edges for text in own if _PRINTED_AT.match(text)}


def _pages_before_the_first(pages: list[list[Line]]) -> int | None:
    """Return how many pages precede the one numbered 1; None if most have no number."""
    counts = Counter(
        number - int(printed)
        for number, lines in enumerate(pages, start=1)
        for printed in {each for line in (*lines[:1], *lines[-1:]) for each in _OUTER_NUMBER.findall(line.text.strip())}
    )
    before, count = counts.most_common(1)[0] if counts else (0, 0)
    return before if count > max(1, len(pages) / 2) else None


def _without_edges(lines: list[Line], running: set[str], own: str, *, is_numbered: bool) -> Iterator[Line]:
    """Yield the lines of a page without running headers, footers and page numbers.

    An outermost line is one that is `own`, the page's number, or in a numbered file begins or ends with it.
    """
    last = len(lines) - _EDGE_LINES
    contents = sum(_CONTENTS_LINE.search(line.text) is not None for line in lines) >= _CONTENTS
    for index, line in enumerate(lines):
        at_edge = index < _EDGE_LINES or index >= last
        outermost = index in (0, len(lines) - 1)
        if line.cell is not None:
            yield line
            continue
        pattern = _pattern(line.text, own)
        if _CONTENTS_LINE.search(line.text) or (at_edge and running & {pattern, fold(line.text).lower()}):
            continue
        begins_or_ends = is_numbered and own in _OUTER_NUMBER.findall(line.text.strip())
        if outermost and (pattern == _ONLY_NUMBER or begins_or_ends):
            continue
        if contents and _ENDS_IN_NUMBER.search(line.text):
            continue
        yield line


def _body_size(pages: list[list[Line]]) -> float:
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0
