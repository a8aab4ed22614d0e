"""Write the links, raised numbers and footnotes of a report file into its text.

Readers of documents leave them out. What comes back is the same format, with citations in the styles that
`verification/foreign.py` finds: `[words](address)`, `<sup>1</sup>`, `[^1]`. Each pattern looks at a bounded stretch, so
that a hostile file takes no longer than a long one.
"""

import html
import io
import re
from collections.abc import Callable, Mapping
from typing import Any

from deep_research.data import write_link
from deep_research.protocol.media_type import ZIP, signed_media_type
from deep_research.readers.compressed import open_zip
from deep_research.reading_child import FileAnswer, limits_of, read_given
from deep_research.worker_child import limited

_HREF = re.compile(r"\bhref\s?=\s?[\"']((?:https?|ftps?|file)://[^\"'<>\s]{1,2000})[\"']", re.IGNORECASE)
_IS_OUT = re.compile("(?:https?|ftps?|file):")
_TAG = re.compile(r"<[^<>]{0,4000}>")
_NUMBERS = re.compile(r"\[?\d{1,3}(?:\s?[,;-]\s?\d{1,3}){0,20}\]?")
_PAGE_MARK = re.compile(r"<a\s(?=[^<>]{0,999}?href\s?=\s?[\"']?#)[^<>]{0,1999}+>\s?(\d{1,3})\s?</a\s?>", re.IGNORECASE)
_INLINE = re.compile(r"</?(?:a|abbr|b|cite|em|i|mark|q|small|span|strong|u)\b[^<>]{0,300}>", re.IGNORECASE)
_OPEN = re.compile(r"[\[(<][^\])>]{0,40}\Z")
_NOTES = ("footnote", "endnote")
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_RAISED = ".//w:r[w:rPr/w:vertAlign/@w:val='superscript' or w:rPr/w:position/@w:val > 0]"


def read_marked(reader: str, data: bytes, name: str) -> FileAnswer:
    """Read a report, links in its text, by the named reader, in this worker process."""
    with limited(limits_of(len(data), reader)):
        if reader == "html":
            data = mark_html_links(data)
        elif reader == "docx" or signed_media_type(data) == ZIP:
            data = mark_docx_links(data)
    return read_given(reader, data, name)


def mark_html_links(data: bytes) -> bytes:
    """Write an HTML page's links to the web and raised numbers into its text."""
    text = data.decode("latin-1")  # one character a byte, whatever the encoding is
    text = _each(_PAGE_MARK.sub(_as_raised_mark, text), "a", _as_link)
    return _each(text, "sup", _as_number).encode("latin-1")


def _as_raised_mark(link: re.Match[str]) -> str:
    """Return a link to a note of its page as a raised number; keep one in brackets."""
    before = _INLINE.sub("", link.string[max(0, link.start() - 300) : link.start()])
    is_behind = before[-1:].strip(" \t\r\n>") and not _OPEN.search(before)
    return f"<sup>{link[1]}</sup>" if is_behind else link[0]


def _each(text: str, tag: str, change: Callable[[str, str], str]) -> str:
    """Rewrite each element of `tag` by `change` of its opening tag and its inside."""
    pieces = re.split(rf"</{tag}\s?>", text, flags=re.IGNORECASE)
    opening = re.compile(rf"<{tag}(?=[\s>])[^<>]*>", re.IGNORECASE)
    for number, piece in enumerate(pieces[:-1]):
        last = max(opening.finditer(piece), key=lambda found: found.start(), default=None)
        start, end = last.span() if last else (len(piece), len(piece))
        pieces[number] = piece[:start] + (change(last[0], piece[end:]) if last else f"</{tag}>")
    return "".join(pieces)


def _as_link(opening: str, inside: str) -> str:
    found, shown = _HREF.search(opening), " ".join(_TAG.sub("", inside).split())
    return write_link(shown, html.escape(html.unescape(found[1]))) if found else f"{opening}{inside}</a>"


def _as_number(_opening: str, inside: str) -> str:
    """Return a raised number as the text `<sup>1</sup>`, other text without marks."""
    shown = _TAG.sub("", inside).strip()
    return f"&lt;sup&gt;{shown}&lt;/sup&gt;" if _NUMBERS.fullmatch(shown) else inside


def mark_docx_links(data: bytes) -> bytes:
    """Write a DOCX file's links, raised numbers and notes into it. Raises Unreadable."""
    import docx  # noqa: PLC0415 - heavy
    from docx.oxml import parse_xml  # noqa: PLC0415

    open_zip(data, what="DOCX").close()
    try:
        file: Any = docx.Document(io.BytesIO(data))
        notes = [
            (kind, parse_xml(relation.target_part.blob), relation.target_part.rels)
            for relation in file.part.rels.values()
            if (kind := relation.reltype.rpartition("/")[2].removesuffix("s")) in _NOTES
        ]
    except Exception:  # noqa: BLE001 - the library passes on whatever XML, ZIP or lookup failed
        return data  # its reader says what is wrong with it
    body = file.element.body
    _write_links(body, file.part.rels)
    for run in body.xpath(_RAISED):
        if _NUMBERS.fullmatch(shown := _words(run)):
            run.getparent().replace(run, _run(f"<sup>{shown}</sup>"))
    for kind, root, relations in notes:
        for mark in list(body.iter(f"{_W}{kind}Reference")):
            mark.getparent().replace(mark, _run(f"[^{_note_name(mark, kind)}]")[0])
        _write_links(root, relations)
        for note in root.iterchildren(f"{_W}{kind}"):
            if note.get(f"{_W}type") is None:  # else it is the line above notes
                body.add_p().append(_run(f"[^{_note_name(note, kind)}]: {_words(note)}"))
    made = io.BytesIO()
    file.save(made)
    return made.getvalue()


def _note_name(element: Any, kind: str) -> str:
    """Return the name of a note: footnotes and endnotes have numbers of their own."""
    return f"{'' if kind == _NOTES[0] else 'e'}{element.get(f'{_W}id', '')}"


def _write_links(root: Any, relations: Mapping[str, Any]) -> None:
    for link in list(root.iter(f"{_W}hyperlink")):
        relation = relations.get(link.get(_LINK, ""))
        if relation is not None and relation.is_external and _IS_OUT.match(relation.target_ref):
            link.getparent().replace(link, _run(write_link(_words(link), relation.target_ref)))


def _words(element: Any) -> str:
    return "".join(text.text or "" for text in element.iter(f"{_W}t")).strip()


def _run(text: str) -> Any:
    from docx.oxml import OxmlElement  # noqa: PLC0415 - heavy

    run: Any = OxmlElement("w:r")
    run.add_t(text)
    return run
