"""Convert a tool's answer to sources: one per text, or one per entry of a list.

Structured content is read first, then text that is JSON, then text as Markdown.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from claimcheck.text.cleaning import fold
from claimcheck.text.error_text import is_error_text
from deep_research.data import Document, Found, Gap, SearchResult
from deep_research.data.outside_tools import ToolAnswer, ToolContent
from deep_research.registry import reader_of
from deep_research.text.dates import iso_date
from deep_research.text.page_noise import unreadable_because

_MOST_SOURCES = 50
_DEPTH = 4
_SHORT = 300  # characters up to which a text that tells of an error is nothing but that
_TITLES = ("title", "name", "story_title", "headline", "subject", "full_name", "label")
_ADDRESSES = ("url", "link", "href", "html_url", "web_url", "story_url", "source_url", "permalink", "uri")
_TEXTS = (
    "text", "content", "body", "markdown", "abstract", "summary", "description", "snippet", "excerpt",
    "story_text", "comment_text", "readme", "answer", "highlights",
)  # fmt: skip
_DATES = ("published", "published_at", "publishedAt", "date", "created_at", "createdAt", "created_at_i", "time", "year")
_AUTHORS = ("authors", "author", "by", "user", "creator")
_UNSAID = ("title", *_ADDRESSES, *_TEXTS)  # fields that are not written out beside title, address and text


class Call(NamedTuple):
    """Which tool was called how: where a source is from."""

    server: str
    tool: str
    arguments: str

    @property
    def location(self) -> str:
        """The call in words, for the list of references."""
        return f"{self.server}: {self.tool} {self.arguments}"[:200]


def sources_in(answer: ToolAnswer, call: Call) -> SearchResult:
    """Return the sources in an answer with their texts, and a gap per non-text part.

    A short text about an error is a gap, whether the tool calls it an error or not.
    """
    gaps = [_gap(call, f"{_NOT_READ.get(p.kind, p.kind)} was not read") for p in answer.parts if p.kind != "text"]
    rows = _rows_of(answer)
    told = [said for row in rows if (said := _error_in(row))]
    entries = [entry for row in rows if not _error_in(row) and (entry := _entry(row, call))]
    if not rows:
        texts = [_of_text(part, call) for part in answer.parts if part.text.strip()]
        told += [fold(text) for _, text in texts if _is_no_content(text)]
        entries = [entry for entry, text in texts if text.strip() and not _is_no_content(text)]
    gaps += [_gap(call, f"it tells of a failure: {said[:160]}") for said in told]
    if len(entries) > _MOST_SOURCES:
        gaps.append(_gap(call, f"of {len(entries)} entries the first {_MOST_SOURCES} were read"))
    found = {entry.key: entry for entry in entries[:_MOST_SOURCES]}
    return SearchResult(found=tuple(found.values()), gaps=tuple(dict.fromkeys(gaps)))


def _is_no_content(text: str) -> bool:
    """Return whether a page has no content, or a text only reports a failure."""
    return bool(unreadable_because(text)) or (len(text) < _SHORT and is_error_text(text))


def _error_in(row: Mapping[str, Any]) -> str:
    """Return the error text of an object that holds nothing but an error, else ""."""
    if _line(row, (*_TITLES, *_ADDRESSES, *_TEXTS)):
        return ""
    error = row.get("error") or row.get("errors") or (row.get("success") is False and (row.get("message") or row))
    return fold(error if isinstance(error, str) else json.dumps(error)) if error else ""


_NOT_READ = {
    "image": "an image",
    "audio": "a sound",
    "resource": "a file",
    "cut": "what followed after 400,000 characters or 200 parts",
}


def _rows_of(answer: ToolAnswer) -> list[Mapping[str, Any]]:
    values = [answer.structured] if answer.structured is not None else []
    values = values or [value for part in answer.parts if (value := _json(part.text)) is not None]
    # FastMCP puts what is no object under `result`.
    values = [v["result"] if isinstance(v, dict) and list(v) == ["result"] else v for v in values]
    return [row for value in values for row in (_rows(value) or ([value] if isinstance(value, dict) else []))]


def _json(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _rows(value: Any, depth: int = 0) -> list[Mapping[str, Any]]:
    """Return the longest list of titled or addressed objects, nearest to the root."""
    if isinstance(value, list):
        rows = [row for row in value if isinstance(row, Mapping) and _line(row, (*_TITLES, *_ADDRESSES))]
        return rows if rows or depth >= _DEPTH else max((_rows(v, depth + 1) for v in value), key=len, default=[])
    if isinstance(value, Mapping) and depth < _DEPTH:
        # An entry that has entries of its own, such as comments, is one entry.
        if depth and _line(value, _TITLES) and _line(value, (*_ADDRESSES, *_TEXTS)):
            return []
        return max((_rows(part, depth + 1) for part in value.values()), key=len, default=[])
    return []


def _entry(row: Mapping[str, Any], call: Call) -> Found | None:
    title = fold(_line(row, _TITLES))[:300] or f"{call.server}: {call.tool}"
    url = next((v for name in _ADDRESSES if (v := _line(row, (name,))).startswith(("http://", "https://"))), "")
    said = list(_paragraphs(row, title)) or ([f"- {url}"] if url else [])
    document = _read("\n\n".join([f"# {title}", *said]), title)
    published = next((day for name in _DATES if (day := iso_date(row.get(name)))), None)
    return _found(call, url, document, title=title, published=published, authors=_names(row)) if said else None


def _paragraphs(row: Mapping[str, Any], title: str, depth: int = 0) -> Iterator[str]:
    """Yield an entry's fields, its texts, and the texts nested in it, like comments."""
    for name, value in row.items():
        written = name in _UNSAID or (isinstance(value, str) and fold(value) == title)
        if not depth and not written and (said := _said(value)):
            yield f"- {fold(str(name)).replace('_', ' ')}: {said}"
    bodies = dict.fromkeys(b for name in _TEXTS if isinstance(b := row.get(name), str) and b.strip())
    by = f"{_line(row, _AUTHORS)}: " if depth and _line(row, _AUTHORS) else ""
    yield from (by + _read(body, "").text for body in bodies)
    for value in row.values():
        for part in value if isinstance(value, list) and depth < _DEPTH else ():
            if isinstance(part, Mapping):
                yield from _paragraphs(part, title, depth + 1)


