"""Manual pages in roff: the macros of man(7), and the common ones of mdoc(7)."""

import re
from collections.abc import Iterator, Sequence

from claimcheck.text.cleaning import clean
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._decode import decode
from deep_research.text.dates import find_date
from deep_research.text.document_builder import DocumentBuilder

_MACRO = re.compile(r"[.'][ \t]*(\S*)[ \t]*(.*)")
_LEVELS = {"SH": 2, "Sh": 2, "SS": 3, "Ss": 3}
_BREAKS = ("PP", "P", "LP", "HP", "Pp", "sp", "Sp", "br", "RS", "RE", "El")
_CODE, _CODE_ENDS = ("nf", "EX", "Vb", "Bd", "TS"), ("fi", "EE", "Ve", "Ed", "TE")
_SAID, _JOINED = ("B", "I", "SM", "SB", "UR", "MT", "URL", "SY", "OP"), ("BR", "BI", "RB", "RI", "IR", "IB")
_LONGEST = 90  # characters of a term
_MARKER = re.compile(r"(?:[•*o·—-]|\(?(\d{1,3})[.)]?)$|(?:•|(\d{1,3})\.)\s+")
_COMMENT = re.compile(r"(?<!\\)\\[\"#].*")
_DEFINITION = re.compile(r"[.'][ \t]*(?:de1?|am|ig)\b")
_DEFINED = re.compile(r"\.[ \t]*\.")
_CONDITION = re.compile(r"[.'][ \t]*(?:el|(?:if|ie)[ \t]+(n\b|!t\b)?)[ \t]*(.*)")
_ESCAPE = re.compile(
    r"\\(?:\*?(?:\[([^\]\n]{0,80}+)\]|\((..))|[fFgkmMnsVY](?:\[[^\]\n]{0,80}+\]|\(..|[+-]?[^\s\\]?)"
    r"|[hvwlLoNXAbDZxRSHBC]'[^'\n]{0,80}+'|\*.|(.?))"
)
_WORD = re.compile(r'"((?:[^"]|"")*+)"?|((?:\\.|[^\s\\])++|\\)')
_SIGNS: dict[str, str] = dict(zip(
    "bu em en aq dq lq rq oq cq Aq L\" R\" -- co rg tm ha ti rs ga mu +- -> <- >= <= != de ul sl at sh lB rB lC rC ba hy".split(),
    "• — – ' \" “ ” ‘ ’ ' \" \" — © ® ™ ^ ~ \\ ` × ± → ← ≥ ≤ ≠ ° _ / @ # [ ] { } | -".split(), strict=True,
))  # fmt: skip
_KEPT: dict[str, str] = dict(zip("- ~0e\\'`.", "-   \\\\'`.", strict=True))
_AROUND: dict[str, str] = dict(
    zip("Op Oo Ql Sq Dq Qq Pq Bq Aq".split(), "[] [] ‘’ ‘’ “” “” () [] <>".split(), strict=True)
)


class ManReader:
    """A reader of manual pages, without roff's definitions and conditions."""

    name = "man"
    suffixes = (".man", ".mdoc", ".roff", ".troff")
    media_types = ("text/troff",)

    def read(self, data: bytes, *, name: str) -> Document:
        page = _Page()
        for line in _shown_lines(clean(decode(data))):
            page.add(line)
        page.turn(code=False)
        if page.leads_on and not len(page.builder):
            raise Unreadable("nothing but a link to another manual page")
        media, named = self.media_types[0], page.title or name.rsplit(".", 1)[0]
        return page.builder.document(title=named, media_type=media, published=find_date(page.date))


