"""Posting lists in SQLite: one row per term and block, appended to in place."""

import sqlite3
from array import array
from collections.abc import Iterable, Mapping, Sequence

from deep_research.index.analysis import Analysed
from deep_research.index.postings import BLOCK_BITS, Block, length_code, number_of, pack

_SCHEMA = (
    "CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, frequency INTEGER NOT NULL)",
    "CREATE TABLE postings (place INTEGER PRIMARY KEY, entries BLOB NOT NULL)",
    "CREATE TABLE collection (id INTEGER PRIMARY KEY, passages INTEGER NOT NULL, length INTEGER NOT NULL)",
    "INSERT INTO collection VALUES (1, 0, 0)",
)
_BLOCKS_BITS = 20  # a million blocks of a term: more passages than SQLite can hold
_FLUSH_AFTER = 8192
_APPEND = """
INSERT INTO postings (place, entries) VALUES (?, ?)
ON CONFLICT (place) DO UPDATE SET entries = CAST(entries || excluded.entries AS BLOB)
"""
_COUNT = """
INSERT INTO terms (term, frequency) VALUES (?, ?)
ON CONFLICT (term) DO UPDATE SET frequency = frequency + excluded.frequency
"""
_AT_ONCE = 500  # values in one statement


class SqlitePostings:
    """Posting lists in three tables; the caller holds the lock and the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._pending: dict[str, dict[int, array[int]]] = {}
        self._waiting = 0

    def add(self, number: int, analysed: Analysed) -> None:
        """Index passage `number`, which must be higher than all before it; written by `flush`."""
        code = length_code(analysed.length)
        block = number >> BLOCK_BITS
        for term, frequency in analysed.frequencies.items():
            entry = pack(number, frequency, code)
            self._pending.setdefault(term, {}).setdefault(block, array("I")).append(entry)
        self._count(1, analysed.length)
        self._waiting += 1
        if self._waiting >= _FLUSH_AFTER:
            self.flush()

    def flush(self) -> None:
        """Write what `add` has gathered."""
        pending, self._pending, self._waiting = self._pending, {}, 0
        counted = ((term, sum(map(len, blocks.values()))) for term, blocks in pending.items())
        self._db.executemany(_COUNT, counted)
        ids = {term: found[0] for term, found in self._terms(pending).items()}
        rows = [
            (ids[term] << _BLOCKS_BITS | block, entries.tobytes())
            for term, blocks in pending.items()
            for block, entries in blocks.items()
        ]
        self._db.executemany(_APPEND, sorted(rows))

    def discard(self) -> None:
        """Forget what `add` has gathered (the transaction was rolled back)."""
        self._pending, self._waiting = {}, 0

    def remove(self, number: int, analysed: Analysed) -> None:
        """Forget passage `number`, which was added as `analysed`."""
        self._count(-1, -analysed.length)
        block = number >> BLOCK_BITS
        terms = self._terms(analysed.frequencies)
        self._db.executemany(
            "UPDATE terms SET frequency = frequency - 1 WHERE id = ?", ((i,) for i, _ in terms.values())
        )
        for identifier, _ in terms.values():
            place = identifier << _BLOCKS_BITS | block
            row = self._db.execute("SELECT entries FROM postings WHERE place = ?", (place,)).fetchone()
            kept = array("I", (e for e in array("I", row[0]) if number_of(block, e) != number)) if row else None
            if kept:
                self._db.execute("UPDATE postings SET entries = ? WHERE place = ?", (kept.tobytes(), place))
            else:
                self._db.execute("DELETE FROM postings WHERE place = ?", (place,))

    def _count(self, passages: int, length: int) -> None:
        self._db.execute("UPDATE collection SET passages = passages + ?, length = length + ?", (passages, length))

    def statistics(self) -> tuple[int, int]:
        """Return the number of passages and the sum of their lengths."""
        return self._db.execute("SELECT passages, length FROM collection").fetchone()

    def frequencies(self, terms: Iterable[str]) -> Mapping[str, int]:
        """Return in how many passages each of `terms` occurs."""
        return {term: frequency for term, (_, frequency) in self._terms(terms).items() if frequency}

    def blocks(self, term: str) -> Sequence[Block]:
        """Return the posting list of `term`."""
        row = self._db.execute("SELECT id FROM terms WHERE term = ?", (term,)).fetchone()
        if row is None:
            return []
        rows = self._db.execute("SELECT place, entries FROM postings WHERE place BETWEEN ? AND ?", _range(row[0]))
        return [(place & ((1 << _BLOCKS_BITS) - 1), array("I", entries)) for place, entries in rows]

    def create(self) -> None:
        """Make the tables, empty; those of an earlier version go."""
        self.discard()
        for table in ("terms", "postings", "collection"):
            self._db.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _SCHEMA:
            self._db.execute(statement)

    def _terms(self, terms: Iterable[str]) -> dict[str, tuple[int, int]]:
        """The id and the frequency of each of `terms` that is known."""
        wanted, found = list(terms), {}
        for first in range(0, len(wanted), _AT_ONCE):
            some = wanted[first : first + _AT_ONCE]
            marks = ",".join("?" * len(some))
            query = f"SELECT term, id, frequency FROM terms WHERE term IN ({marks})"  # noqa: S608 — marks only
            found.update((term, (i, frequency)) for term, i, frequency in self._db.execute(query, some))
        return found


def _range(identifier: int) -> tuple[int, int]:
    return identifier << _BLOCKS_BITS, (identifier + 1 << _BLOCKS_BITS) - 1
