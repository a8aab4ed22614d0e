"""reStructuredText to blocks: sections, lists, literal blocks, tables and admonitions; roles and markup removed."""

import re
import textwrap
from itertools import pairwise

from deep_research.text.document_builder import DocumentBuilder

_ADORNMENT = re.compile(r"^([!-/:-@\[-`{-~])\1+\s*$")
_ITEM = re.compile(r"^(\s*)([-*+•]|\(?(?:\d{1,3}|#|[a-zA-Z])[.)])\s++(.*)$")
_DIRECTIVE = re.compile(r"^\.\.\s+(?:\|[^|]+\|\s+)?([\w:+.-]+)::\s*+(.*)$")
_FIELD = re.compile(r"^:([^:`]{1,200}(?:`[^`]*`)?[^:`]{0,200}):\s++(.*)$")
_SIMPLE_TABLE = re.compile(r"^=+(?:\s+=+)+\s*$")
_GRID_TABLE = re.compile(r"^\+(?:[-=]+\+)+\s*$")

_LITERAL = re.compile(r"``(.{1,2000}?)``", re.DOTALL)
# Each is bounded, or begins where the one before it cannot: a long line is read once.
_ROLE = re.compile(r":[\w:+.-]{1,80}:`([^`]*)`", re.DOTALL)
_NAMED_LINK = re.compile(r"`([^`<]+)(?:<[^>`]*>)?`__?")
_INTERPRETED = re.compile(r"`([^`]+)`")
_WORD_LINK = re.compile(r"(?<![\w`])(\w[\w.-]{0,80}\w)__?(?!\w)")
_NOTE_MARK = re.compile(r"\s?\[(?:#\w*|\d+|\*)\]_")
_STRONG = re.compile(r"(?<!\*)(\*\*|\*)(?=\S)(.{1,400}?)(?<=\S)\1(?!\*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(\S)|\\\s")

_CODE = frozenset("code code-block sourcecode highlight parsed-literal productionlist doctest testcode math".split())
_ADMONITIONS = frozenset(
    "note warning tip important caution danger hint attention error admonition seealso topic".split()
)
_VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
_OBJECTS = frozenset("function class method attribute data exception classmethod staticmethod decorator".split())
_DROPPED = frozenset(
    (
        "module currentmodule sectionauthor moduleauthor toctree image index only raw include contents sectnum meta"
        " highlight default-domain"
    ).split()
)


def write_rst(text: str, builder: DocumentBuilder) -> None:
    """Write the blocks of reStructuredText (https://docutils.sourceforge.io/rst.html), as far as documents use it."""
    _Rst(builder).write(text.expandtabs(8).split("\n"), depth=0)


def inline(text: str) -> str:
    """Return the words of a line without roles, links and emphasis."""
    pieces: list[str] = []
    position = 0
    for match in _LITERAL.finditer(text):
        pieces += [_unmarked(text[position : match.start()]), match.group(1)]
        position = match.end()
    return "".join([*pieces, _unmarked(text[position:])])


def _unmarked(text: str) -> str:
    text = _ROLE.sub(lambda match: _shown(match.group(1)), text)
    text = _NAMED_LINK.sub(lambda match: match.group(1).rstrip(), text)
    text = _INTERPRETED.sub(r"\1", _NOTE_MARK.sub("", text))
    text = _WORD_LINK.sub(r"\1", _STRONG.sub(r"\2", text))
    return _ESCAPE.sub(lambda match: match.group(1) or "", text)


def _shown(target: str) -> str:
    """What a role shows: its own title, or its target (`~a.b` shows `b`)."""
    title, _, address = target.rpartition("<")
    if title.strip() and address.endswith(">") and ">" not in address[:-1]:
        return title.rstrip()
    return target.rpartition(".")[2] if target.startswith("~") else target.lstrip("!.")


