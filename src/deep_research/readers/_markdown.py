"""Markdown to blocks: headings, lists, tables and code kept, emphasis, links, comments and HTML tags removed."""

import html
import re
from collections.abc import Iterator

from deep_research.text.document_builder import DocumentBuilder

_FENCE = re.compile(r"^(\s{0,3}|\s*)(`{3,}|~{3,})(.*)$")
_ATX = re.compile(r"^\s{0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$")
_SETEXT = re.compile(r"^\s{0,3}(=+|-+)\s*$")
_RULE = re.compile(r"^\s{0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$")
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$")
_QUOTE = re.compile(r"^\s{0,3}> ?")
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_DEFINITION = re.compile(r"^\s{0,3}\[(?!\^)[^\]]+\]:\s+\S+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FRONT_MATTER = re.compile(r"\A(?:---|\+\+\+)\n(.*?)\n(?:---|\+\+\+)\s*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^\s*(title|date|published|authors?)\s*[:=]\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)

# Marks run across lines; the bounds keep a page of unmatched marks from taking quadratic time.
_CODE_SPAN = re.compile(r"(?<!`)(`{1,9})(?!`)([\s\S]{1,2000}?)(?<!`)\1(?!`)")
_IMAGE = re.compile(r"!\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\])")
_NOTE_MARK = re.compile(r"\[\^[^\]]+\]:?")
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto):[^<>\s]+)>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_STRONG = re.compile(r"(\*\*\*|\*\*|\*|~~)(?=\S)([\s\S]{1,400}?)(?<=\S)\1")
_UNDERLINED = re.compile(r"(?<![\w_])(___|__|_)(?=\S)([\s\S]{1,400}?)(?<=\S)\1(?![\w_])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def write_markdown(text: str, builder: DocumentBuilder) -> dict[str, str]:
    """Write the blocks of CommonMark (https://spec.commonmark.org) with tables; return the front matter's fields."""
    fields: dict[str, str] = {}
    if match := _FRONT_MATTER.match(text):
        fields = {name.lower(): value.strip("\"'[] ") for name, value in _FIELD.findall(match.group(1))}
        text = text[match.end() :]
    _Markdown(builder).write(_outside_code(text).split("\n"))
    return fields


def inline(text: str) -> str:
    """Return the words of a line: code spans as they stand, everything else without marks."""
    pieces: list[str] = []
    position = 0
    for match in _CODE_SPAN.finditer(text):
        pieces += [_unmarked(text[position : match.start()]), match.group(2).strip()]
        position = match.end()
    # Emphasis around a code span leaves its marks on both sides; what is between has been kept as it stands.
    joined = "".join([*pieces, _unmarked(text[position:])])
    return re.sub(r"(?<!\S)\*\*(?=\S)|(?<=\S)\*\*(?!\S)", "", joined) if pieces else joined


def _unmarked(text: str) -> str:
    escaped: list[str] = []

    def protect(match: re.Match[str]) -> str:
        escaped.append(match.group(1))
        return f"\x00{len(escaped) - 1}\x00"

    text = _ESCAPE.sub(protect, text)
    text = _IMAGE.sub(r"\1", text)
    text = _NOTE_MARK.sub("", text)
    for _ in range(2):  # an image inside a link
        text = _LINK.sub(r"\1", text)
    text = _TAG.sub("", _AUTOLINK.sub(r"\1", text))
    for _ in range(2):  # emphasis inside strong emphasis
        text = _UNDERLINED.sub(r"\2", _STRONG.sub(r"\2", text))
    text = html.unescape(text)
    return re.sub("\x00(\\d+)\x00", lambda match: escaped[int(match.group(1))], text)


def _outside_code(text: str) -> str:
    """Remove HTML comments except inside fenced code."""
    pieces = re.split(r"(^\s{0,3}```.*?^\s{0,3}```\s*$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(piece if index % 2 else _COMMENT.sub("", piece) for index, piece in enumerate(pieces))


class _Markdown:
    """Goes through the lines once; a paragraph or item is open until a blank line or another block."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._open: list[str] = []
        self._marker = ""
        self._indents: list[int] = []  # of the open list items, outermost first

    def write(self, lines: list[str]) -> None:
        index = 0
        while index < len(lines):
            index = self._block(lines, index)
        self._flush()

    def _block(self, lines: list[str], index: int) -> int:
        """Deal with the line at `index` and return the index of the next."""
        line = _QUOTE.sub("", lines[index]).expandtabs(4)
        if not line.strip():
            self._flush()
            return index + 1
        if fence := _FENCE.match(line):
            return self._fenced(lines, index, fence)
        if self._is_table(lines, index):
            return self._table(lines, index)
        if self._is_indented_code(line):
            return self._indented(lines, index)
        self._line(line)
        return index + 1

    def _line(self, line: str) -> None:
        if atx := _ATX.match(line):
            self._flush()
            self._indents.clear()
            self._builder.heading(len(atx.group(1)), inline(atx.group(2) or ""))
        elif (setext := _SETEXT.match(line)) and self._open and not self._marker:
            title, self._open = inline(" ".join(self._open)), []
            self._indents.clear()
            self._builder.heading(1 if setext.group(1)[0] == "=" else 2, title)
        elif _RULE.match(line):
            self._flush()
        elif item := _ITEM.match(line):
            self._item(item)
        elif not _DEFINITION.match(line):
            if not self._open and not line.startswith(" "):
                self._indents.clear()
            self._text(line)

    def _item(self, match: re.Match[str]) -> None:
        indent, marker, text = len(match.group(1)), match.group(2), match.group(3)
        if self._open and not self._marker and marker[0].isdigit() and marker[:-1] != "1":
            self._text(match.group())  # a number at the beginning of a wrapped line
            return
        self._flush()
        while self._indents and self._indents[-1] >= indent:
            self._indents.pop()
        self._indents.append(indent)
        self._marker = "-" if marker in "-*+" else f"{marker[:-1]}."
        self._text(re.sub(r"^\[[ xX]\]\s+", "", text))

    def _text(self, line: str) -> None:
        hard_break = line.endswith(("  ", "\\"))
        self._open.append(line.strip().removesuffix("\\"))
        if hard_break and not self._marker:
            self._flush()

    def _flush(self) -> None:
        # The marks are removed after joining: emphasis and links run across lines.
        text = inline("\n".join(self._open)) if self._open else ""
        self._open = []
        marker, self._marker = self._marker, ""
        if marker:
            self._builder.item(text, depth=max(0, len(self._indents) - 1), marker=marker)
        else:
            self._builder.paragraph(text)

    def _fenced(self, lines: list[str], index: int, fence: re.Match[str]) -> int:
        self._flush()
        indent, mark = len(fence.group(1)), fence.group(2)
        body: list[str] = []
        for stop in range(index + 1, len(lines)):
            line = _QUOTE.sub("", lines[stop]) if lines[index].lstrip().startswith(">") else lines[stop]
            if line.strip().startswith(mark) and not line.strip().strip(mark[0]):
                self._builder.code("\n".join(body))
                return stop + 1
            body.append(line[indent:] if not line[:indent].strip() else line)
        self._builder.code("\n".join(body))
        return len(lines)

    def _is_indented_code(self, line: str) -> bool:
        deeper = 4 + (self._indents[-1] + 2 if self._indents else 0)
        return not self._open and not self._marker and len(line) - len(line.lstrip()) >= deeper

    def _indented(self, lines: list[str], index: int) -> int:
        indent = len(lines[index].expandtabs(4)) - len(lines[index].expandtabs(4).lstrip())
        body: list[str] = []
        while index < len(lines):
            line = lines[index].expandtabs(4)
            if line.strip() and len(line) - len(line.lstrip()) < min(indent, 4 + 4 * len(self._indents)):
                break
            body.append(line[indent:] if not line[:indent].strip() else line.strip())
            index += 1
        self._builder.code("\n".join(body))
        return index

    def _is_table(self, lines: list[str], index: int) -> bool:
        return (
            "|" in lines[index]
            and index + 1 < len(lines)
            and "-" in lines[index + 1]
            and "|" in lines[index + 1]
            and bool(_TABLE_RULE.match(lines[index + 1]))
        )

    def _table(self, lines: list[str], index: int) -> int:
        self._flush()
        rows = [_cells(lines[index])]
        index += 2
        while index < len(lines) and "|" in lines[index]:
            rows.append(_cells(lines[index]))
            index += 1
        self._builder.table(rows)
        return index


def _cells(line: str) -> list[str]:
    return list(_split_cells(line.strip().removeprefix("|").removesuffix("|")))


def _split_cells(line: str) -> Iterator[str]:
    for cell in re.split(r"(?<!\\)\|", line):
        yield inline(cell.replace("\\|", "|"))
