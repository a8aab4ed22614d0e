"""Show a text once: the same book lies in a folder as HTML, PDF and plain text, and pages repeat each other."""

from deep_research.finding.ranking import Best
from deep_research.text.near_duplicates import shingles

_SHINGLE, _READ = 4, 6_000
_LONG = 1_400
"""Characters of a list or table beyond which only a part of it is shown."""
_SAME = 0.7
"""Share of the runs of four terms from which a text was shown before."""


class Shown:
    """Remembers what was shown, by runs of four terms: cut and wrapped in another way, a text has the same ones."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._units: set[tuple[str, int]] = set()

    def add(self, best: Best) -> bool:
        """Return True and remember the text of a place when it is new; of a long list each item is a place."""
        unit = best.unit
        part = best.part if best.part is not None else unit
        whole = unit if unit.end - unit.start <= _LONG else part
        key = (best.section.source, whole.start)
        new = shingles(best.section.text[part.start : part.end][:_READ], _SHINGLE)
        if key in self._units or (new and len(new & self._seen) >= _SAME * len(new)):
            return False
        self._units.add(key)
        self._seen |= shingles(best.section.text[whole.start : whole.end][:_READ], _SHINGLE)
        return True
