"""The report as a PDF, set by Typst from our layout; texts are data, not markup.

It is made as PDF/A-2b, which refuses a character that no font has: so nobody gets a page of empty boxes. Latin fonts
lie in Typst itself; Chinese, Japanese and Korean ones come from the system or from a folder that is named.
"""

import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from claimcheck.language import columns
from deep_research.data import DOUBT_SIGN, ExportInput
from deep_research.errors import ConfigError
from deep_research.exporters.reference_formats import web_address
from deep_research.i18n.catalog import phrase
from deep_research.report import blocks
from deep_research.report.document import read_document

_CJK_REGIONS = {"zh": ("SC", "cn"), "ja": ("JP", "jp"), "ko": ("KR", "kr")}
_CJK_FAMILY = re.compile(
    r"CJK|Source Han|Song|Hei\b|Ming|Mincho|Gothic|Gulim|Batang|Nanum|PingFang|YaHei|Hiragino|WenQuanYi"
)
_LATIN = {
    "serif": ("Libertinus Serif",),
    "sans": ("Inter", "Noto Sans", "Source Sans 3", "Helvetica Neue", "Segoe UI", "DejaVu Sans", "Libertinus Serif"),
    "mono": ("DejaVu Sans Mono",),
}
_LONG_ENOUGH_FOR_CONTENTS = 6
_NO_FONT = re.compile(r'the text `"(?P<text>.{0,9000})"` could not be displayed')
_MOST_REPLACED = 40
_TABLE_LETTERS, _LINE_LETTERS = 92, 80  # that stand side by side in a table, and in a line
_LONGEST_UNBROKEN = 900  # letters of a cell that may not go over the end of a page


class PdfExporter:
    """Writes A4 pages with contents, linked citations and page numbers."""

    name = "pdf"
    suffix = ".pdf"
    media_type = "application/pdf"
    purpose = "pages to print or send (PDF/A); needs the extra `pdf`, and a font for Chinese, Japanese or Korean"

    def export(self, given: ExportInput) -> bytes:
        """Return the PDF. Raises ConfigError without Typst or a font for the language."""
        try:
            import typst  # noqa: PLC0415 - heavy, and an extra
        except ImportError as error:
            message = "PDF needs Typst: pip install 'deep-research[pdf]' (or: pip install typst)."
            raise ConfigError(message, setting="to", value="pdf") from error
        folders = [given.font_folder] if given.font_folder else []
        fonts = typst.Fonts(include_system_fonts=True, font_paths=folders)
        layout = files("deep_research.exporters").joinpath("report.typ").read_bytes()
        shown = json.dumps(_values(given, fonts.families()), ensure_ascii=False)
        missing: dict[str, str] = {}
        while True:
            try:
                made = typst.compile(
                    layout, font_paths=fonts, format="pdf", pdf_standards=["a-2b"], sys_inputs={"report": shown}
                )
            except typst.TypstError as error:
                found = _NO_FONT.search(str(error))
                if found is None:
                    raise
                missing |= _replaced(found["text"], missing)
                shown = shown.translate(str.maketrans(missing))
            else:
                return bytes(made)


def _replaced(text: str, known: Mapping[str, str]) -> dict[str, str]:
    """Return replacements for characters without a font, besides those `known`.

    Raises ConfigError for letters, and where replacing does not help: typesetting may take a character apart.
    """
    if any(map(str.isalpha, text)) or known.keys() >= set(text) or len(known) >= _MOST_REPLACED:
        fonts = "cjk; Fedora: dnf install google-noto-cjk-fonts" if columns(text) > len(text) else "core"
        message = (
            f"No font has the character {text[0]!r}. Install one (Debian: apt install fonts-noto-{fonts}), or name a folder "
            "with a font that has it, such as one of Noto: --fonts FOLDER."
        )
        raise ConfigError(message, setting="fonts", value=text[0])
    return dict.fromkeys(text, "?")


