"""Read a response body within limits: size, pace, damage and decompression."""

import asyncio
from collections.abc import AsyncIterable, Mapping

from deep_research.concurrency import Clock
from deep_research.errors import Unreachable, Unreadable
from deep_research.fetch.fetch_policies import FetchLimits
from deep_research.protocol.content_decoding import MOST_OF_AN_ERROR, Decoder


async def read_body(
    chunks: AsyncIterable[bytes],
    url: str,
    headers: Mapping[str, str],
    limits: FetchLimits,
    clock: Clock,
    *,
    cut: bool,
    success: bool,
) -> bytes:
    """Return the unpacked body; raise Unreadable, or Unreachable if it is too slow.

    With `cut` it is cut at the limit. That of an error is cut at 64 kB, and may be damaged.
    """
    most = limits.max_bytes if success else min(limits.max_bytes, MOST_OF_AN_ERROR)
    length = headers.get("content-length", "")
    if success and not cut and length.isdecimal() and int(length) > most:
        raise _too_large(url, f"says it has {int(length):,} bytes", most)
    begun, received, body = clock.monotonic(), 0, bytearray()
    try:
        decoder = Decoder(headers.get("content-encoding", ""), url)
        async for chunk in chunks:
            await asyncio.sleep(0)  # a thousand short ones that are there already are given without a turn for others
            received += len(chunk)
            _check_pace(url, received, clock.monotonic() - begun, limits)
            for piece in decoder.feed(chunk):
                body += piece
                if len(body) > most and (cut or not success):
                    return bytes(body[:most])
                if len(body) > most:
                    raise _too_large(url, "unpacks to more" if received < len(body) else "has more", most)
        decoder.finish()
    except Unreadable:
        if success:
            raise
    return bytes(body)


def _check_pace(url: str, received: int, seconds: float, limits: FetchLimits) -> None:
    if seconds > limits.slow_after_seconds and received < seconds * limits.min_bytes_per_second:
        message = f"{url} sends less than {limits.min_bytes_per_second} bytes a second."
        raise Unreachable(message, url=url, reason="pace", final=True)


def _too_large(url: str, how: str, most: int) -> Unreadable:
    return Unreadable(f"{url} {how}; at most {most:,} bytes are read.", url=url, reason="size", limit=most)
