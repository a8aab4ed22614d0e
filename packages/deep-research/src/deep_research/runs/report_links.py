"""The links, raised numbers and footnotes of a report file, written into its text: readers of documents leave them out.

What comes back is the same format, with citations in the styles that `verification/foreign.py` finds: `[words](address)`,
`<sup>1</sup>`, `[^1]`. Each pattern looks at a bounded stretch, so that a hostile file takes no longer than a long one.
"""

import html
import io
import re
import zipfile
from collections.abc import Callable
from importlib import import_module
from typing import Any

from deep_research.data import write_link
from deep_research.readers.compressed import open_zip

_HREF = re.compile(r"\bhref\s?=\s?[\"'](https?://[^\"'<>\s]{1,2000})[\"']", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,4000}>")
_NUMBERS = re.compile(r"\[?\d{1,3}(?:\s?[,;-]\s?\d{1,3}){0,20}\]?")
_MOST_BYTES = 20_000_000
"""Bytes of a part of a DOCX file in which links are looked for."""
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def mark_html_links(data: bytes) -> bytes:
    """Return an HTML page whose links to the web and raised numbers stand in its text."""
    text = data.decode("latin-1")  # one character a byte, whatever the encoding is
    text = _each(text, "a", _as_link)
    return _each(text, "sup", _as_number).encode("latin-1")


def _each(text: str, tag: str, change: Callable[[str, str], str]) -> str:
    """Return markup in which `change` has written each element of `tag` anew, from its opening tag and its inside."""
    pieces = re.split(rf"</{tag}\s?>", text, flags=re.IGNORECASE)
    opening = re.compile(rf"<{tag}(?=[\s>])[^<>]*>", re.IGNORECASE)
    for number, piece in enumerate(pieces[:-1]):
        last = max(opening.finditer(piece), key=lambda found: found.start(), default=None)
        pieces[number] = (
            f"{piece}</{tag}>" if last is None else piece[: last.start()] + change(last[0], piece[last.end() :])
        )
    return "".join(pieces)


def _as_link(opening: str, inside: str) -> str:
    found = _HREF.search(opening)
    if found is None:
        return f"{opening}{inside}</a>"
    shown = " ".join(_TAG.sub("", inside).split())
    return write_link(shown, html.escape(html.unescape(found[1])))


def _as_number(_opening: str, inside: str) -> str:
    """Return a raised number as the text `<sup>1</sup>`, anything else raised without its marks."""
    shown = _TAG.sub("", inside).strip()
    return f"&lt;sup&gt;{shown}&lt;/sup&gt;" if _NUMBERS.fullmatch(shown) else inside


def mark_docx_links(data: bytes) -> bytes:
    """Return a DOCX file whose links and footnotes stand in the text of its body. Raises Unreadable."""
    etree = import_module("lxml.etree")  # heavy, without types, and only these files need it
    with open_zip(data, what="DOCX") as container:
        try:
            root, notes = _with_links(container, "document"), _with_links(container, "footnotes")
            body = None if root is None else root.find(f"{_W}body")
            if body is None:
                return data
            for mark in root.iter(f"{_W}footnoteReference"):
                mark.tag, mark.text = f"{_W}t", f"[^{mark.get(f'{_W}id', '')}]"
            end = len(body) - (len(body) > 0 and body[-1].tag == f"{_W}sectPr")
            told = () if notes is None else notes.iter(f"{_W}footnote")
            for place, note in enumerate((one for one in told if f"{_W}type" not in one.attrib), end):
                body.insert(place, paragraph := etree.Element(f"{_W}p"))
                _become_run(etree.SubElement(paragraph, "r"), f"[^{note.get(f'{_W}id', '')}]: {_words(note)}")
            made = io.BytesIO()
            with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
                for part in container.infolist():
                    is_body = part.filename == "word/document.xml"
                    out.writestr(part.filename, etree.tostring(root) if is_body else container.read(part))
            return made.getvalue()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, etree.XMLSyntaxError):
            return data  # its reader says what is wrong with it


def _with_links(container: zipfile.ZipFile, name: str) -> Any:
    """Return a part of a DOCX file in which each link to the web is text; None where it is missing or too large."""
    etree = import_module("lxml.etree")
    sizes = {part.filename: part.file_size for part in container.infolist()}

    def parsed(part: str) -> Any:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        is_there = sizes.get(part, _MOST_BYTES + 1) <= _MOST_BYTES
        return etree.fromstring(container.read(part), parser) if is_there else None

    root, relations = parsed(f"word/{name}.xml"), parsed(f"word/_rels/{name}.xml.rels")
    if root is None or relations is None:
        return root
    targets = {row.get("Id"): row.get("Target", "") for row in relations.iter("{*}Relationship")}
    for link in list(root.iter(f"{_W}hyperlink")):
        address = targets.get(link.get(_LINK), "")
        if address.startswith(("http:", "https:")):
            _become_run(link, write_link(_words(link), address))
    return root


def _words(element: Any) -> str:
    return "".join(part.text or "" for part in element.iter(f"{_W}t")).strip()


def _become_run(element: Any, text: str) -> None:
    element.clear()
    element.tag = f"{_W}r"
    element.append(words := element.makeelement(f"{_W}t", {"{http://www.w3.org/XML/1998/namespace}space": "preserve"}))
    words.text = text
