"""What a site of the fake web can answer, the well-behaved and the hostile."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from urllib.parse import parse_qs, unquote, urlsplit

Chunks = Callable[[], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request as the server saw it; header names in lower case, `port` is the client's end of the connection."""

    method: str
    host: str
    target: str
    headers: dict[str, str]
    body: bytes = b""
    port: int = 0

    @property
    def path(self) -> str:
        """The path, percent-decoded."""
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, list[str]]:
        """The query's values by name."""
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True)


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """An answer. `chunks` makes a body piece by piece instead of `body` (with no Content-Length).

    `pause` is seconds between pieces, `promised` a false Content-Length; `hang` never answers,
    `drop` closes the connection without an answer.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    chunks: Chunks | None = None
    pause: float = 0.0
    promised: int | None = None
    hang: bool = False
    drop: bool = False


Handler = Callable[[SeenRequest], WebAnswer]
"""Answers by looking at the request."""


def page(body: str | bytes, content_type: str = "text/html; charset=utf-8", **headers: str) -> WebAnswer:
    """Return a page; further headers with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    data = body.encode() if isinstance(body, str) else body
    return WebAnswer(headers={"content-type": content_type, **named}, body=data)


def json_answer(value: object, code: int = 200) -> WebAnswer:
    """Return JSON."""
    return WebAnswer(code, {"content-type": "application/json"}, json.dumps(value).encode())


def status(code: int, body: str = "", **headers: str) -> WebAnswer:
    """Return an answer of a status; headers with `_` for `-`, as in `status(429, retry_after="3")`."""
    return replace(page(body, "text/plain", **headers), status=code)


def redirect(location: str, code: int = 302) -> WebAnswer:
    """Return a redirect."""
    return WebAnswer(code, {"location": location})


def feed(entries: Sequence[tuple[str, str]], title: str = "Feed") -> WebAnswer:
    """Return an RSS 2.0 feed of (title, link)."""
    items = "".join(f"<item><title>{escape(name)}</title><link>{escape(link)}</link></item>" for name, link in entries)
    xml = f'<?xml version="1.0"?><rss version="2.0"><channel><title>{escape(title)}</title>{items}</channel></rss>'
    return page(xml, "application/rss+xml")


def packed(body: bytes, content_type: str = "text/html", encoding: str = "gzip") -> WebAnswer:
    """Return a body compressed with gzip or deflate."""
    data = gzip.compress(body) if encoding == "gzip" else zlib.compress(body)
    return WebAnswer(headers={"content-type": content_type, "content-encoding": encoding}, body=data)


def bomb(megabytes: int) -> WebAnswer:
    """Return a gzip body that unpacks to so many megabytes of zeros, about a thousandth of that on the wire."""

    def chunks() -> Iterator[bytes]:
        packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
        zeros = bytes(1_000_000)
        for _ in range(megabytes):
            yield packer.compress(zeros)
        yield packer.flush()

    return WebAnswer(headers={"content-type": "text/html", "content-encoding": "gzip"}, chunks=chunks)


def endless(piece: bytes = b"x" * 65_536) -> WebAnswer:
    """Return a body without end."""

    def chunks() -> Iterator[bytes]:
        while True:
            yield piece

    return WebAnswer(headers={"content-type": "text/html"}, chunks=chunks)


def drip(pause: float = 0.01, piece: bytes = b"x") -> WebAnswer:
    """Return a body without end that comes in small pieces, `pause` seconds apart."""
    return replace(endless(piece), pause=pause)


def truncated(body: bytes, promised: int) -> WebAnswer:
    """Return a body that ends before the length it announced."""
    return replace(page(body), promised=promised)


def long_headers(size: int) -> WebAnswer:
    """Return an answer with so many bytes of headers, in lines of 1,000."""
    return page("x", **{f"x_filler_{number}": "y" * 980 for number in range(size // 1_000)})


def validated(body: str, etag: str, **headers: str) -> Handler:
    """Return a handler that knows its ETag: 304 for who has the page already."""

    def handler(request: SeenRequest) -> WebAnswer:
        return (
            status(304, etag=etag, **headers)
            if request.headers.get("if-none-match") == etag
            else page(body, etag=etag, **headers)
        )

    return handler


HANG = WebAnswer(hang=True)
"""Takes the request and says nothing."""

DROP = WebAnswer(drop=True)
"""Closes the connection without an answer."""
