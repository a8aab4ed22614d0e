"""The inverted index: SQLite FTS5 over terms of our own making.

FTS5's tokenizers know no stems and cut no Chinese or Japanese, so it is given our terms with spaces between them. The
texts are kept elsewhere (a contentless table). Titles are looked up as a whole in a small table.
"""

import json
import math
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice

from claimcheck.text.tokens import content_terms, join_index_terms
from deep_research.concurrency import COMPUTING
from deep_research.search.title_names import heading_key, title_keys

VERSION = "7"
"""Changes whenever the same passage would give other terms, or be stored in another way; stores rebuild an index of another version."""
TITLE_WEIGHT = 3  # occurrences in the text for one in the title (BM25F of Robertson, Zaragoza & Taylor, 2004)
_ROWS = 8192  # that wait in memory
_TABLES = ("terms", "titles", "postings", "collection")  # the last two are those of earlier versions
_SCHEMA = (
    # Tokens end at spaces alone: every other sign that a term may hold belongs to it.
    "CREATE VIRTUAL TABLE terms USING fts5(title, body, content='', tokenize=\"ascii tokenchars '.''-_+#&'\")",
    "CREATE TABLE titles (key TEXT, first INTEGER, passages INTEGER NOT NULL, PRIMARY KEY (key, first)) WITHOUT ROWID",
)
Row = tuple[int, str, str]  # the number of a passage, the terms of its title, those of its headings and text


class TermIndex:
    """An index of passages' terms and titles; the caller holds lock and transaction.

    What is added and removed waits in memory, because each statement of FTS5 inside a savepoint writes a segment of its
    own: the caller flushes before it asks and before it commits.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self.discard()

    def create(self) -> None:
        """Make the tables, empty; those of an earlier version go."""
        self.discard()
        for table in _TABLES:
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _SCHEMA:
            self._db.execute(statement)

    def add(self, title: str, passages: Mapping[int, tuple[str, str]]) -> None:
        """Index a document's passages: (text, headings) by ever higher numbers."""
        if not passages:
            return
        self._db.executemany("INSERT INTO titles VALUES (?, ?, ?)", _titles(title, passages))
        for rows in _rows(title, passages):
            self._flush_many()
            self._added += rows

    def remove(self, title: str, passages: Mapping[int, tuple[str, str]]) -> None:
        """Take the passages of a document out of the index, given as they were added."""
        if not passages:
            return
        titles = [(name, first) for name, first, _ in _titles(title, passages)]
        self._db.executemany("DELETE FROM titles WHERE key = ? AND first = ?", titles)
        for rows in _rows(title, passages):
            self._flush_many()
            self._removed += rows

    def _flush_many(self) -> None:
        if len(self._added) + len(self._removed) >= _ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        self._db.executemany("INSERT INTO terms (rowid, title, body) VALUES (?, ?, ?)", self._added)
        # Last: what goes may have come just before.
        delete = "INSERT INTO terms (terms, rowid, title, body) VALUES ('delete', ?, ?, ?)"
        self._db.executemany(delete, self._removed)
        self.discard()

    def discard(self) -> None:
        """Forget what waits (the transaction was rolled back)."""
        self._added: list[Row] = []
        self._removed: list[Row] = []

    def count_passages(self) -> int:
        """Return the number of passages."""
        return self._db.execute("SELECT count(*) FROM terms_docsize").fetchone()[0]

    def frequency(self, term: str) -> int:
        """Return in how many passages a term occurs."""
        return self._db.execute("SELECT count(*) FROM terms WHERE terms MATCH ?", (f'"{term}"',)).fetchone()[0]

    def term_scores(
        self, term: str, frequency: int, *, passages: int, weight: float, among: Collection[int] | None = None
    ) -> dict[int, float]:
        """Return a term's BM25 score by passage, `weight` in place of its IDF."""
        query = "SELECT rowid, bm25(terms, ?) * ? FROM terms WHERE terms MATCH ?"
        # FTS5's IDF is divided out: in most small collections it is zero or less, for which FTS5 takes 1e-6.
        theirs = math.log((passages - frequency + 0.5) / (frequency + 0.5))
        values: list[str | float] = [TITLE_WEIGHT, -weight / (theirs if theirs > 0 else 1e-6), f'"{term}"']
        if among is not None:
            # The sign keeps FTS5 from asking for each row by itself, and from counting the term's passages each time.
            query += " AND +rowid IN (SELECT value FROM json_each(?))"
            values.append(str(list(among)))
        return dict(self._db.execute(query, values).fetchall())

    def passages_with_name(self, name: str, *, most: int) -> list[int]:
        """Return up to `most` passages with `name` as a phrase in title or text."""
        phrase = _phrase(name)
        if not phrase:
            return []
        query = "SELECT rowid FROM terms WHERE terms MATCH ? LIMIT ?"
        return [number for (number,) in self._db.execute(query, (f'"{phrase}"', most))]

    def title_frequencies(self, keys: Iterable[str]) -> dict[str, int]:
        """Return the number of passages under each title of `keys`, without missing ones."""
        query = "SELECT key, sum(passages) FROM titles WHERE key IN (SELECT value FROM json_each(?)) GROUP BY key"
        return dict(self._db.execute(query, (json.dumps(list(keys)),)).fetchall())

    def passages_under_title(self, key: str) -> Iterator[int]:
        """Yield the numbers of the passages under a title."""
        for first, passages in self._db.execute("SELECT first, passages FROM titles WHERE key = ?", (key,)).fetchall():
            yield from range(first, first + passages)


def _titles(title: str, passages: Mapping[int, tuple[str, str]]) -> list[tuple[str, int, int]]:
    """Return the keys of title and headings, each with first passage and count."""
    found = [(name, min(passages), len(passages)) for name in title_keys(title)]
    sections: dict[tuple[str, ...], list[int]] = {}
    for number, (_, heading) in passages.items():
        path = tuple(part for part in heading.split(" > ") if part)
        for depth in range(1, len(path) + 1):
            sections.setdefault(path[:depth], []).append(number)
    keys = {(name, numbers[0]): len(numbers) for path, numbers in sections.items() if (name := heading_key(path[-1]))}
    return found + [(name, first, many) for (name, first), many in keys.items() if many < len(passages)]


def _rows(title: str, passages: Mapping[int, tuple[str, str]]) -> Iterator[list[Row]]:
    """Yield the rows of a document, some thousands at a time."""
    left = iter(passages)
    while numbers := list(islice(left, _ROWS)):
        with COMPUTING:
            some = [(number, *passages[number]) for number in numbers]
            rows = [
                (n, _shared_terms(title), f"{_shared_terms(head)} {join_index_terms(text)}") for n, text, head in some
            ]
        yield rows


_shared_terms = lru_cache(maxsize=500)(join_index_terms)  # those of a title or heading, which many passages share


@lru_cache(maxsize=5_000)
def _phrase(name: str) -> str:
    """Return the terms of a name as they follow each other in an indexed text."""
    return " ".join(content_terms(name))