class _Rst:
    """Goes through the lines; indented bodies (of directives, definitions) are written by going into them."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._styles: list[str] = []  # adornments in order of first use: their place is the level

    def write(self, lines: list[str], *, depth: int) -> None:
        index = 0
        while index < len(lines):
            index = self._block(lines, index, depth)

    def _block(self, lines: list[str], index: int, depth: int) -> int:
        """Deal with the block that begins at `index`; return the index after it."""
        line = lines[index]
        if not line.strip():
            return index + 1
        if (after := self._heading(lines, index)) or (after := self._table(lines, index)):
            return after
        if line.startswith("..") and (line == ".." or line[2:3].isspace()):
            return self._explicit(lines, index, depth)
        if line.startswith(" "):
            body, after = _body(lines, index)
            self.write(body, depth=depth)
            return after
        if _ITEM.match(line):
            return self._item(lines, index, depth)
        return self._paragraph(lines, index, depth)

    def _heading(self, lines: list[str], index: int) -> int:
        """The index after a section title at `index`, or 0."""
        rest = [*lines[index : index + 3], "", ""]
        if _ADORNMENT.match(rest[0]) and rest[1].strip() and _ADORNMENT.match(rest[2]) and rest[0][0] == rest[2][0]:
            style, title, after = rest[0][0] * 2, rest[1].strip(), index + 3
        elif (
            not rest[0].startswith(" ")
            and _ADORNMENT.match(rest[1])
            and not _ADORNMENT.match(rest[0])
            and len(rest[1].strip()) >= min(3, len(rest[0].strip()))
        ):
            style, title, after = rest[1][0], rest[0].strip(), index + 2
        elif _ADORNMENT.match(rest[0]) and len(rest[0].strip()) >= 4 and not rest[1].strip():
            return index + 1  # a transition
        else:
            return 0
        if style not in self._styles:
            self._styles.append(style)
        self._builder.heading(self._styles.index(style) + 1, inline(title))
        return after

    def _table(self, lines: list[str], index: int) -> int:
        """The index after a table at `index`, or 0."""
        if _SIMPLE_TABLE.match(lines[index]):
            return self._simple_table(lines, index)
        if not _GRID_TABLE.match(lines[index]):
            return 0
        rows: list[list[str]] = []
        fresh = True
        while index < len(lines) and lines[index].lstrip()[:1] in ("+", "|"):
            if _GRID_TABLE.match(lines[index]):
                fresh = True
            else:
                _merge(rows, [cell.strip() for cell in lines[index].strip().strip("|").split("|")], fresh)
                fresh = False
            index += 1
        self._builder.table([[inline(cell) for cell in row] for row in rows])
        return index

    def _simple_table(self, lines: list[str], index: int) -> int:
        columns = [match.start() for match in re.finditer(r"=+", lines[index])] + [None]
        rows: list[list[str]] = []
        index += 1
        while index < len(lines):
            line = lines[index]
            if _SIMPLE_TABLE.match(line) and (index + 1 >= len(lines) or not lines[index + 1].strip()):
                index += 1
                break
            if line.strip() and not re.fullmatch(r"[=\-\s]+", line):
                cells = [line[a:b].strip() for a, b in pairwise(columns)]
                _merge(rows, cells, bool(cells[0]) or not rows)
            index += 1
        self._builder.table([[inline(cell) for cell in row] for row in rows])
        return index

    def _explicit(self, lines: list[str], index: int, depth: int) -> int:
        """A directive, or a comment, target or footnote."""
        body, after = _body(lines, index + 1)
        if match := _DIRECTIVE.match(lines[index]):
            self._directive(match.group(1).rpartition(":")[2], match.group(2), body, depth)
        elif note := re.match(r"^\.\.\s+\[[^\]]+\]\s+(.*)", lines[index]):
            self._builder.paragraph(inline("\n".join([note.group(1), *body])))
        return after

    def _directive(self, name: str, argument: str, body: list[str], depth: int) -> None:
        while body and (not body[0].strip() or re.match(r":[\w-]+:(?:\s|$)", body[0])):
            body = body[1:]
        if name in _CODE:
            self._builder.code("\n".join(body) or ("" if name == "highlight" else argument))
        elif name in _VERSIONS:
            said = " ".join(filter(None, [argument.partition(" ")[2], *(line.strip() for line in body)]))
            version = f"{_VERSIONS[name]} {argument.partition(' ')[0]}"
            self._builder.paragraph(f"{version}: {inline(said)}" if said else f"{version}.")
        elif name in _OBJECTS:
            self._builder.heading(min(6, len(self._styles) + 1 + depth), argument)
            self.write(body, depth=depth + 1)
        elif name not in _DROPPED:
            if name in _ADMONITIONS:
                self._builder.paragraph(f"{inline(argument) or name.capitalize().replace('Seealso', 'See also')}:")
            elif name == "rubric":
                self._builder.paragraph(inline(argument))
            self.write(body, depth=depth)

    def _item(self, lines: list[str], index: int, depth: int) -> int:
        match = _ITEM.match(lines[index])
        assert match
        marker = match.group(2).strip("().")
        body, after = _body(lines, index + 1)
        split = next((i for i, line in enumerate(body) if not line.strip() or _ITEM.match(line)), len(body))
        text = "\n".join([match.group(3), *body[:split]])
        self._builder.item(
            inline(text).removesuffix(":") + ":" * text.endswith("::"),
            depth=depth,
            marker=f"{marker}." if marker.isdecimal() else "-",
        )
        if text.endswith("::"):
            self._builder.code("\n".join(body[split:]))
        else:
            self.write(body[split:], depth=depth + 1)
        return after

    def _paragraph(self, lines: list[str], index: int, depth: int) -> int:
        stop = index
        while stop < len(lines) and lines[stop].strip() and not lines[stop].startswith(" "):
            stop += 1
        text = "\n".join(lines[index:stop])
        body, after = _body(lines, stop)
        if field := _FIELD.match(text):
            self._builder.item(inline("\n".join([f"{field.group(1)}: {field.group(2)}", *body])), depth=depth)
            return after
        if stop < len(lines) and lines[stop].startswith(" ") and stop == index + 1:  # a term and its definition
            first = next((i for i, line in enumerate(body) if not line.strip()), len(body))
            self._builder.item(inline("\n".join([f"{text.rstrip(':')}: {body[0]}", *body[1:first]])), depth=depth)
            self.write(body[first:], depth=depth)
            return after
        if text.endswith("::"):
            self._builder.paragraph(inline(text[:-1]) if text != "::" and text[-3:-2].strip() else inline(text[:-2]))
            self._builder.code("\n".join(body))
            return after
        self._builder.paragraph(inline(text))
        return stop


def _body(lines: list[str], index: int) -> tuple[list[str], int]:
    """The indented lines from `index` on without their common indent, and the index after them."""
    stop = index
    while stop < len(lines) and (not lines[stop].strip() or lines[stop].startswith(" ")):
        stop += 1
    body = textwrap.dedent("\n".join(lines[index:stop])).split("\n")
    while body and not body[-1].strip():
        body.pop()
    return body, stop


def _merge(rows: list[list[str]], cells: list[str], fresh: bool) -> None:
    """Begin a row, or go on with the cells of the last one."""
    if fresh or not rows or len(cells) != len(rows[-1]):
        rows.append(cells)
    else:
        rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
