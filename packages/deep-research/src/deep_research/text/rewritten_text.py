"""A text with replaced stretches, and a mapping of offsets from old to new."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter


class RewrittenText:
    """A `text` with stretches of another replaced; offsets map in both directions.

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
        self._back = [(*span[2:], *span[:2]) for span in self.spans]

    def to_new(self, offset: int) -> int:
        """Map an old offset to the new text; inside a replaced stretch, to its end."""
        return _carry(offset, self.spans)

    def to_old(self, offset: int) -> int:
        """Map a new offset to the old text; inside a replacement, to its old end."""
        return _carry(offset, self._back)


def _carry(offset: int, spans: Sequence[tuple[int, int, int, int]]) -> int:
    """Return the offset in the other text; `spans` are (start, end) here, then there."""
    before = bisect_right(spans, offset, key=itemgetter(0)) - 1
    if before < 0:
        return offset
    start, end, other_start, other_end = spans[before]
    return other_start if offset == start < end else max(0, offset - end) + other_end
