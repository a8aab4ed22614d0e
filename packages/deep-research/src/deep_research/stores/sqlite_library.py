"""The library of a run in one SQLite file; each text is stored once by SHA-256."""

import json
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from deep_research.concurrency import COMPUTING
from deep_research.data import Document, Found, Passage, PassageHit, Snapshot, Source
from deep_research.data.noun import copy_fields
from deep_research.errors import StoreError
from deep_research.safe_text import mask_in_place, mask_known, safe_noun, safe_text
from deep_research.search.passage_search import Text, search
from deep_research.search.term_index import VERSION, TermIndex
from deep_research.stores.run_store import StoredPassage, StoredSnapshot
from deep_research.stores.sqlite_file import open_database, tell_sqlite_errors
from deep_research.text.passages import cut_passages

_CHUNK = 16_384
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sources (
  number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, title TEXT NOT NULL, facts TEXT NOT NULL,
  passages INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS snapshots (
  id INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER NOT NULL, text INTEGER NOT NULL, facts TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS snapshots_of_source ON snapshots (source);
CREATE INDEX IF NOT EXISTS snapshots_of_text ON snapshots (text);
CREATE TABLE IF NOT EXISTS passages (
  number INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  snapshot INTEGER NOT NULL, text INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
  page INTEGER, heading TEXT NOT NULL, current INTEGER NOT NULL DEFAULT 1, UNIQUE (source, ordinal));
CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, length INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS chunks (
  text INTEGER NOT NULL, start INTEGER NOT NULL, body BLOB NOT NULL, UNIQUE (text, start));
"""
_PASSAGE = (
    "SELECT p.source, p.ordinal, t.sha256, p.start, p.stop, p.page, p.heading, p.text, s.title"
    " FROM passages p JOIN texts t ON t.id = p.text JOIN sources s ON s.number = p.source"
)
_INSERT_PASSAGE = (
    "INSERT INTO passages (source, ordinal, snapshot, text, start, stop, page, heading) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_SOURCE_ID = re.compile(r"s([1-9][0-9]{0,15})")
_PASSAGE_ID = re.compile(r"s([1-9][0-9]{0,15})p([1-9][0-9]{0,15})")
_SEEN = 5_000
_MOST_TITLE = 1_000
_P = ParamSpec("_P")
_T = TypeVar("_T")


def _guarded(method: Callable[Concatenate["SqliteLibrary", _P], _T]) -> Callable[Concatenate["SqliteLibrary", _P], _T]:
    """Run a method under the lock, with SQLite's errors translated."""

    @wraps(method)
    def guarded(self: "SqliteLibrary", *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with self._lock, tell_sqlite_errors(self._path):
            return method(self, *args, **kwargs)

    return guarded


class _Stretches(Mapping[int, tuple[str, str]]):
    """Texts and headings of passages by number, each cut out of the whole when asked."""

    def __init__(self, whole: str, stretches: Mapping[int, tuple[int, int, str]]) -> None:
        self._whole, self._stretches = whole, stretches

    def __getitem__(self, number: int) -> tuple[str, str]:
        start, stop, heading = self._stretches[number]
        return self._whole[start:stop], heading

    def __iter__(self) -> Iterator[int]:
        return iter(self._stretches)

    def __len__(self) -> int:
        return len(self._stretches)


class SqliteLibrary:
    """Implements `ports.Library` in the file `path` (":memory:" for none)."""

    def __init__(self, path: Path | str) -> None:
        self._path = str(path)
        self._lock = threading.RLock()
        self._depth = 0
        self._owners: dict[str, Source] = {}
        self._seen: dict[str, Passage] = {}
        self._at: dict[int, Passage] = {}
        self._db = open_database(self._path)
        self._index = TermIndex(self._db)
        self._open()

    @_guarded
    def _open(self) -> None:
        self._db.execute("PRAGMA cache_size = -32000")
        if not self._is_current():  # a reader need not wait for a writer
            with self._transaction():
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                if not self._is_current():
                    self._rebuild()

    def _is_current(self) -> bool:
        """Return whether the tables are there, and the index is of this version."""
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            return False
        return self._db.execute("SELECT value FROM meta WHERE name = 'index'").fetchone() == (VERSION,)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run a transaction, or inside another one a savepoint, so that parts may fail."""
        outer = self._depth == 0
        self._db.execute("BEGIN IMMEDIATE" if outer else "SAVEPOINT part")
        self._depth += 1
        try:
            yield
            if outer:
                self._index.flush()
            self._db.execute("COMMIT" if outer else "RELEASE part")
        except BaseException:
            self._forget()
            if outer:
                self._index.discard()
            if self._db.in_transaction:  # a full disk may have ended it already
                self._db.execute("ROLLBACK" if outer else "ROLLBACK TO part")
            raise
        finally:
            self._depth -= 1

    def _rebuild(self) -> None:
        """Rebuild the whole index from the current passages, its only source."""
        self._index.create()
        # In order of the passages' numbers, which within one source follow each other.
        order = "SELECT source FROM passages WHERE current GROUP BY source ORDER BY min(number)"
        for (source,) in self._db.execute(order).fetchall():
            self._index.add(*self._indexed(source))
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('index', ?)", (VERSION,))

    @contextmanager
    def batch(self) -> Iterator[None]:
        with self._lock, tell_sqlite_errors(self._path), self._transaction():
            yield

    @_guarded
    def add_source(self, found: Found) -> Source:
        key = mask_known(found.key)
        with self._transaction():
            row = self._db.execute("SELECT number, facts FROM sources WHERE key = ?", (key,)).fetchone()
            if row:
                return _source(*row)
            named = {"title": _one_line(found.title), "location": _one_line(found.location)}
            authors = tuple(_one_line(author) for author in found.authors)
            made = safe_noun(copy_fields(Source, found, id="", authors=authors, **named), safe=mask_known)
            facts = made.model_dump_json(exclude={"id"})
            insert = "INSERT INTO sources (key, title, facts) VALUES (?, ?, ?)"
            number = self._db.execute(insert, (key, named["title"], facts)).lastrowid
            return _source(number or 0, facts)

    @_guarded
    def add_snapshot(self, source: str, document: Document, *, retrieved_at: str) -> Snapshot:
        number, document = _number(source), safe_noun(document, safe=mask_in_place)
        with self._transaction():
            if self.source(source) is None:
                raise StoreError(f"{self._path}: There is no source {source} in this library.", path=self._path)
            sha256 = document.sha256
            if (old := self._newest(source, sha256)) is not None:
                return old
            gone = self._indexed(number)
            self._give_title(source, document.title)
            snapshot = copy_fields(Snapshot, document, sha256=sha256, source=source, retrieved_at=retrieved_at)
            (made,) = self._db.execute("SELECT passages FROM sources WHERE number = ?", (number,)).fetchone()
            with COMPUTING:
                pieces = enumerate(list(cut_passages(document)), made + 1)
            passages = tuple(StoredPassage(n, p.start, p.end, p.page, p.heading) for n, p in pieces)
            self._insert_snapshot(StoredSnapshot(snapshot, passages))
            # The index last, when nothing of the document can fail any more.
            self._index.remove(*gone)
            self._index.add(*self._indexed(number, document.text))
            return snapshot

    def _insert_snapshot(self, one: StoredSnapshot) -> None:
        """Store a snapshot with its passages, as the newest of its source."""
        number = _number(one.snapshot.source)
        self._db.execute("UPDATE passages SET current = 0 WHERE source = ?", (number,))
        text = self._add_text(one.snapshot.sha256, one.snapshot.text)
        facts = one.snapshot.model_dump_json(exclude={"text", "source"})
        insert = "INSERT INTO snapshots (source, text, facts) VALUES (?, ?, ?)"
        row = self._db.execute(insert, (number, text, facts)).lastrowid
        pieces = [(number, p.ordinal, row, text, p.start, p.stop, p.page, p.heading) for p in one.passages]
        self._db.executemany(_INSERT_PASSAGE, pieces)
        last = max((p.ordinal for p in one.passages), default=0)
        self._db.execute("UPDATE sources SET passages = max(passages, ?) WHERE number = ?", (last, number))

    def _add_text(self, sha256: str, text: str) -> int:
        """Return the number of a text, storing it when it is new."""
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

    def _slice(self, text: int, start: int = 0, stop: int | None = None) -> str:
        """Return `text[start:stop]` of a stored text from the chunks that hold it."""
        first = start - start % _CHUNK
        last = sys.maxsize if stop is None else stop
        query = "SELECT body FROM chunks WHERE text = ? AND start >= ? AND start < ? ORDER BY start"
        bodies = [row[0].decode("utf-8", "surrogatepass") for row in self._db.execute(query, (text, first, last))]
        return "".join(bodies)[start - first : None if stop is None else stop - first]

    def _give_title(self, source: str, title: str) -> None:
        """Give a source without a title that of its document."""
        owner = self.source(source)
        if owner is None or owner.title or not title:
            return
        owner = self._owners[source] = owner.model_copy(update={"title": _one_line(title)})
        self._db.execute(
            "UPDATE sources SET title = ?, facts = ? WHERE number = ?",
            (owner.title, owner.model_dump_json(exclude={"id"}), _number(source)),
        )

    def _indexed(self, source: int, text: str | None = None) -> tuple[str, Mapping[int, tuple[str, str]]]:
        """Return a source's title, and the text and headings of its passages by number."""
        query = "SELECT number, start, stop, heading, text FROM passages WHERE source = ? AND current"
        rows = self._db.execute(query, (source,)).fetchall()
        if not rows:
            return "", {}
        whole = self._slice(rows[0][4]) if text is None else text
        title = self._db.execute("SELECT title FROM sources WHERE number = ?", (source,)).fetchone()[0]
        return title, _Stretches(whole, {number: (start, stop, heading) for number, start, stop, heading, _ in rows})

    def source(self, source: str) -> Source | None:
        """Return the source of an id, or None; a known one does not wait for the lock."""
        return self._owners.get(source) or self._source(source)

    @_guarded
    def _source(self, source: str) -> Source | None:
        row = self._db.execute("SELECT number, facts FROM sources WHERE number = ?", (_number(source),)).fetchone()
        return self._owners.setdefault(source, _source(*row)) if row is not None else None

    @_guarded
    def sources(self) -> Sequence[Source]:
        rows = self._db.execute("SELECT number, facts FROM sources ORDER BY number").fetchall()
        return [self._owners.get(f"s{n}") or self._owners.setdefault(f"s{n}", _source(n, facts)) for n, facts in rows]

    @_guarded
    def snapshot(self, source: str) -> Snapshot | None:
        return self._newest(source)

    @_guarded
    def is_read(self, source: str) -> bool:
        query = "SELECT 1 FROM snapshots WHERE source = ? LIMIT 1"
        return self._db.execute(query, (_number(source),)).fetchone() is not None

    def _newest(self, source: str, sha256: str | None = None) -> Snapshot | None:
        """Return a source's newest snapshot; None if missing or not of hash `sha256`."""
        query = "SELECT text, facts FROM snapshots WHERE source = ? ORDER BY id DESC LIMIT 1"
        row = self._db.execute(query, (_number(source),)).fetchone()
        if row is None:
            return None
        facts = json.loads(row[1])
        is_same = sha256 in (None, facts["sha256"])
        return Snapshot(source=source, text=self._slice(row[0]), **facts) if is_same else None

    def passage(self, passage: str) -> Passage | None:
        """Return the passage of an id, or None; a known one does not wait for the lock."""
        return self._seen.get(passage) or self._passage(passage)

    @_guarded
    def _passage(self, passage: str) -> Passage | None:
        match = _PASSAGE_ID.fullmatch(passage)
        query = "SELECT number FROM passages WHERE source = ? AND ordinal = ?"
        row = self._db.execute(query, (int(match[1]), int(match[2]))).fetchone() if match else None
        found = self._passage_at(row[0]) if row else None
        return found[0] if found else None

    def _passage_at(self, number: int) -> tuple[Passage, str] | None:
        if known := self._at.get(number):
            owner = self.source(known.source)
            return known, owner.title if owner is not None else ""
        row = self._db.execute(f"{_PASSAGE} WHERE p.number = ?", (number,)).fetchone()
        if row is None:
            return None
        passage = _passage_of(row, self._slice(row[7], row[3], row[4]))
        if len(self._seen) >= _SEEN:
            self._forget()
        self._seen[passage.id] = self._at[number] = passage  # an id means the same stretch for ever
        return passage, row[8]

    def _forget(self) -> None:
        """Forget what was read of the file."""
        self._seen.clear()
        self._at.clear()
        self._owners.clear()

    @_guarded
    def passages(self, source: str) -> Sequence[Passage]:
        rows = self._db.execute(f"{_PASSAGE} WHERE p.source = ? AND p.current ORDER BY p.ordinal", (_number(source),))
        found = rows.fetchall()
        text = self._slice(found[0][7]) if found else ""
        return [_passage_of(row, text[row[3] : row[4]]) for row in found]

    @_guarded
    def search(self, query: str, *, limit: int, sources: Sequence[str] = (), hops: int = 1) -> Sequence[PassageHit]:
        if self._depth:
            self._index.flush()
        known: dict[int, tuple[Passage, str]] = {}

        def read(numbers: Iterable[int]) -> Mapping[int, Text]:
            for number in numbers:
                if number not in known and (found := self._passage_at(number)):
                    known[number] = found
            return {n: Text(known[n][0].text, known[n][1]) for n in numbers if n in known}

        of_source = "SELECT number FROM passages WHERE source = ?"
        rows = [row for source in sources for row in self._db.execute(of_source, (_number(source),))]
        allowed = {number for (number,) in rows} if sources else None
        with COMPUTING:
            found = search(self._index, read, query, limit=limit, hops=hops, allowed=allowed)
        return [PassageHit(passage=known[n][0], score=score, title=known[n][1]) for n, score in found]

    @_guarded
    def remove_source(self, source: str) -> None:
        number = _number(source)
        with self._transaction():
            gone = self._indexed(number)
            self._forget()
            texts = self._db.execute("SELECT DISTINCT text FROM snapshots WHERE source = ?", (number,)).fetchall()
            self._db.execute("DELETE FROM passages WHERE source = ?", (number,))
            self._db.execute("DELETE FROM snapshots WHERE source = ?", (number,))
            self._db.execute("DELETE FROM sources WHERE number = ?", (number,))
            for (text,) in texts:
                if not self._db.execute("SELECT 1 FROM snapshots WHERE text = ? LIMIT 1", (text,)).fetchone():
                    self._db.execute("DELETE FROM chunks WHERE text = ?", (text,))
                    self._db.execute("DELETE FROM texts WHERE id = ?", (text,))
            self._index.remove(*gone)

    def snapshots(self) -> Iterator[StoredSnapshot]:
        with self._lock:
            numbers = [n for (n,) in self._db.execute("SELECT id FROM snapshots ORDER BY id").fetchall()]
        for number in numbers:
            yield self._stored(number)

    @_guarded
    def _stored(self, number: int) -> StoredSnapshot:
        query = "SELECT source, text, facts FROM snapshots WHERE id = ?"
        source, text, facts = self._db.execute(query, (number,)).fetchone()
        snapshot = Snapshot(source=f"s{source}", text=self._slice(text), **json.loads(facts))
        query = "SELECT ordinal, start, stop, page, heading FROM passages WHERE snapshot = ? ORDER BY ordinal"
        return StoredSnapshot(snapshot, tuple(map(StoredPassage._make, self._db.execute(query, (number,)))))

    @_guarded
    def restore(self, sources: Iterable[Source], snapshots: Iterable[StoredSnapshot]) -> None:
        with self._transaction():
            for source in sources:
                facts = source.model_dump_json(exclude={"id"})
                insert = "INSERT INTO sources (number, key, title, facts) VALUES (?, ?, ?, ?)"
                self._db.execute(insert, (_number(source.id), source.key, source.title, facts))
            for one in snapshots:
                self._insert_snapshot(one)
            self._rebuild()

    @_guarded
    def close(self) -> None:
        self._forget()  # whatever still knows this object keeps nothing else
        self._db.close()


def _number(source: str) -> int:
    """Return the number in a source id; 0, which no source has, for what is not one."""
    match = _SOURCE_ID.fullmatch(source)
    return int(match[1]) if match else 0


def _source(number: int, facts: str) -> Source:
    return Source(id=f"s{number}", **json.loads(facts))


def _one_line(text: str) -> str:
    """Return a stranger's name for something on one line, short enough to show."""
    return " ".join(safe_text(text).split())[:_MOST_TITLE]


def _passage_of(row: tuple[Any, ...], text: str) -> Passage:
    """Return the passage in a row of `_PASSAGE`."""
    source, ordinal, sha256, start, stop, page, heading, *_ = row
    ids = {"id": f"s{source}p{ordinal}", "source": f"s{source}", "sha256": sha256}
    return Passage(**ids, start=start, end=stop, text=text, page=page, heading=heading)
