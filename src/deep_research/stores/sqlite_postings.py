"""Posting lists in SQLite: one row per term and block, appended to in place."""

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from deep_research.search.passage_terms import Analysed
from deep_research.search.postings import BLOCK_BITS, LENGTH_BITS, MAX_FREQUENCY, Block, length_code, number_of, pack

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


def _no_postings() -> "array[int]":
    return array("I")


class SqlitePostings:
    """Posting lists in three tables; the caller holds the lock and the transaction.

    What is added and removed waits in memory until `flush`, so that each posting list is read and
    written once for many passages; the caller flushes before it asks and before it commits.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self.discard()

    def discard(self) -> None:
        """Forget what waits (the transaction was rolled back)."""
        self._added: dict[int, defaultdict[str, array[int]]] = {}
        self._removed: dict[int, dict[str, set[int]]] = {}
        self._passages = self._length = self._waiting = 0

    def add(self, number: int, analysed: Analysed) -> None:
        """Index passage `number`, which must be higher than all before it; written by `flush`."""
        lists = self._added.setdefault(number >> BLOCK_BITS, defaultdict(_no_postings))
        bare = pack(number, 0, length_code(analysed.length))
        for term, frequency in analysed.frequencies.items():
            lists[term].append(bare | min(frequency, MAX_FREQUENCY) << LENGTH_BITS)
        self._wait(1, analysed.length)

    def remove(self, number: int, analysed: Analysed) -> None:
        """Forget passage `number`, which was added as `analysed`; written by `flush`."""
        lists = self._removed.setdefault(number >> BLOCK_BITS, {})
        for term in analysed.frequencies:
            lists.setdefault(term, set()).add(number)
        self._wait(-1, -analysed.length)

    def _wait(self, passages: int, length: int) -> None:
        self._passages += passages
        self._length += length
        self._waiting += 1
        if self._waiting >= _FLUSH_AFTER:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if not self._waiting:
            return
        change = (self._passages, self._length)
        added, removed = self._added, self._removed
        self.discard()
        self._db.execute("UPDATE collection SET passages = passages + ?, length = length + ?", change)
        for block, lists in added.items():
            self._append(block, lists)
        for block, lists in removed.items():  # last: what goes may have come just before
            self._take_out(block, lists)

    def _append(self, block: int, lists: Mapping[str, "array[int]"]) -> None:
        self._db.executemany(_COUNT, ((term, len(entries)) for term, entries in lists.items()))
        ids = {term: found[0] for term, found in self._terms(lists).items()}
        rows = [(ids[term] << _BLOCKS_BITS | block, entries.tobytes()) for term, entries in lists.items()]
        self._db.executemany(_APPEND, sorted(rows))

    def _take_out(self, block: int, lists: Mapping[str, set[int]]) -> None:
        gone = {i << _BLOCKS_BITS | block: lists[term] for term, (i, _) in self._terms(lists).items()}
        fewer = ((len(numbers), place >> _BLOCKS_BITS) for place, numbers in gone.items())
        self._db.executemany("UPDATE terms SET frequency = frequency - ? WHERE id = ?", fewer)
        kept: list[tuple[bytes, int]] = []
        emptied: list[tuple[int]] = []
        for place, held in self._in("place, entries FROM postings WHERE place", gone):
            entries = array("I", (e for e in array("I", held) if number_of(block, e) not in gone[place]))
            if entries:
                kept.append((entries.tobytes(), place))
            else:
                emptied.append((place,))
        self._db.executemany("UPDATE postings SET entries = ? WHERE place = ?", kept)
        self._db.executemany("DELETE FROM postings WHERE place = ?", emptied)

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
        found = self._in("term, id, frequency FROM terms WHERE term", terms)
        return {term: (i, frequency) for term, i, frequency in found}

    def _in(self, query: str, values: Iterable[str] | Iterable[int]) -> Iterator[tuple[Any, ...]]:
        """The rows of SELECT `query` IN `values`, however many these are."""
        wanted = list(values)
        for first in range(0, len(wanted), _AT_ONCE):
            some = wanted[first : first + _AT_ONCE]
            marks = ",".join("?" * len(some))
            yield from self._db.execute(f"SELECT {query} IN ({marks})", some)


def _range(identifier: int) -> tuple[int, int]:
    return identifier << _BLOCKS_BITS, (identifier + 1 << _BLOCKS_BITS) - 1
