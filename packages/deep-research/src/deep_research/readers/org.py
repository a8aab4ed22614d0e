"""Text in the markup of Org mode."""

import re

from claimcheck.text.cleaning import clean
from deep_research.data import Document
from deep_research.readers._decode import decode
from deep_research.text.dates import find_date
from deep_research.text.document_builder import DocumentBuilder

_FIELD = re.compile(r"^#\+(title|author|date):\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(r"^(\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING)\s+)?(?:\[#\w\]\s+)?(.*?)(?:\s+:[\w@:]+:)?\s*$")
_ITEM = re.compile(r"^(\s*)(?:[-+]|(\d+)[.)])\s++(?:\[[ X-]\]\s++)?(.*)$")
_CODE = re.compile(
    r"^[ \t]*+#\+begin_(?:src|example).*\n((?s:.*?))(?:^[ \t]*+#\+end_.*|\Z)", re.IGNORECASE | re.MULTILINE
)
_LINK = re.compile(r"\[\[[^\[\]\n]*\]\[([^\[\]]*)\]\]|\[\[([^\[\]\n]*)\]\]")
_MARK = re.compile(r"(?<![\w*/_=~+])([*/_=~+])(?=\S)([^\n]{0,200}?\S)\1(?![\w*/_=~+])")
_UNSEEN = re.compile(r"^\s*(?:#(?:\s|\+|$)|:[\w+-]+:)")


class OrgReader:
    """A reader of Org: headings, lists, tables, blocks; no drawers or comments."""

    name = "org"
    suffixes = (".org",)
    media_types = ("text/x-org",)

    def read(self, data: bytes, *, name: str) -> Document:
        text, builder = clean(decode(data)), DocumentBuilder()
        said = {field.lower(): value for field, value in _FIELD.findall(text)}
        _write(text, builder)
        return builder.document(
            title=said.get("title") or name.rsplit(".", 1)[0],
            media_type=self.media_types[0],
            published=find_date(said.get("date", "").strip("<>[]")[:10]),
            authors=[said.get("author", "")],
        )


def _write(text: str, builder: DocumentBuilder) -> None:
    blocks = _Blocks(builder)
    for place, piece in enumerate(_CODE.split(text)):
        if place % 2:
            builder.code(piece)
            continue
        for line in piece.split("\n"):
            blocks.add(line)
        blocks.end()


class _Blocks:
    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._lines: list[str] = []
        self._rows: list[list[str]] = []
        self._item: tuple[int, str] | None = None

    def add(self, line: str) -> None:
        is_row = line.lstrip().startswith("|")
        found = _ITEM.match(line)
        heading = _HEADING.match(line)
        if heading or found or not line.strip() or is_row != bool(self._rows):
            self.end()
        if heading:
            self._builder.heading(len(heading[1]), _plain(heading[2]))
        elif found:
            self._item = (len(found[1]) // 2, f"{found[2]}." if found[2] else "-")
            self._lines.append(found[3])
        elif is_row and not line.lstrip().startswith("|-"):
            self._rows.append([_plain(cell) for cell in line.strip().strip("|").split("|")])
        elif not is_row and not _UNSEEN.match(line):
            self._lines.append(line)

    def end(self) -> None:
        text = _plain("\n".join(self._lines))
        if self._item:
            self._builder.item(text, depth=self._item[0], marker=self._item[1])
        else:
            self._builder.paragraph(text)
        self._builder.table(self._rows)
        self._lines, self._rows, self._item = [], [], None


def _plain(text: str) -> str:
    return _MARK.sub(r"\2", _LINK.sub(lambda link: link[1] or link[2], text))