class _Page:
    def __init__(self) -> None:
        self.builder = DocumentBuilder()
        self.title = self.date = self._name = self._next = ""
        self.leads_on = self._is_mdoc = self._is_code = False
        self._term: str | None = None
        self._lines: list[str] = []

    def add(self, line: str) -> None:
        found = _MACRO.match(line)
        macro, words = (found[1], _words_of(found[2])) if found else ("", [])
        if not found:
            self._say(_plain(line))
        elif macro in ("TH", "Dt") and words:
            self.title = f"{words[0].lower() if words[0].isupper() else words[0]}({''.join(words[1:2])})"
            self.date = self.date or "".join(words[2:3])
            self.builder.heading(1, self.title)
        elif macro in ("Dd", "so"):
            self._is_mdoc, self.leads_on, self.date = macro == "Dd", macro == "so", " ".join(words)
        elif macro in _LEVELS or macro in ("TP", "IP", "It"):
            self._begin(macro, words)
        elif macro in _CODE or macro in _CODE_ENDS:
            self.turn(code=macro in _CODE and words[:1] != ["-ragged"])
        elif macro == "RS" and self._term is None and 0 < len(" ".join(self._lines)) < _LONGEST:
            self._term, self._lines = " ".join(self._lines), []  # a definition as DocBook writes it
        elif macro in _BREAKS:
            self._say("")
        elif words and macro in (*_SAID, *_JOINED):
            self._say(("" if macro in _JOINED else " ").join(words))
        elif self._is_mdoc and macro not in ("Os", "Bl", "Bk", "Ek", "Sm", "Rs", "Re"):
            self._name = self._name or "".join(words[:1] if macro == "Nm" else ())
            self._say(_spoken([macro, *words], self._name))

    def _begin(self, macro: str, words: Sequence[str]) -> None:
        is_open = bool(self._term and len(self._term) < _LONGEST and not self._lines and macro not in _LEVELS)
        before = f"{self._term}, " if is_open else ""  # a second name of one thing
        if not is_open:
            self.turn(code=False)
        if macro == "It":
            self._term = before + _spoken(["", *words], self._name)
        elif macro == "IP" and (marker := _MARKER.match("".join(words[:1]))):
            self._lines = [f"{marker[1]}." if marker[1] else "•"]
        elif macro == "IP":
            self._term = before + "".join(words[:1])
        elif macro in _LEVELS and words:
            self.builder.heading(_LEVELS[macro], " ".join(words))
        else:
            self._next, self._term = macro, before if macro == "TP" else None

    def _say(self, text: str) -> None:
        if self._next and text.strip():
            if self._next in _LEVELS:
                self.builder.heading(_LEVELS[self._next], text)
            else:
                self._term = (self._term or "") + text
            self._next = ""
        elif text.strip() or self._is_code:
            self._lines.append(text)
        elif self._lines:
            self.turn(code=False)

    def turn(self, *, code: bool) -> None:
        """Write what is open; `code` says what follows."""
        text = "\n".join(self._lines)
        if self._is_code:
            self.builder.code(text)
        elif self._term is not None:
            self.builder.item(f"{self._term}: {text}" if self._term and text else self._term or text)
        elif marker := _MARKER.match(text):
            self.builder.item(text[marker.end() :], marker=f"{marker[2]}." if marker[2] else "-")
        else:
            self.builder.paragraph(text)
        self._lines, self._term, self._is_code, self._next = [], None, code, ""


def _shown_lines(text: str) -> Iterator[str]:
    """Yield the lines shown on a terminal, each joined with its continuations."""
    text = re.sub(r"(?<!\\)\\\n", "", re.sub(r"\\\{\\?[ \t]*\n", r"\\{\n", text))
    depth, is_defined = 0, False
    for line in _COMMENT.sub("", text).split("\n"):
        if not depth and (is_defined or _DEFINITION.match(line)):
            is_defined = not _DEFINED.match(line)
            continue
        found = None if depth else _CONDITION.match(line)
        if depth or (found and not found[1]):
            depth = max(0, depth + line.count("\\{") - line.count("\\}"))
        else:
            yield (found[2] if found else line).replace("\\{", "").replace("\\}", "")


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda e: _SIGNS.get(e[1] or e[2] or "", "") or _KEPT.get(e[3] or "", ""), text)


def _words_of(text: str) -> list[str]:
    """Return the words behind a macro; what stands in quotation marks is one."""
    return [_plain(quoted or word) for quoted, word in _WORD.findall(text)]


def _spoken(words: Sequence[str], name: str) -> str:
    """Return a line of mdoc as shown, from its macro names and their arguments."""
    said, ends, macro = list[str](), list[str](), ""
    for place, word in enumerate(words):
        if word == "Nd" and not place:
            said.append("-")
        elif around := _AROUND.get(word):
            said.append(f"{around[0]}\0")
            ends.append(f"\0{around[1]}")
        elif word in ("Oc", "Ns"):
            said.append(ends.pop() if ends and word == "Oc" else "\0]" if word == "Oc" else "\0")
            macro = ""
        elif place == 0 or (len(word) == 2 and word.istitle()):
            macro, is_bare = word, place + 1 == len(words) or words[place + 1] in ".,;:)"
            said.append({"Fl": "-\0", "Nm": is_bare * name, "Ar": is_bare * "file ..."}.get(word, ""))
        elif macro == "Xr" and word[:1].isdigit():
            said.append(f"\0({word})")
        else:
            said.append(f"\0{word}" if word in ".,;:)" else f"-{word}" if macro == "Fl" != words[place - 1] else word)
    return re.sub(r" ?\0 ?", "", " ".join(filter(None, [*said, *reversed(ends)])))
