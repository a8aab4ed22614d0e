"""reStructuredText to blocks: sections, lists, code, tables and admonitions."""

import re
from functools import cache
from importlib import import_module
from typing import Any

from deep_research.text.document_builder import DocumentBuilder

_DIRECTIVE = re.compile(r"^ *\.\. +(?:\|[^|\n]+\|\s+)?([\w:+.-]{1,80})::", re.MULTILINE)
_ROLE = re.compile(r":([\w:+.-]{1,80}):`")
_TITLED_TARGET = re.compile(r"(.+?)(?<!\s)\s++<.*>", re.DOTALL)
_OPTION = re.compile(r":[\w-]+:(?:\s|$)")
_LONGEST_LINE, _LONGEST_MARKED = 1_000_000_000, 5_000
"""Docutils drops a text with a longer line. In a longer paragraph no marks are looked for: a mark that nothing closes has it
read the rest of the paragraph."""

_OF_DOCUTILS = frozenset("table list-table csv-table role default-role replace unicode".split())
_CODE = frozenset("code code-block sourcecode parsed-literal productionlist doctest testcode math".split())
_ADMONITIONS = frozenset("note warning tip important caution danger hint attention error seealso".split())
_TITLED = frozenset("admonition topic sidebar rubric".split())
_VERSIONS = {
    "versionadded": "New in", "versionchanged": "Changed in", "deprecated": "Deprecated since",
}  # fmt: skip
_OBJECTS = frozenset("function class method attribute data exception classmethod staticmethod decorator".split())
_DROPPED = frozenset(
    "module currentmodule sectionauthor moduleauthor toctree image index raw include contents sectnum meta"
    " highlight default-domain".split()
)

_UNSEEN = frozenset("comment target substitution_definition footnote_reference label colspec image".split())
_NO_WORDS = ("footnote_reference", "system_message", "label")
_AS_IT_STANDS = frozenset("literal_block doctest_block math_block".split())
_ITEMS = frozenset("list_item definition_list_item field option_list_item".split())


def write_rst(text: str, builder: DocumentBuilder) -> None:
    """Write the blocks of reStructuredText, read by docutils; include no file.

    Directives and roles of Sphinx become what they are about.
    """
    rst = import_module("docutils.parsers.rst")
    for name in {name.lower() for name in _DIRECTIVE.findall(text)} - _OF_DOCUTILS:
        rst.directives.register_directive(name, _Directive)
    for name in _ROLE.findall(text):
        rst.roles.register_local_role(name, _role)
    settings = import_module("docutils.frontend").get_default_settings(rst.Parser)
    settings.file_insertion_enabled = settings.raw_enabled = False
    settings.report_level = settings.halt_level = 6  # beyond the highest: what is broken is written as it stands
    settings.line_length_limit = _LONGEST_LINE
    settings.trim_footnote_reference_space = True
    document = import_module("docutils.utils").new_document("", settings)
    inliner = rst.states.Inliner()
    with_marks = inliner.parse
    inliner.parse = lambda said, *about: (
        with_marks(said, *about) if len(said) <= _LONGEST_MARKED else ([_nodes().Text(said)], [])
    )
    rst.Parser(inliner=inliner).parse(text, document)
    _write(document, builder, level=0, depth=0)


@cache
def _nodes() -> Any:
    return import_module("docutils.nodes")


def _role(_name: str, raw: str, text: str, *_: Any, **__: Any) -> tuple[list[Any], list[Any]]:
    """Return what a role of any name shows: its title or target (`~a.b` shows `b`)."""
    if titled := _TITLED_TARGET.fullmatch(text):
        shown = titled[1]
    else:
        shown = text.rpartition(".")[2] if text.startswith("~") else text.lstrip("!.")
    return [_nodes().inline(raw, shown)], []


class _Directive:
    required_arguments = optional_arguments = 0
    has_content, option_spec = True, None

    def __init__(self, name: str, *about: Any) -> None:
        _, _, self._content, self._line, self._offset, self._source, self._state, _ = about
        self._name = name.lower().rpartition(":")[2]

    def run(self) -> list[Any]:
        name, body, nodes = self._name, self._content, _nodes()
        argument = self._source.partition("::")[2].partition("\n")[0].strip()
        if argument:
            body = body[1:]
        while body and (not body[0].strip() or _OPTION.match(body[0])):
            body = body[1:]
        if name in _DROPPED:
            return []
        if name in _CODE:
            code = "\n".join(body) or argument
            return [nodes.literal_block(code, code)]
        inside = nodes.container()
        self._state.nested_parse(body, self._offset, inside, match_titles=True)
        if name in _OBJECTS:
            return [nodes.section("", nodes.title("", argument), *inside)]
        if name in _VERSIONS:
            version, _, said = argument.partition(" ")
            first = inside.pop(0).children if _begins_with_words(inside) else []
            lead = f"{_VERSIONS[name]} version {version}{': ' if said or first else '.'}"
            return [nodes.paragraph("", lead, *self._inline(f"{said} "), *first), *inside]
        if name in _TITLED:
            return [nodes.paragraph("", "", *self._inline(f"{argument}{':' * (name != 'rubric')}")), *inside]
        if name in _ADMONITIONS:
            named = nodes.paragraph("", f"{name.capitalize().replace('Seealso', 'See also')}:")
            return [named, nodes.paragraph("", "", *self._inline(argument)), *inside]
        return [inside]

    def _inline(self, text: str) -> list[Any]:
        return self._state.inline_text(text, self._line)[0]


def _write(node: Any, builder: DocumentBuilder, *, level: int, depth: int) -> None:
    """Write the blocks below a node; `level` is the section's, `depth` the list's."""
    for child in node.children:
        kind = child.tagname
        if kind in _UNSEEN:
            continue
        if kind == "section":
            _write(child, builder, level=level + 1, depth=depth)
        elif kind == "title":
            builder.heading(level, _words(child))
        elif kind in _AS_IT_STANDS:
            builder.code(child.astext())
        elif kind == "table":
            builder.table([[_words(entry) for entry in row] for row in child.findall(_nodes().row)])
        elif kind in _ITEMS:
            _write_item(child, builder, level=level, depth=depth)
        elif isinstance(child, _nodes().TextElement) and node.tagname != "system_message":
            builder.paragraph(_words(child))
        elif kind != "#text":
            deeper = kind in ("bullet_list", "enumerated_list") and node.tagname in _ITEMS
            _write(child, builder, level=level, depth=depth + deeper)


def _write_item(item: Any, builder: DocumentBuilder, *, level: int, depth: int) -> None:
    *named, body = [item] if item.tagname == "list_item" else item.children
    lead = ", ".join(_words(name).rstrip(":") for name in named)
    said = _words(body.pop(0)) if _begins_with_words(body) else ""
    marker, around = "-", item.parent
    if around.get("enumtype") == "arabic":
        marker = f"{around.get('start', 1) + around.index(item)}."
    builder.item(f"{lead}: {said}" if lead and said else lead or said, depth=depth, marker=marker)
    _write(body, builder, level=level, depth=depth)


def _begins_with_words(node: Any) -> bool:
    return len(node) > 0 and node[0].tagname == "paragraph"


def _words(node: Any) -> str:
    """Return a node's text without note marks; part paragraphs of a cell by a blank."""
    if node.tagname == "#text":
        return node.astext()
    between = "" if isinstance(node, _nodes().TextElement) else " "
    return between.join(_words(child) for child in node.children if child.tagname not in _NO_WORDS)