def _values(given: ExportInput, families: Sequence[str]) -> dict[str, Any]:
    report, document = given.report, read_document(given)
    language = report.language
    counts = [{"kind": one.verdict, "number": str(one.number), "text": one.text} for one in document.counts]
    headings = sum(isinstance(block, blocks.Heading) and block.level <= 2 for block in document.blocks)
    is_cjk = language in _CJK_REGIONS
    return {
        "title": document.title or "-",
        "title-rtl": blocks.is_right_to_left(document.title),
        "run": report.run_id,
        "made": document.made,
        "lang": language if language.isalpha() and len(language) in (2, 3) else "en",
        "region": _CJK_REGIONS[language][1] if is_cjk else None,
        "justify": language != "ko",
        "leading": 0.95 if is_cjk else 0.68,
        "counts": [*counts, {"kind": "sources", "number": "", "text": document.cited}],
        "contents": headings >= _LONG_ENOUGH_FOR_CONTENTS,
        "contents-title": phrase("contents", language),
        **{look: _families(look, language, families) for look in _LATIN},
        "blocks": [_block(block) for block in document.blocks],
        "references-title": document.references_title,
        "references": _references(given, document),
    }


def _families(look: str, language: str, known: Sequence[str]) -> list[str]:
    """Return a look's fonts: Latin first, then CJK ones, the language's own first."""
    suffix = _CJK_REGIONS.get(language, ("SC", ""))[0]
    serif = ("Serif", "Song", "Ming", "Mincho", "Batang", "Myeongjo")
    fit = [name for name in known if _CJK_FAMILY.search(name)]

    def rank(name: str) -> tuple[bool, bool, str]:
        return not name.endswith(f" {suffix}"), any(word in name for word in serif) != (look == "serif"), name

    latin = next(name for name in (*_LATIN[look], "Libertinus Serif") if name in known or name == "Libertinus Serif")
    return [latin, *sorted(fit, key=rank)]


def _references(given: ExportInput, document: blocks.Document) -> list[dict[str, Any]]:
    addresses = {reference.number: web_address(reference.url) for reference in given.report.references}
    return [
        {"number": number, "blocks": [_block(block) for block in parts], "address": addresses.get(number, "")}
        for number, parts in document.references.items()
    ]


def _block(block: blocks.Block) -> dict[str, Any]:
    return {"rtl": blocks.is_right_to_left(blocks.block_text(block)), **_parts(block)}


def _parts(block: blocks.Block) -> dict[str, Any]:
    if isinstance(block, blocks.Heading):
        return {"type": "heading", "level": block.level, "content": _inlines(block.content)}
    if isinstance(block, blocks.Paragraph):
        return {"type": "paragraph", "own": block.is_own, "content": _inlines(block.content)}
    if isinstance(block, blocks.Code):
        return {"type": "code", "text": block.text}
    if isinstance(block, blocks.Quote):
        return {"type": "quote", "blocks": [_block(part) for part in block.blocks]}
    if isinstance(block, blocks.Items):
        items = [[_block(part) for part in item] or [_block(blocks.Paragraph(()))] for item in block.items]
        return {"type": "items", "start": block.start, "items": items}
    if isinstance(block, blocks.Chart):
        bars = [{"label": b.label, "value": _inlines(b.value), "share": round(b.share * 100, 1)} for b in block.bars]
        return {"type": "chart", "title": block.title, "bars": bars}
    return _table(block)


def _table(block: blocks.Table) -> dict[str, Any]:
    count = len(block.head)
    rows = [[*row, *[()] * count][:count] for row in block.rows]
    widths = blocks.column_widths(block, _TABLE_LETTERS)
    rooms = [width - blocks.COLUMN_EDGES // 2 for width in widths]
    longest = [max(blocks.text_width(blocks.plain_text(row[n])) for row in (block.head, *rows)) for n in range(count)]
    return {
        "type": "table",
        "breakable": max(longest, default=0) > _LONGEST_UNBROKEN,
        "widths": widths,
        "head": [_inlines(cell, room) for cell, room in zip(block.head, rooms, strict=True)],
        "rows": [[_inlines(cell, room) for cell, room in zip(row, rooms, strict=True)] for row in rows],
    }


def _inlines(content: Sequence[blocks.Inline], room: int = _LINE_LETTERS) -> list[dict[str, Any]]:
    return [_inline(part, room) for part in content or [blocks.Text("")]]


def _inline(part: blocks.Inline, room: int) -> dict[str, Any]:
    if isinstance(part, blocks.Break):
        return {"type": "break"}
    if isinstance(part, blocks.Cite):
        return {"type": "cite", "number": part.number}
    if isinstance(part, blocks.Doubt):
        return {"type": "doubt", "sign": DOUBT_SIGN, "text": part.told}
    return {"type": "text", **vars(part), "text": blocks.break_words(part.text, room)}
