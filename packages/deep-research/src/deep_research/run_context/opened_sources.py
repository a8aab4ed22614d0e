"""Which sources the researchers of a run have opened, so that each is told what its colleagues have read."""

from collections import defaultdict

from deep_research.ports import Library
from deep_research.text.prompt_fencing import attribute

_MOST_TOLD = 8


class OpenedSources:
    """Ids of the sources that were opened, by the section that opened them first."""

    def __init__(self) -> None:
        self._by: dict[str, str] = {}
        self._told: defaultdict[str, set[str]] = defaultdict(set)

    def note(self, source: str, section: str) -> bool:
        """Note that a section opens a source; return whether it was opened before."""
        is_known = source in self._by
        self._by.setdefault(source, section)
        self._told[section].add(source)
        return is_known

    def has(self, source: str) -> bool:
        """Return whether the run has opened a source."""
        return source in self._by

    def news_for(self, section: str, library: Library) -> str:
        """Return in words what others have opened since the section was told last; "" for nothing."""
        new = [key for key, by in self._by.items() if by != section and key not in self._told[section]]
        self._told[section].update(new)
        named = (f"{key} {attribute(source.title)}" for key in new[-_MOST_TOLD:] if (source := library.source(key)))
        told = "; ".join(named)
        return f"Opened in this run, free for you too: {told}" if told else ""
