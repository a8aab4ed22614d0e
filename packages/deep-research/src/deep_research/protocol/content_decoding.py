"""Unpack HTTP content codings step by step, so that a reader can stop at any one."""

import zlib
from collections.abc import Iterator

from deep_research.errors import Unreadable

ACCEPTED = "gzip, deflate"
MOST_OF_AN_ERROR = 65_536  # what explains a refusal fits in these bytes; the rest is not read
_STEP = 65_536
_GZIP = zlib.MAX_WBITS | 16


class Decoder:
    """Unpacks a body piece by piece, at most 64 kB at a time."""

    def __init__(self, encoding: str, url: str) -> None:
        """Take the Content-Encoding header; raise Unreadable for one not asked for."""
        names = [name for part in encoding.lower().split(",") if (name := part.strip()) not in ("", "identity")]
        if len(names) > 1 or (names and names[0] not in ("gzip", "x-gzip", "deflate")):
            raise Unreadable(f"{url} is packed as {encoding!r}, which was not asked for.", url=url, reason="encoding")
        self._url = url
        self._name = names[0] if names else ""
        self._unpack = zlib.decompressobj(_GZIP if self._name.endswith("gzip") else zlib.MAX_WBITS)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what `data` unpacks to. Raises Unreadable when it is damaged."""
        if not self._name:
            yield data
            return
        if self._name == "deflate" and data and not self._begun and not _has_zlib_head(data):
            self._unpack = zlib.decompressobj(-zlib.MAX_WBITS)
        self._begun = self._begun or bool(data)
        yield from self._inflate(data)

    def finish(self) -> None:
        """Raise Unreadable when the body ended in the middle."""
        if self._name and self._begun and not self._unpack.eof:
            raise Unreadable(f"{self._url} ended in the middle of its packed body.", url=self._url, reason="truncated")

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        while data and not self._unpack.eof:
            try:
                piece = self._unpack.decompress(data, _STEP)
            except zlib.error as error:
                message = f"{self._url} has a damaged packed body: {error}."
                raise Unreadable(message, url=self._url, reason="encoding") from error
            data = self._unpack.unconsumed_tail
            if piece:
                yield piece
            if self._unpack.eof and self._unpack.unused_data.startswith(b"\x1f\x8b"):
                data = self._unpack.unused_data  # a further gzip member (RFC 1952, 2.2)
                self._unpack = zlib.decompressobj(_GZIP)


def _has_zlib_head(data: bytes) -> bool:
    """Return whether "deflate" data has the zlib header of RFC 9110, or is bare."""
    return data[0] & 0x0F == 8 and (len(data) == 1 or not (data[0] * 256 + data[1]) % 31)
