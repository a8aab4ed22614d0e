"""Text in the markup of Texinfo (https://www.gnu.org/software/texinfo/manual/texinfo/)."""

import re

from claimcheck.text.cleaning import clean
from deep_research.data import Document
from deep_research.readers._decode import decode
from deep_research.text.document_builder import DocumentBuilder

_BLOCK = r"^@({})\b(.*?)^@end \1\b"
_UNSEEN = re.compile(
    _BLOCK.format("ignore|menu|direntry|r?macro|titlepage|(?:if)?(?:tex|html|xml|docbook)")
    + r"|^(?:\\input|@set\w*|@noindent|@\w*index)\b.*?$\n?|(?<!@)@c(?:omment)?\b.*?$", re.DOTALL | re.MULTILINE
)  # fmt: skip
_CODE = re.compile(_BLOCK.format("(?:small)?(?:example|lisp|display|format)|verbatim"), re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"@((?!tab\b)[a-z]++)(?!\{)[ \t]*+(.*)")
_LEVEL = re.compile(
    r"top|part|chapter|unnumbered|appendix|(?:chap|major)heading|(?:unnumbered|appendix)?((?:sub)*)(?:sec|section|heading)"
)
_EXPLAINS, _LISTS = ("table", "ftable", "vtable"), ("itemize", "enumerate", "multitable")
_COMMAND = re.compile(r"@([a-zA-Z]+)\{([^{}]*)\}")
_SIGNS = {"dots": "…", "result": "⇒", "copyright": "©", "minus": "−", "bullet": "•", "anchor": ""}


class TexinfoReader:
    """Reads Texinfo: headings, lists, definitions, tables and examples; menus and indexes are left out."""

    name = "texinfo"
    suffixes = (".texi", ".texinfo", ".txi")
    media_types = ("application/x-texinfo",)

    def read(self, data: bytes, *, name: str) -> Document:
        """Return the text. Raises Unreadable when `data` is no text."""
        text, builder = clean(decode(data)), DocumentBuilder()
        said = {what: value.strip() for what, value in re.findall(r"^@(set +\S+|settitle) +(.+)$", text, re.MULTILINE)}
        for place, piece in enumerate(_CODE.split(_UNSEEN.sub("", text))):
            plain = re.sub(r"@value\{([^{}]+)\}", lambda found: said.get(f"set {found[1]}", found[1]), piece)
            if place % 3 == 2:
                builder.code(_plain(re.sub(r"^@(?:end )?group$", "", plain, flags=re.MULTILINE)))
            elif place % 3 == 0:
                _write(plain, builder)
        return builder.document(title=_plain(said.get("settitle", "")), name=name, media_type=self.media_types[0])


def _write(text: str, builder: DocumentBuilder) -> None:
    lines, rows, lists, is_item = list[str](), list[list[str]](), [""], False
    for line in [*text.split("\n"), "@end"]:
        command, rest = found.groups() if (found := _LINE.fullmatch(line)) else ("", line)
        if not command and line.strip():
            lines.append(line)
            continue
        if lists[-1] == "multitable" and is_item:
            rows.append([_plain(cell) for cell in " ".join(lines).split("@tab")])
        else:
            (builder.item if is_item else builder.paragraph)(_plain("\n".join(lines)))
        if command == "end":
            builder.table(rows)
            rows, lists = [], lists[:-1] if rest.strip() == lists[-1] else lists
        elif level := _LEVEL.fullmatch(command):
            builder.heading(1 if level[1] is None else 2 + len(level[1]) // 3, _plain(rest))
        elif command in (*_EXPLAINS, *_LISTS):
            lists.append(command)
        is_item = command.startswith("def") or command in ("item", "itemx", "headitem")
        lines = [f"{rest}:" if command.startswith("def") or lists[-1] in _EXPLAINS else rest] if is_item else []


def _plain(text: str) -> str:
    """Return a text without commands; of a reference the name of its place."""
    text = text.replace("@@", "\0").replace("@{", "\1").replace("@}", "\2")
    while (plain := _COMMAND.sub(_shown, text)) != text:
        text = plain
    return re.sub(r"[{}]|@[*:/-]?", "", text).translate({0: "@", 1: "{", 2: "}"})


def _shown(command: re.Match[str]) -> str:
    name, said = command.groups()
    return said.partition(",")[0] if name in ("xref", "pxref", "ref", "inforef") else said or _SIGNS.get(name, name)
