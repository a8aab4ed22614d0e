"""Read a report handed in, as text with links: Markdown, HTML, DOCX, PDF, URLs."""

import asyncio
import re
from os import PathLike
from pathlib import Path, PurePath
from typing import BinaryIO

from deep_research.errors import ConfigError, Unreadable
from deep_research.isolated_reading import read_bytes
from deep_research.protocol.media_type import signed_media_type
from deep_research.registry import reader_for
from deep_research.settings import Settings

_PLAIN = (".md", ".markdown", ".txt", ".text", "")
_HTML = (".html", ".htm", ".xhtml")
_PAGE = re.compile(rb"(?=<)(?s:.)*<(?:html|!doctype html)\b", re.IGNORECASE)
_BINARY_SIGNS = 0.1  # share of control characters from which bytes are no text
MOST_BYTES = 8_000_000  # bytes of a file that is read as a report


def report_text(data: bytes, name: str) -> str:
    """Return a report file's text, with links. Raises ConfigError, Unreadable."""
    if len(data) > MOST_BYTES:
        message = f"{name!r} has {len(data):,} bytes; a report may have {MOST_BYTES:,}. Give its text alone."
        raise ConfigError(message, setting="report", value=name)
    suffix = PurePath(name).suffix.lower()
    signed = signed_media_type(data)
    is_page = not signed and (suffix in _HTML or _PAGE.match(data[:2048].removeprefix(b"\xef\xbb\xbf").lstrip()))
    if suffix in _PLAIN and not is_page and not signed:
        return _plain(data, name)
    from deep_research.runs.report_links import read_marked  # noqa: PLC0415 - only for these

    if is_page and suffix not in _HTML:
        name = f"{name or 'page'}.html"
    reader = reader_for(name, data)
    if reader is None:
        message = f"The format of {name!r} cannot be read as a report. Give Markdown, text, HTML, DOCX or PDF."
        raise ConfigError(message, setting="report", value=name)
    try:
        document = read_bytes(reader, data, name=name, read=read_marked)
    except Unreadable as error:
        raise ConfigError(f"{name!r} cannot be read: {error.message}.", setting="report", value=name) from error
    if not document.text.strip():
        raise ConfigError(f"{name!r} has no text.", setting="report", value=name)
    is_titled = document.text.startswith("# ") or not document.title or document.title in document.text[:500]
    return document.linked_text if is_titled else f"# {document.title}\n\n{document.linked_text}"


def _plain(data: bytes, name: str) -> str:
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    odd = sum(text.count(sign) for sign in map(chr, (*range(9), *range(14, 32), 0xFFFD)))
    if odd > _BINARY_SIGNS * len(text):
        raise ConfigError(f"{name or 'The report'!r} is no text.", setting="report", value=name)
    return text.replace("\r\n", "\n").replace("\x00", "")


def read_report_file(path: Path) -> str:
    """Return a report file's text (see `report_text`); raise ConfigError on failure."""
    try:
        with path.expanduser().open("rb") as file:
            return read_report_stream(file, path.name)
    except OSError as error:
        message = f"Cannot read {str(path)!r}: {error.strerror or error}."
        raise ConfigError(message, setting="report", value=str(path)) from error


def read_report_stream(file: BinaryIO, name: str = "") -> str:
    """Return the text of a report from an open file and its name; see `report_text`."""
    return report_text(file.read(MOST_BYTES + 1), name)


async def read_report(given: str | PathLike[str], settings: Settings) -> str:
    """Return what a text, `Path` or address holds. Raises ConfigError, SourceError."""
    if not isinstance(given, str):
        return await asyncio.to_thread(read_report_file, Path(given))
    is_address = given.startswith(("http://", "https://")) and len(given.split()) == 1
    return await fetch_report(given, settings) if is_address else given


async def fetch_report(url: str, settings: Settings) -> str:
    """Fetch the text of a report, guarded; raise SourceError or ConfigError."""
    from deep_research.assembly.web_search import web_options  # noqa: PLC0415 - only where it is asked for
    from deep_research.fetch.addresses import KnownAddresses  # noqa: PLC0415
    from deep_research.fetch.web import Web  # noqa: PLC0415

    web = Web(web_options(settings, {}, {}))
    fetcher = web.fetcher(KnownAddresses((url,)))
    try:
        page = await fetcher.fetch(url)
    finally:
        await fetcher.close()
        await web.close()
    return await asyncio.to_thread(report_text, page.body, "page.html" if page.media_type == "text/html" else "page")
