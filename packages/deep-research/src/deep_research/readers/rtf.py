"""Rich Text Format (RTF 1.9) to paragraphs, headings, list items and tables."""

import re
from collections.abc import Iterator

from claimcheck.text.cleaning import fold
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.text.document_builder import DocumentBuilder

_TOKEN = re.compile(r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|[^\\{}\r\n]+")
_FONT = re.compile(r"\\f(\d{1,5})\b[^;{}]*?\\fcharset(\d{1,3})")
_SKIPPED = frozenset(
    "fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf fldinst"
    " listtext pntext themedata datastore xmlnstbl listtable listoverridetable rsidtbl generator nonshppict bkmkstart"
    " bkmkend annotation atnid atnauthor".split()
)
_SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ",
    "~": "\xa0", "_": "-", "-": "", "\n": "\n", "\\": "\\", "{": "{", "}": "}",
}  # fmt: skip
_CHARSETS = {
    128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255",
    178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
_HEADING = re.compile(
    r"\{\\s(\d{1,5})\b(?:[^{};]|\{[^{}]*\}){0,500}?(?:heading|Überschrift|Titre) (\d);", re.IGNORECASE
)


class RtfReader:
    """A reader of RTF as shown, without headers, footers, remarks and pictures."""

    name = "rtf"
    suffixes = (".rtf",)
    media_types = ("application/rtf", "text/rtf")

    def read(self, data: bytes, *, name: str) -> Document:
        text = data.decode("latin-1")
        if not text.lstrip().startswith("{\\rtf"):
            raise Unreadable("no RTF file")
        writer = _Writer(text)
        for word, told in _events(text):
            writer.take(word, told)
        writer.take("end", "")
        found = (re.search(rf"\{{\\{field} ([^\\{{}}]*)\}}", text) for field in ("title", "author"))
        title, author = (fold(said[1]) if said else "" for said in found)
        return writer.builder.document(title=title, name=name, media_type=self.media_types[0], authors=[author])


def _events(text: str) -> Iterator[tuple[str, str]]:
    """Yield the shown text as ("text", signs), and control words with their numbers."""
    own = re.search(r"\\ansicpg(\d{3,5})", text[:2000])
    fonts = {font: _CHARSETS.get(int(charset), "") for font, charset in _FONT.findall(text)}
    # What holds until a brace closes: whether it is shown (None: hidden or deleted text), how many signs stand for a
    # `\u`, the code page.
    group, outer = (True, 1, f"cp{own[1]}" if own else "cp1252"), list[tuple[bool | None, int, str]]()
    left, raw = 0, b""
    for token in _TOKEN.finditer(text):
        word, number, code, sign, brace = token.groups()
        is_shown, skip, codec = group
        if code:
            raw += bytes.fromhex(code) if is_shown and not left else b""
            left = max(0, left - 1)
            continue
        if raw:
            yield "text", _decoded(raw, codec)
            raw = b""
        if brace == "{":
            outer.append(group)
        elif brace:
            group = outer.pop() if outer else group
        elif sign == "*" or word in _SKIPPED:
            yield word or "", ""
            group = (False, skip, codec)
        elif word in ("v", "deleted") and is_shown is not False:
            group = (number == "0" or None, skip, codec)
        elif word == "uc":
            group = (is_shown, int(number or 1), codec)
        elif word == "f":
            group = (is_shown, skip, fonts.get(number) or codec)
        elif is_shown:
            yield (word, number or "") if word else ("text", _SIGNS.get(sign, token[0][left:].strip("\r\n")))
            left = skip if word == "u" else 0
    yield "text", _decoded(raw, "cp1252")


def _decoded(raw: bytes, codec: str) -> str:
    try:
        return raw.decode(codec, "replace")
    except LookupError:
        return raw.decode("cp1252", "replace")


class _Writer:
    def __init__(self, text: str) -> None:
        self._styles = {style: int(level) for style, level in _HEADING.findall(text)}
        self.builder = DocumentBuilder()
        self._said: list[str] = []
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._level, self._is_item, self._in_table = 0, False, False

    def take(self, word: str, told: str) -> None:
        if word == "text":
            self._said.append(told)
        elif word == "u" and told:
            self._said.append(chr(int(told) % 65_536))
        elif word in _SIGNS:
            self._said.append(_SIGNS[word])
        elif word == "pard":
            self._level, self._is_item, self._in_table = 0, False, False
        elif word in ("listtext", "pntext"):
            self._is_item = True
        elif word == "intbl":
            self._in_table = True
        elif word == "outlinelevel" and told.isdecimal():
            self._level = int(told) + 1 if int(told) < 9 else 0
        elif word == "s":
            self._level = self._styles.get(told, self._level)
        else:
            self._end(word)

    def _end(self, word: str) -> None:
        if word in ("cell", "nestcell"):
            self._cells.append(self._text())
        elif word in ("row", "nestrow"):
            self._rows.append(self._cells)
            self._cells = []
        elif word in ("par", "sect", "page") and self._in_table:
            self._said.append("\n")
        elif word in ("par", "sect", "page", "end"):
            self._end_paragraph()

    def _end_paragraph(self) -> None:
        self.builder.table(self._rows)
        self._rows = []
        text = self._text()
        if self._level:
            self.builder.heading(self._level, text)
        elif self._is_item:
            self.builder.item(text)
        else:
            for line in text.split("\n"):
                self.builder.paragraph(line)

    def _text(self) -> str:
        # What lies beyond the first 65,536 signs is told as two halves.
        text = "".join(self._said).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        self._said.clear()
        return text
