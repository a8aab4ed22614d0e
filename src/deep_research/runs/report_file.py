"""A report that somebody hands in, as text with its links: Markdown, text, HTML, DOCX, PDF, or a page of the web."""

import html
import re
from pathlib import PurePath

from deep_research.errors import ConfigError

_PLAIN = (".md", ".markdown", ".txt", ".text", "")
_HTML = (".html", ".htm", ".xhtml")
_ANCHOR = re.compile(
    rb"<a\b[^<>]{0,2000}?\bhref\s?=\s?[\"'](https?://[^\"'<>\s]{1,2000})[\"'][^<>]{0,2000}>(.{0,2000}?)</a>",
    re.I | re.S,
)
MOST_BYTES = 20_000_000
"""Bytes of a file that is read as a report."""


def report_text(data: bytes, name: str) -> str:
    """Return the text of a report file; the addresses of its links stand behind their words.

    Raises ConfigError for a format that is not read or a file that is too large, Unreadable.
    """
    if len(data) > MOST_BYTES:
        message = f"{name!r} has {len(data):,} bytes; a report may have {MOST_BYTES:,}."
        raise ConfigError(message, setting="report", value=name)
    suffix = PurePath(name).suffix.lower()
    if suffix in _PLAIN and not _is_html(data):
        return data.decode("utf-8-sig", "replace")
    from deep_research.isolated_reading import read_bytes  # noqa: PLC0415 - only where it is asked for
    from deep_research.registry import reader_for  # noqa: PLC0415

    if suffix in _HTML or _is_html(data):
        data, name = _ANCHOR.sub(_with_address, data), f"{name or 'page'}.html"
    reader = reader_for(name, data[:4096])
    if reader is None:
        raise ConfigError(f"The format of {name!r} cannot be read as a report.", setting="report", value=name)
    return read_bytes(reader, data, name=name).text


def _is_html(data: bytes) -> bool:
    return b"<html" in data[:2048].lower() or b"<!doctype html" in data[:2048].lower()


def _with_address(link: re.Match[bytes]) -> bytes:
    """Return the words of a link with its address behind them, as text."""
    address = html.unescape(link[1].decode("utf-8", "replace"))
    return link[2] + b" (" + html.escape(address).encode() + b")"


async def fetch_report(url: str) -> str:
    """Return the text of a report at an address, by the guarded way out. Raises SourceError and ConfigError."""
    from deep_research.fetch.addresses import KnownAddresses  # noqa: PLC0415 - only where it is asked for
    from deep_research.fetch.web import Web  # noqa: PLC0415

    web = Web()
    fetcher = web.fetcher(KnownAddresses((url,)))
    try:
        page = await fetcher.fetch(url)
    finally:
        await fetcher.close()
        await web.close()
    suffix = {"application/pdf": ".pdf", "text/html": ".html"}.get(page.media_type, "")
    return report_text(page.body, f"page{suffix}")
