"""A text in which stretches were replaced, and where each place of the old text stands in the new one."""

from bisect import bisect_right
from collections.abc import Iterable


class RewrittenText:
    """The `text` that comes of replacing stretches of another; offsets can be carried over in both directions.

    `spans` are the replaced stretches in order, as (old start, old end, new start, new end).
    """

    def __init__(self, old: str, replacements: Iterable[tuple[int, int, str]]) -> None:
        parts: list[str] = []
        self.spans: list[tuple[int, int, int, int]] = []
        position = length = 0
        for start, end, new in replacements:  # ordered, none within another
            parts += (old[position:start], new)
            length += start - position + len(new)
            self.spans.append((start, end, length - len(new), length))
            position = end
        parts.append(old[position:])
        self.text = "".join(parts)
        self._old_starts = [span[0] for span in self.spans]
        self._new_starts = [span[2] for span in self.spans]

    def to_new(self, offset: int) -> int:
        """Return where an offset of the old text lies in the new one; within a stretch that was replaced, at its end."""
        before = bisect_right(self._old_starts, offset) - 1
        if before < 0:
            return offset
        start, end, new_start, new_end = self.spans[before]
        if offset == start < end:
            return new_start
        return max(0, offset - end) + new_end

    def to_old(self, offset: int) -> int:
        """Return where an offset of the new text lies in the old one; within what was put in, at the end of what went."""
        before = bisect_right(self._new_starts, offset) - 1
        if before < 0:
            return offset
        _start, end, new_start, new_end = self.spans[before]
        if offset == new_start < new_end:
            return _start
        return max(0, offset - new_end) + end