def _said(value: Any) -> str:
    """Return a field of an entry in words: a number, a short text, a list of them."""
    if isinstance(value, list):
        return ", ".join(s for part in value[:20] if not isinstance(part, list | Mapping) and (s := _said(part)))
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return fold(value)[:_SHORT] if isinstance(value, str) else ""


def _of_text(part: ToolContent, call: Call) -> tuple[Found, str]:
    title = fold(part.title)[:300] or f"{call.server}: {call.tool}"
    document = _read(part.text, title, part.media_type)
    return _found(call, part.url, document, title=document.title or title), document.text


def _read(text: str, title: str, media_type: str = "") -> Document:
    """Return a text as a document: HTML where it looks like that, else Markdown."""
    markup = "</" in text and any(tag in text.lower() for tag in ("<p", "<a ", "<div", "<html", "<br", "<i>", "<b>"))
    kind = "text/html" if markup or media_type.startswith("text/html") else "text/markdown"
    reader = reader_of(kind)
    if reader is None or not text.strip():
        return Document(text="", title=title)
    return reader.read(text.encode("utf-8", "replace"), name=f"{title or 'text'}.{'html' if markup else 'md'}")


def _line(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first of these fields that holds a text or a number, on one line."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and (line := fold(str(value))):
            return line
    return ""


def _names(row: Mapping[str, Any]) -> tuple[str, ...]:
    given = next((row[name] for name in _AUTHORS if row.get(name)), ())
    names = given if isinstance(given, list) else [given]
    said = [n.get("name") if isinstance(n, Mapping) else n for n in names]
    return tuple(fold(n)[:120] for n in said[:20] if isinstance(n, str) and n.strip())


def _found(call: Call, url: str, document: Document, **facts: Any) -> Found:
    digest = hashlib.sha256(f"{facts['title']}\0{url}\0{document.text}".encode("utf-8", "surrogatepass"))
    return Found(
        key=f"mcp:{call.server}:{digest.hexdigest()[:16]}",
        url=url,
        origin=f"mcp:{call.server}",
        location=" · ".join(part for part in (url, call.location) if part),
        document=document.model_copy(update={"published": None, "authors": (), **facts}),
        **facts,
    )


def _gap(call: Call, why: str) -> Gap:
    return Gap(what=f"{call.tool} {call.arguments}"[:200], why=f"{why}.", source=f"mcp:{call.server}")
