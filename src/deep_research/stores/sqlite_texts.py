"""Texts in SQLite: each stored once by its SHA-256, in chunks, so that a passage is read without the rest."""

import sqlite3
import sys
from collections.abc import Iterable

from deep_research.data import Document

SCHEMA = """
CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, length INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS chunks (
  text INTEGER NOT NULL, start INTEGER NOT NULL, body BLOB NOT NULL, UNIQUE (text, start));
"""
_CHUNK = 16_384


class SqliteTexts:
    """Texts in the tables of `SCHEMA`; the caller holds the lock and the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def add(self, document: Document) -> int:
        """Return the number of the document's text, storing it when it is new."""
        sha256, text = document.sha256, document.text
        row = self._db.execute("SELECT id FROM texts WHERE sha256 = ?", (sha256,)).fetchone()
        if row:
            return row[0]
        made = self._db.execute("INSERT INTO texts (sha256, length) VALUES (?, ?)", (sha256, len(text))).lastrowid or 0
        # Bytes, since a text may hold lone surrogates, which SQLite's own text type refuses.
        chunks = (
            (made, start, text[start : start + _CHUNK].encode("utf-8", "surrogatepass"))
            for start in range(0, len(text), _CHUNK)
        )
        self._db.executemany("INSERT INTO chunks VALUES (?, ?, ?)", chunks)
        return made

    def slice(self, text: int, start: int = 0, stop: int | None = None) -> str:
        """Return `text[start:stop]` from the chunks that hold it."""
        first = start - start % _CHUNK
        last = sys.maxsize if stop is None else stop
        query = "SELECT body FROM chunks WHERE text = ? AND start >= ? AND start < ? ORDER BY start"
        bodies = [row[0].decode("utf-8", "surrogatepass") for row in self._db.execute(query, (text, first, last))]
        return "".join(bodies)[start - first : None if stop is None else stop - first]

    def remove_unused(self, texts: Iterable[int]) -> None:
        """Forget those of `texts` that no snapshot has any more."""
        for text in texts:
            if not self._db.execute("SELECT 1 FROM snapshots WHERE text = ? LIMIT 1", (text,)).fetchone():
                self._db.execute("DELETE FROM chunks WHERE text = ?", (text,))
                self._db.execute("DELETE FROM texts WHERE id = ?", (text,))
