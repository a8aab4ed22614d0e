"""A library of a run that is searched a few times: stored like any other, looked through instead of indexed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from deep_research.search.passage_terms import Analysed
from deep_research.search.postings import Postings
from deep_research.search.scan import Scanned, ScanPostings, ready
from deep_research.stores.sqlite_library import SqliteLibrary


class ScannedLibrary(SqliteLibrary):
    """A `SqliteLibrary` without an index of terms; for some dozens of pages, not for thousands."""

    def __init__(self, path: Path | str) -> None:
        self._scanned: dict[str, dict[int, Scanned]] = {}
        self._whole: ScanPostings | None = None
        super().__init__(path)

    def _analysed(self, title: str, passages: Mapping[int, tuple[str, str]]) -> dict[int, Analysed]:
        self._whole = None
        return {}

    def _indexed(self, source: int) -> dict[int, Analysed]:
        self._scanned.pop(f"s{source}", None)  # it is about to change
        self._whole = None
        return {}

    def _postings_of(self, sources: Sequence[str]) -> Postings:
        if sources:
            return ScanPostings({number: one for source in sources for number, one in self._of(source).items()})
        if self._whole is None:
            every = [f"s{n}" for (n,) in self._db.execute("SELECT number FROM sources")]
            self._whole = ScanPostings({number: one for source in every for number, one in self._of(source).items()})
        return self._whole

    def _of(self, source: str) -> dict[int, Scanned]:
        """The passages of a source made ready, once."""
        if source not in self._scanned:
            query = (
                "SELECT p.number, p.start, p.stop, p.heading, p.text, s.title FROM passages p"
                " JOIN sources s ON s.number = p.source WHERE s.number = ? AND p.current"
            )
            rows = self._db.execute(query, (int(source.removeprefix("s") or 0),)).fetchall()
            texts = {text: self._texts.slice(text) for text in {row[4] for row in rows}}
            self._scanned[source] = {
                number: ready(texts[text][start:stop], title=title, heading=heading)
                for number, start, stop, heading, text, title in rows
            }
        return self._scanned[source]
