"""Passages by id that stand in no library, for what is verified against them."""

from collections.abc import Mapping

from deep_research.data import Passage, Source


class PassagesById:
    """Looks passages and sources up, as a library does."""

    def __init__(self, texts: Mapping[str, str], about: Mapping[str, Source]) -> None:
        self._texts = texts
        self._about = about

    def passage(self, passage: str, /) -> Passage | None:
        """Return the passage of an id, or None."""
        text = self._texts.get(passage)
        if text is None:
            return None
        source = passage.partition("p")[0]
        return Passage(id=passage, source=source, sha256="0" * 64, start=0, end=len(text), text=text)

    def source(self, source: str, /) -> Source | None:
        """Return the source of an id, or None."""
        return self._about.get(source)


def passages_of(texts: Mapping[str, str], **about: Source) -> PassagesById:
    """Return passages by id, and what is known about their sources."""
    return PassagesById(texts, about)
