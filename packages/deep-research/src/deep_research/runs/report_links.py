"""The links, raised numbers and footnotes of a report file, written into its text: readers of documents leave them out.

What comes back is the same format, with citations in the styles that `verification/foreign.py` finds: `[words](address)`,
`<sup>1</sup>`, `[^1]`. Each pattern looks at a bounded stretch, so that a hostile file takes no longer than a long one.
"""

import html
import io
import re
import zipfile
from collections.abc import Callable, Mapping

from deep_research.data import write_link
from deep_research.protocol.media_type import ZIP, signed_media_type
from deep_research.readers.compressed import open_zip
from deep_research.reading_child import FileAnswer, limits_of, read_given
from deep_research.worker_child import limited

_HREF = re.compile(r"\bhref\s?=\s?[\"']((?:https?|ftps?|file)://[^\"'<>\s]{1,2000})[\"']", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,4000}>")
_NUMBERS = re.compile(r"\[?\d{1,3}(?:\s?[,;-]\s?\d{1,3}){0,20}\]?")
_PAGE_MARK = re.compile(r"<a\s(?=[^<>]{0,999}?href\s?=\s?[\"']?#)[^<>]{0,1999}+>\s?(\d{1,3})\s?</a\s?>", re.IGNORECASE)
_INLINE = re.compile(r"</?(?:a|abbr|b|cite|em|i|mark|q|small|span|strong|u)\b[^<>]{0,300}>", re.IGNORECASE)
_OPEN = re.compile(r"[\[(<][^\])>]{0,40}\Z")
_MOST_BYTES = 20_000_000
"""Bytes of a part of a DOCX file in which links are looked for."""
_BODY, _NOTES = "word/document.xml", ("footnote", "endnote")
_RELATION = re.compile(r"<Relationship\b[^<>]{0,4000}>")
_FIELD = re.compile(r"\b(Id|Target|r:id|w:id|w:type)=\"([^\"<>]{1,2000})\"")
_NOTE_MARK = re.compile(r"<w:(footnote|endnote)Reference\b[^<>]{0,500}/>")
_IS_RAISED = re.compile(r"<w:vertAlign\s[^<>]{0,200}w:val=\"superscript\"|<w:position\s[^<>]{0,200}w:val=\"[1-9]")
_WORDS = re.compile(r"<w:t\b[^<>]{0,200}>([^<]{0,20000})</w:t>")


def read_marked(reader: str, data: bytes, name: str) -> FileAnswer:
    """Read a report with its links in its text, with the reader of that name, in this process, which is the worker."""
    with limited(limits_of(len(data), reader)):
        if reader == "html":
            data = mark_html_links(data)
        elif reader == "docx" or signed_media_type(data) == ZIP:
            data = mark_docx_links(data)
    return read_given(reader, data, name)


def mark_html_links(data: bytes) -> bytes:
    """Return an HTML page whose links to the web and raised numbers stand in its text."""
    text = data.decode("latin-1")  # one character a byte, whatever the encoding is
    text = _each(_PAGE_MARK.sub(_as_raised_mark, text), "a", _as_link)
    return _each(text, "sup", _as_number).encode("latin-1")


def _as_raised_mark(link: re.Match[str]) -> str:
    """Return a number behind words that leads to a note of its page as a raised one; one in brackets is a mark already."""
    before = _INLINE.sub("", link.string[max(0, link.start() - 300) : link.start()])
    is_behind = before[-1:].strip(" \t\r\n>") and not _OPEN.search(before)
    return f"<sup>{link[1]}</sup>" if is_behind else link[0]


def _each(text: str, tag: str, change: Callable[[str, str], str]) -> str:
    """Return markup in which `change` has written each element of `tag` anew, from its opening tag and its inside."""
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
    """Return a raised number as the text `<sup>1</sup>`, anything else raised without its marks."""
    shown = _TAG.sub("", inside).strip()
    return f"&lt;sup&gt;{shown}&lt;/sup&gt;" if _NUMBERS.fullmatch(shown) else inside


def mark_docx_links(data: bytes) -> bytes:
    """Return a DOCX file whose links, raised numbers and notes stand in the text of its body. Raises Unreadable."""
    with open_zip(data, what="DOCX") as container:
        sizes = {part.filename: part.file_size for part in container.infolist()}

        def part(name: str) -> str:
            is_read = sizes.get(name, _MOST_BYTES + 1) <= _MOST_BYTES
            return container.read(name).decode("utf-8", "replace") if is_read else ""

        try:
            body = _with_links(part(_BODY), part("word/_rels/document.xml.rels"))
            if not body:
                return data
            parts = ((part(f"word/{kind}s.xml"), part(f"word/_rels/{kind}s.xml.rels"), kind) for kind in _NOTES)
            notes = "".join(_notes(_with_links(xml, relations), kind) for xml, relations, kind in parts)
            body = _NOTE_MARK.sub(lambda mark: f"<w:t>[^{_note_name(mark[0], mark[1])}]</w:t>", body)
            body = _each(body, "w:r", _as_raised)
            last = body.rfind("<w:sectPr", body.rfind("</w:p>"))
            end = last if last >= 0 else body.rfind("</w:body>")
            return _replaced(container, _BODY, body[:end] + notes + body[end:])
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            return data  # its reader says what is wrong with it


def _note_name(xml: str, kind: str) -> str:
    """Return the name of a note: footnotes and endnotes have numbers of their own."""
    return f"{'' if kind == _NOTES[0] else 'e'}{dict(_FIELD.findall(xml)).get('w:id', '')}"


def _as_raised(opening: str, inside: str) -> str:
    """Return a run of raised digits as the text `<sup>1</sup>`, any other as it is."""
    shown = _words(inside) if _IS_RAISED.search(inside) else ""
    return _run(f"&lt;sup&gt;{shown}&lt;/sup&gt;") if _NUMBERS.fullmatch(shown) else f"{opening}{inside}</w:r>"


def _notes(xml: str, kind: str) -> str:
    """Return the notes of a DOCX file as paragraphs that define them."""
    made: list[str] = []

    def take(opening: str, inside: str) -> str:
        if "w:type" not in dict(_FIELD.findall(opening)):
            made.append(_run(f"[^{_note_name(opening, kind)}]: {_words(inside)}"))
        return ""

    _each(xml, f"w:{kind}", take)
    return "".join(f"<w:p>{run}</w:p>" for run in made)


def _with_links(xml: str, relations: str) -> str:
    """Return a part of a DOCX file in which each link to the web is text."""
    rows = (dict(_FIELD.findall(row)) for row in _RELATION.findall(relations))
    targets: Mapping[str, str] = {row["Id"]: row.get("Target", "") for row in rows if "Id" in row}

    def marked(opening: str, inside: str) -> str:
        address = targets.get(dict(_FIELD.findall(opening)).get("r:id", ""), "")
        is_out = re.match("(?:https?|ftps?|file):", address)
        return _run(write_link(_words(inside), address)) if is_out else f"{opening}{inside}</w:hyperlink>"

    return _each(xml, "w:hyperlink", marked)


def _words(xml: str) -> str:
    return "".join(_WORDS.findall(xml)).strip()


def _run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def _replaced(container: zipfile.ZipFile, name: str, text: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for part in container.infolist():
            out.writestr(part.filename, text.encode() if part.filename == name else container.read(part))
    return made.getvalue()
