"""Text, Markdown and reStructuredText; blocks of plain text are told apart here."""

import re
from pathlib import PurePath

from claimcheck.language import CJK, columns
from claimcheck.text.cleaning import clean
from deep_research.data import Document
from deep_research.readers._decode import decode
from deep_research.readers._markdown import write_markdown
from deep_research.readers._rst import write_rst
from deep_research.text.dates import find_date
from deep_research.text.document_builder import DocumentBuilder, naming_heading
from deep_research.text.listed_headings import listed_headings

_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
_RST = (".rst", ".rest")
_MARKDOWN_SIGN = re.compile(r"^#{1,6} \S|^```|^\[[^\]]+\]\(|\]\(https?://|^\|.*\|\s*$", re.MULTILINE)
_RST_SIGN = re.compile(r"^\.\. [\w-]+::|:[a-z]+:`[^`]+`|^\.\. _", re.MULTILINE)
_UNDERLINE = re.compile(r"^\s*([=\-~*#^])\1{2,}\s*$")
_ITEM = re.compile(r"^(\s*)([-*+•·○●▪]|\(?\d{1,3}[.)]|[①-⑳])\s++(.*)$")
_CJK_CHAR = re.compile(f"[{CJK}]")
_LINE_OF_ITS_OWN = 45  # a line shorter than this did not end because the page did


class PlainReader:
    """A reader of text, Markdown and reStructuredText, told by suffix or by signs."""

    name = "plain"
    suffixes = (".txt", ".text", *_MARKDOWN, *_RST)
    media_types = ("text/plain", "text/markdown", "text/x-rst")

    def read(self, data: bytes, *, name: str) -> Document:
        text = clean(decode(data))
        builder = DocumentBuilder()
        kind = _kind(name, text)
        write = {"text/markdown": write_markdown, "text/x-rst": write_rst}.get(kind, write_text)
        fields = write(text, builder) or {}
        authors = fields.get("authors") or fields.get("author") or ""
        document = builder.document(
            media_type=kind,
            published=find_date(fields.get("date") or fields.get("published") or ""),
            authors=[author.strip(" \"'[]") for author in authors.split(",")],
        )
        named = fields.get("title") or "".join(h.title for h in document.headings[:1] if (h.start, h.level) == (0, 1))
        if kind != "text/plain":  # where headings are no more than a guess
            named = named or naming_heading(document.headings)
        return document.model_copy(update={"title": named or PurePath(name).stem or name})


def _kind(name: str, text: str) -> str:
    suffix = PurePath(name.lower()).suffix
    if suffix in _MARKDOWN:
        return "text/markdown"
    if suffix in _RST or (name.lower().endswith(".rst.txt")):
        return "text/x-rst"
    if suffix == ".text":
        return "text/plain"
    sample = text[:20_000]
    if len(_RST_SIGN.findall(sample)) > 1:
        return "text/x-rst"
    return "text/markdown" if len(_MARKDOWN_SIGN.findall(sample)) > 1 else "text/plain"


def write_text(text: str, builder: DocumentBuilder) -> None:
    """Write unmarked text as blocks, split at blank lines; guess what each is."""
    lines = text.expandtabs(8).split("\n")
    margin = min((_indent(line) for line in lines if line.strip()), default=0)
    block: list[str] = []
    listed = listed_headings(lines)
    for number, line in enumerate([*lines, ""]):
        level = listed.levels.get(number)
        if line.strip() and level is None and number not in listed.skipped:
            block.append(line[margin:].rstrip())
            continue
        if block:
            _write_block(block, builder)
            block = []
        if level is not None:
            builder.heading(level, line.strip())


def _write_block(block: list[str], builder: DocumentBuilder) -> None:
    if len(block) >= 3 and _UNDERLINE.match(block[0]) and _UNDERLINE.match(block[2]):
        block = block[1:]
    if len(block) >= 2 and _UNDERLINE.match(block[1]) and not _UNDERLINE.match(block[0]):
        builder.heading(1, block[0])  # all alike: whether "---" stands below "===", each writer decides
        if block[2:]:
            _write_block(block[2:], builder)
        return
    block = [line for line in block if not _UNDERLINE.match(line)]
    if any(_ITEM.match(line) for line in block[:2]):
        _write_items(block, builder)
    elif len(block) > 1 and all(_indent(line) >= 4 for line in block) and not _is_prose(block):
        builder.code("\n".join(block))
    else:
        for paragraph in _paragraphs(block):
            builder.paragraph(paragraph)


def _write_items(block: list[str], builder: DocumentBuilder) -> None:
    indents: list[int] = []
    marker, text = "", ""

    def flush() -> None:
        if marker:
            builder.item(text, depth=max(0, len(indents) - 1), marker=marker)
        else:
            builder.paragraph(text)

    for line in block:
        match = _ITEM.match(line)
        if not match:
            text = f"{text}\n{line}" if text else line
            continue
        if text:
            flush()
        indent = len(match.group(1))
        while indents and indents[-1] >= indent:
            indents.pop()
        indents.append(indent)
        number = match.group(2).strip("().")
        marker, text = (f"{number}." if number.isdecimal() else "-"), match.group(3)
    flush()


def _paragraphs(block: list[str]) -> list[str]:
    """Join wrapped lines to paragraphs; keep short lines (an address, a verse) apart."""
    begins = [line.lstrip()[:1] for line in block[1:]]
    runs_on = sum(sign.islower() or bool(_CJK_CHAR.match(sign)) for sign in begins) * 2 >= len(begins)
    is_short = all(columns(line) < _LINE_OF_ITS_OWN for line in block)
    return block if is_short and not runs_on else ["\n".join(block)]


def _is_prose(block: list[str]) -> bool:
    text = " ".join(line.strip() for line in block)
    letters = sum(char.isalpha() or char in " ,.'’" for char in text)
    return letters > 0.93 * len(text) and all(columns(line.strip()) > _LINE_OF_ITS_OWN for line in block[:-1])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
