"""Text in the markup of LaTeX."""

import re
from collections.abc import Iterator

from claimcheck.text.cleaning import clean, fold
from claimcheck.text.normal_forms import normalized
from deep_research.data import Document
from deep_research.readers._decode import decode
from deep_research.text.dates import find_date
from deep_research.text.document_builder import DocumentBuilder

_ARGUMENT = r"\{((?:[^{}]++|\{(?:[^{}]++|\{[^{}]*+\})*+\})*+)\}"
_COMMENT = re.compile(r"(?<!\\)%.*\n?")
_CODE = re.compile(r"\\begin\{(verbatim|lstlisting|minted)\*?\}(?:\[[^\]]*\])?(.*?)\\end\{\1\*?\}", re.DOTALL)
_TABLE = re.compile(rf"\\begin\{{(tabularx?|longtable|tabulary)\*?\}}(?:{_ARGUMENT})+(.*?)\\end\{{\1\*?\}}", re.DOTALL)
_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_STRUCTURE = re.compile(
    rf"\\({'|'.join(_LEVELS)})\*?(?:\[[^\]]*\])?{_ARGUMENT}|\\(?:begin|end)\{{(\w+)\*?\}}(?:\[[^\]]*\])?"
    r"|\\(item)\b\s*(?:\[([^\]]*)\])?|\n\s*\n|\\(?:maketitle|tableofcontents|appendix|centering)\b"
)
_MATH = re.compile(r"(\$\$?[^$]+\$\$?|\\\(.*?\\\)|\\\[.*?\\\])", re.DOTALL)
_DROPPED = re.compile(
    r"~?\\(?:cite\w*|label|ref|eqref|pageref|autoref|includegraphics|bibliography\w*|vspace|hspace|footnotemark|input|include)"
    r"\*?(?:\[[^\]]*\])*\{[^{}]*\}|\\(?:hline|toprule|midrule|bottomrule|small|noindent|newpage|clearpage)\b"
)
_COMMAND = re.compile(rf"\\[a-zA-Z]+\*?(?:\[[^\]]*\])?{_ARGUMENT}")
_ACCENT = re.compile(r"\\([\"'`^~=.]|c(?=\s|\{))\s?\{?(\\?[a-zA-Z])\}?")
_ACCENTS = dict(zip("\"'`^~c=.", "\u0308\u0301\u0300\u0302\u0303\u0327\u0304\u0307", strict=True))
_ESCAPES = (
    (r"\,", " "), (r"\ ", " "), (r"\;", " "), ("~", " "), (r"\%", "%"), (r"\&", "&"), (r"\$", "$"), (r"\#", "#"),
    (r"\_", "_"), (r"\{", "{"), (r"\}", "}"), ("``", "“"), ("''", "”"), ("---", "—"), ("--", "–"), (r"\\", "\n"),
)  # fmt: skip


class TexReader:
    """A reader of a LaTeX document's body; formulas stay, commands leave their text."""

    name = "tex"
    suffixes = (".tex", ".latex")
    media_types = ("application/x-tex", "text/x-tex")

    def read(self, data: bytes, *, name: str) -> Document:
        text, builder = clean(decode(data)), DocumentBuilder()
        said = {
            field: fold(_plain(match[1]))
            for field in ("title", "author", "date")
            if (match := re.search(rf"\\{field}(?:\[[^\]]*\])?{_ARGUMENT}", text))
        }
        body = text.partition("\\begin{document}")[2].partition("\\end{document}")[0] or text
        authors = re.split(r"(?:(?<!\s)\s++)?\\and\s*", said.get("author", ""))
        builder.paragraph(", ".join(authors))
        for place, piece in enumerate(_CODE.split(body)):
            if place % 3 == 2:
                builder.code(piece)
            elif place % 3 == 0:
                _write(_COMMENT.sub("", piece), builder)
        return builder.document(
            title=said.get("title") or name.rsplit(".", 1)[0],
            media_type=self.media_types[0],
            published=find_date(said.get("date", "")),
            authors=authors,
        )


def _write(text: str, builder: DocumentBuilder) -> None:
    place, open_item, depth = 0, False, -1

    def flush(until: int) -> None:
        said = _plain(text[place:until])
        builder.item(said, depth=max(0, depth)) if open_item else builder.paragraph(said)

    for found in _blocks(text):
        flush(found.start())
        open_item = False
        place = found.end()
        if found.re is _TABLE:
            builder.table([[_plain(cell) for cell in re.split(r"(?<!\\)&", row)] for row in found[3].split(r"\\")])
        elif found[1]:
            builder.heading(_LEVELS[found[1]], _plain(found[2]))
        elif found[3] in ("itemize", "enumerate", "description"):
            depth += 1 if found[0].startswith("\\begin") else -1
        elif found[4]:
            open_item = True
            place = found.start(5) - 1 if found[5] else place
    flush(len(text))


def _blocks(text: str) -> Iterator[re.Match[str]]:
    place = 0
    for table in [*_TABLE.finditer(text), None]:
        yield from _STRUCTURE.finditer(text, place, table.start() if table else len(text))
        if table:
            yield table
            place = table.end()


def _plain(text: str) -> str:
    pieces = _MATH.split(text)
    for number in range(0, len(pieces), 2):
        piece = _ACCENT.sub(lambda sign: sign[2].lstrip("\\") + _ACCENTS[sign[1]], _DROPPED.sub("", pieces[number]))
        while (plain := _COMMAND.sub(r"\1", piece)) != piece:
            piece = plain
        for escape, sign in _ESCAPES:
            piece = piece.replace(escape, sign)
        pieces[number] = normalized("NFC", re.sub(r"(?<!\\)[{}]", "", piece))
    return "".join(pieces)
