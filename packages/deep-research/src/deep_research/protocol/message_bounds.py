"""Messages of a server (JSON-RPC), counted and measured before a client parses them.

A parser makes an object of each value and a client a task of each message, so that few bytes may cost much.
"""

import re
import time
from collections.abc import Callable, Iterator

from deep_research.errors import Unreadable

EVENT_END = re.compile(rb"(?>\r\n|[\r\n]){2}")
"""An empty line, in each form that the HTML standard has for an event stream (9.2.6)."""
LINE_END = re.compile(rb"\n")
_STRING = re.compile(rb'"(?:[^"\\\r\n]++|\\[^\r\n])*+"?')  # none goes on in another line, of JSON or of an event


class MessageBounds:
    """What is taken of a server in one session, over all its streams; `refuse` is told of what is not.

    `most` messages, and one more for each second: a stream that is kept open for hours has some as well.
    """

    def __init__(self, most: int, most_values: int, refuse: Callable[[Unreadable], object]) -> None:
        self.refuse = refuse
        self._most, self._most_values = most, most_values
        self._begun, self._taken = time.monotonic(), 0

    def count(self) -> None:
        """Take one more message. Raises Unreadable, given up, where it is one too many."""
        self._taken += 1
        if self._taken > self._most + time.monotonic() - self._begun:
            raise Unreadable(f"it has sent more than {self._most:,} messages, and one a second", given_up=True)

    def measure(self, message: bytes) -> None:
        """Raise Unreadable for a message of too many values or lines; what stands in strings is none."""
        if _signs(message) > self._most_values and _signs(_STRING.sub(b"", message)) > self._most_values:
            raise Unreadable(f"the answer has more than {self._most_values:,} values")


class Messages:
    """One stream taken apart: each message is given whole, up to its `end`; without an end it is all one."""

    def __init__(self, bounds: MessageBounds, end: re.Pattern[bytes] | None, most_bytes: int) -> None:
        self._bounds, self._end, self._most_bytes = bounds, end, most_bytes
        self._kept = bytearray()

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the messages that `piece` ends. Raises Unreadable for one that is too much, and forgets it."""
        begin = max(0, len(self._kept) - 2)
        self._kept += piece
        while self._end and (found := self._end.search(self._kept, begin)):
            yield self._cut(found.end())
            begin = 0
        if len(self._kept) > self._most_bytes:
            self._kept.clear()
            raise Unreadable(f"the answer is longer than {self._most_bytes:,} bytes")

    def finish(self) -> Iterator[bytes]:
        """Yield what the stream ends with; the end counts as a message, as a client may open the next at once."""
        if self._kept or self._end:
            yield self._cut(len(self._kept))

    def _cut(self, length: int) -> bytes:
        message = bytes(self._kept[:length])
        del self._kept[:length]
        if self._end:
            self._bounds.count()
        self._bounds.measure(message)
        return message


def _signs(message: bytes) -> int:
    """What stands before or after a value, and the ends of lines."""
    return sum(message.count(sign) for sign in b",[{\r\n")
