"""Read a response body within bounds: size, pace, damage, and decompression that stops in time."""

import zlib
from collections.abc import Iterator, Mapping
from typing import NoReturn

from deep_research.concurrency import Clock
from deep_research.errors import Unreachable, Unreadable
from deep_research.fetch.fetch_policies import FetchLimits

ACCEPTED = "gzip, deflate"
_STEP = 65_536
_GZIP = zlib.MAX_WBITS | 16


class Decoder:
    """Unpacks a body piece by piece, at most 64 kB at a time."""

    def __init__(self, encoding: str, url: str) -> None:
        """`encoding` is the Content-Encoding header. Raises Unreadable for one that was not asked for."""
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
        if self._name == "deflate" and data and not self._begun:
            self._choose_deflate(data)
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

    def _choose_deflate(self, data: bytes) -> None:
        # "deflate" is the zlib format by RFC 9110, but some servers send it bare.
        if data[0] & 0x0F != 8 or (len(data) > 1 and (data[0] * 256 + data[1]) % 31):
            self._unpack = zlib.decompressobj(-zlib.MAX_WBITS)


# What explains a refusal fits in this; the rest of an error page is not read.
_MOST_OF_AN_ERROR = 65_536


class Body:
    """A body while it comes in. One of an error (no `success`) is cut at 64 kB and may be damaged."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        limits: FetchLimits,
        clock: Clock,
        *,
        cut: bool,
        success: bool,
    ) -> None:
        self._url = url
        self._limits = limits
        self._clock = clock
        self._cut = cut or not success
        self._most = limits.max_bytes if success else min(limits.max_bytes, _MOST_OF_AN_ERROR)
        self._begun = clock.monotonic()
        self._success = success
        self._decoder = self._make_decoder(headers.get("content-encoding", ""))
        self._parts: list[bytes] = []
        self._size = self._received = 0
        self._full = False
        length = headers.get("content-length", "")
        if success and not cut and length.isdecimal() and int(length) > self._most:
            self._too_large(f"says it has {length} bytes")

    def take(self, chunk: bytes) -> bool:
        """Take a piece as it came over the wire; False when no more is wanted. Raises Unreadable, Unreachable."""
        self._received += len(chunk)
        self._check_pace()
        try:
            return self._unpack(chunk)
        except Unreadable:
            if self._success:
                raise
            self._full = True  # what an error says is welcome, not needed
            return False

    def _unpack(self, chunk: bytes) -> bool:
        for piece in self._decoder.feed(chunk):
            if self._size + len(piece) > self._most:
                if not self._cut:
                    self._too_large("unpacks to more" if self._received < self._size else "has more")
                self._parts.append(piece[: self._most - self._size])
                self._full = True
                return False
            self._parts.append(piece)
            self._size += len(piece)
        return True

    def whole(self) -> bytes:
        """Return the body. Raises Unreadable when its packing ended early."""
        if self._success and not self._full:
            self._decoder.finish()
        return b"".join(self._parts)

    def _make_decoder(self, encoding: str) -> Decoder:
        try:
            return Decoder(encoding, self._url)
        except Unreadable:
            if self._success:
                raise
            return Decoder("", self._url)

    def _check_pace(self) -> None:
        seconds = self._clock.monotonic() - self._begun
        limits = self._limits
        if seconds > limits.slow_after_seconds and self._received < seconds * limits.min_bytes_per_second:
            message = f"{self._url} sends less than {limits.min_bytes_per_second} bytes a second."
            raise Unreachable(message, url=self._url, reason="pace", final=True)

    def _too_large(self, how: str) -> NoReturn:
        message = f"{self._url} {how}; at most {self._most} bytes are read."
        raise Unreadable(message, url=self._url, reason="size", limit=self._most)
