"""Count and measure a server's JSON-RPC messages before a client parses them.

A parser makes an object of each value and a client a task of each message: few bytes may cost much.
"""

import re
import time
from collections.abc import Callable, Iterator
from itertools import islice

from deep_research.errors import Unreadable

EVENT_END = re.compile(rb"(?>\r\n|[\r\n]){2}")
"""An empty line, in each form that the HTML standard has for an event stream (9.2.6)."""
LINE_END = re.compile(rb"\n")
_SIGN = re.compile(rb'(?>[^",\[{\r\n]++|"(?:[^"\\\r\n]++|\\[^\r\n])*+"?)*+(?:[,\[{\r\n]|\Z)')
"""A sign that stands before or after a value, or ends a line, with the strings before it: none goes on in another line."""


class MessageBounds:
    """The bounds on a server's messages in one session, over all its streams.

    These are `most` messages, and one more for each second. `refuse` is told of what is not taken.
    """

    def __init__(self, most: int, most_values: int, refuse: Callable[[Unreadable], object]) -> None:
        self.refuse = refuse
        self._most, self._most_values = most, most_values
        self._begun, self._taken = time.monotonic(), 0

    def take(self, message: bytes, *, is_counted: bool) -> bytes:
        """Return a message within the bounds; else raise Unreadable."""
        self._taken += is_counted
        if self._taken > self._most + time.monotonic() - self._begun:
            raise Unreadable(f"it has sent more than {self._most:,} messages, and one a second", given_up=True)
        if next(islice(_SIGN.finditer(message), self._most_values + 2, None), None):  # the end matches twice
            raise Unreadable(f"the answer has more than {self._most_values:,} values")
        return message


class Messages:
    """A stream cut into whole messages at `end`; without `end` all is one message."""

    def __init__(self, bounds: MessageBounds, end: re.Pattern[bytes] | None, most_bytes: int) -> None:
        self._bounds, self._end, self._most_bytes = bounds, end, most_bytes
        self._kept = bytearray()

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the messages that `piece` completes; raise Unreadable for one too long."""
        begin = max(0, len(self._kept) - 2)
        self._kept += piece
        while self._end and (found := self._end.search(self._kept, begin)):
            yield self._cut(found.end())
            begin = 0
        if len(self._kept) > self._most_bytes:
            self._kept.clear()
            raise Unreadable(f"the answer is longer than {self._most_bytes:,} bytes")

    def finish(self) -> Iterator[bytes]:
        """Yield the rest of the stream; its end counts as a message."""
        if self._kept or self._end:
            yield self._cut(len(self._kept))

    def _cut(self, length: int) -> bytes:
        message = bytes(self._kept[:length])
        del self._kept[:length]
        return self._bounds.take(message, is_counted=bool(self._end))
