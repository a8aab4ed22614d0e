"""Read a response body within limits: size, pace, damage and decompression."""

from collections.abc import Mapping
from typing import NoReturn

from deep_research.concurrency import Clock
from deep_research.errors import Unreachable, Unreadable
from deep_research.fetch.fetch_policies import FetchLimits
from deep_research.protocol.content_decoding import MOST_OF_AN_ERROR, Decoder


class Body:
    """An incoming response body; an error's is cut at 64 kB and may be damaged.

    `success` is False for an error.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], limits: FetchLimits, clock: Clock, *, cut: bool, success: bool
    ) -> None:
        self._url = url
        self._limits = limits
        self._clock = clock
        self._cut = cut or not success
        self._most = limits.max_bytes if success else min(limits.max_bytes, MOST_OF_AN_ERROR)
        self._begun = clock.monotonic()
        self._success = success
        self._decoder = self._make_decoder(headers.get("content-encoding", ""))
        self._parts: list[bytes] = []
        self._size = self._received = 0
        self._full = False
        length = headers.get("content-length", "")
        if success and not cut and length.isdecimal() and int(length) > self._most:
            self._too_large(f"says it has {int(length):,} bytes")

    def take(self, chunk: bytes) -> bool:
        """Process a raw chunk; return False once enough. Raises Unreadable, Unreachable."""
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
        message = f"{self._url} {how}; at most {self._most:,} bytes are read."
        raise Unreadable(message, url=self._url, reason="size", limit=self._most)
