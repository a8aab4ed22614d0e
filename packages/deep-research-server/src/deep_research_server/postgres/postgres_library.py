"""A run's library in PostgreSQL: rows for sources and texts, an index in memory.

The index is made of the passages, never the other way round, and a run's library is small: so the database holds no
postings, and ranks exactly as SQLite does. Texts are kept once, by their SHA-256, for all runs: in rows, or in an
object store (S3, Google Cloud Storage, Azure, a folder) by obstore, with the credentials of the machine as the
store's own tools read them (AWS_ACCESS_KEY_ID, …).
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pydantic import TypeAdapter

from deep_research.data import Document, Found, Snapshot, Source
from deep_research.errors import ConfigError, StoreError
from deep_research.state_files import make_private, make_private_folder
from deep_research.stores.run_store import StoredPassage, StoredSnapshot
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research_server.postgres.postgres_database import Database, first_line, to_bytes, to_text

_SETTING = "DEEP_RESEARCH_SNAPSHOTS_URL"
_passages = TypeAdapter(tuple[StoredPassage, ...])
_SOURCES = """
SELECT facts FROM deep_research.sources WHERE run_id = %s AND (%s::text IS NULL OR 's' || number = %s) ORDER BY number"""
_SNAPSHOTS = """
SELECT n.facts, n.passages, n.sha256, t.body FROM deep_research.snapshots n JOIN deep_research.texts t USING (sha256)
WHERE n.run_id = %s AND (%s::text IS NULL OR 's' || n.source = %s) ORDER BY n.number"""
_INSERT_SOURCE = """
INSERT INTO deep_research.sources (run_id, number, facts) VALUES (%s, %s, %s)
ON CONFLICT (run_id, number) DO UPDATE SET facts = excluded.facts"""
_INSERT_SNAPSHOT = """
INSERT INTO deep_research.snapshots (run_id, number, source, sha256, facts, passages) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT DO NOTHING"""
_INSERT_TEXT = """
INSERT INTO deep_research.texts (sha256, body) VALUES (%s, %s)
ON CONFLICT (sha256) DO UPDATE SET sha256 = excluded.sha256"""
"""What is there is held until the end of the transaction: nobody deletes it before its snapshot is there."""


class TextObjects:
    """The texts at an address such as s3://bucket/folder or file:///srv/texts."""

    def __init__(self, url: str) -> None:
        """Open the store at `url`. Raises ConfigError if unsupported or not installed."""
        try:
            import obstore  # noqa: PLC0415 - an extra
            from obstore.store import from_url  # noqa: PLC0415
        except ImportError as error:
            message = "An object store needs the extra `objects`: pip install 'deep-research-server[objects]'."
            raise ConfigError(message, setting=_SETTING) from error
        self._obstore = obstore
        try:
            self._folder = _private_folder(url) if url.startswith("file:") else None
            self._store = from_url(url)
        except Exception as error:
            message = f"{_SETTING} names no object store: {first_line(error)}"
            raise ConfigError(message, setting=_SETTING) from error

    def put(self, sha256: str, data: bytes) -> None:
        """Keep a text; one that is there is the same. Raises StoreError."""
        with _told():
            if self._folder is not None:
                make_private_folder((self._folder / _path(sha256)).parent)
            self._obstore.put(self._store, _path(sha256), data)
            if self._folder is not None:
                make_private(self._folder / _path(sha256))

    def get(self, sha256: str) -> bytes:
        """Return a text. Raises StoreError, also for one that is not what was kept."""
        with _told():
            data = bytes(self._obstore.get(self._store, _path(sha256)).bytes())
        if hashlib.sha256(data).hexdigest() != sha256:
            raise StoreError(f"The text {sha256} of the object store was changed.", path=_SETTING)
        return data

    def delete(self, sha256: str) -> None:
        """Delete a text, also one that is not there. Raises StoreError."""
        with _told(), suppress(FileNotFoundError):
            self._obstore.delete(self._store, _path(sha256))


@cache
def text_objects(url: str) -> TextObjects | None:
    """Return the store at an address, or None for "". Raises ConfigError."""
    return TextObjects(url) if url else None


def _private_folder(url: str) -> Path:
    """Return the folder of an address, made if missing, with private subfolders."""
    folder = Path(url2pathname(urlsplit(url).path))
    make_private_folder(folder)
    for each in folder.glob("[0-9a-f][0-9a-f]"):
        make_private(each)
    return folder


def _path(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}"


def objects_with(sha256: str, objects: TextObjects | None) -> TextObjects:
    """Return the object store of a stored text. Raises StoreError if none is known."""
    if objects is None:
        message = f"The text {sha256} lies in an object store. Set {_SETTING} to where it is."
        raise StoreError(message, path="database")
    return objects


@contextmanager
def _told() -> Iterator[None]:
    """Turn what an object store raises inside the block into StoreError."""
    try:
        yield
    except Exception as error:
        raise StoreError(f"The object store of {_SETTING} failed: {first_line(error)}", path=_SETTING) from error


class PostgresLibrary(SqliteLibrary):
    """A library that stores sources and snapshots before use; see `SqliteLibrary`."""

    def __init__(
        self, database: Database, run_id: str, check: Any, objects: TextObjects | None, shown: str | None
    ) -> None:
        """Open the library; texts go to `objects` if given; `check` raises on a takeover.

        With `shown`, a source or "" for all, it is read alone and not searched: no index is made.
        """
        self._is_shown = shown is not None
        super().__init__(":memory:")
        self._made: list[StoredSnapshot] = []
        self._objects = objects
        self._database, self._run_id, self._check = database, run_id, check
        self._snapshots = 0
        wanted = (run_id, shown or None, shown or None)
        sources = database.rows(_SOURCES, wanted)
        if sources:
            snapshots = [self._read_row(*row) for row in database.rows(_SNAPSHOTS, wanted)]
            super().restore([Source.model_validate_json(facts) for (facts,) in sources], snapshots)
            self._snapshots = len(snapshots)
        self._sources = {source.id for source in self.sources()}

    def _rebuild(self) -> None:
        if self._is_shown:
            self._index.create()  # with nothing in it
        else:
            super()._rebuild()

    def add_source(self, found: Found) -> Source:
        with self._lock:
            source = super().add_source(found)
            if source.id not in self._sources:
                self._keep_sources([source])
            return source

    def add_snapshot(self, source: str, document: Document, *, retrieved_at: str) -> Snapshot:
        with self._lock:
            owner = self.source(source)
            self._made.clear()
            snapshot = super().add_snapshot(source, document, retrieved_at=retrieved_at)
            if self._made:
                self._keep_snapshots(self._made)
                if owner is not None and not owner.title and (titled := self.source(source)) is not None:
                    self._keep_sources([titled])
            return snapshot

    def _insert_snapshot(self, one: StoredSnapshot) -> None:
        super()._insert_snapshot(one)
        self._made.append(one)

    def restore(self, sources: Iterable[Source], snapshots: Iterable[StoredSnapshot]) -> None:
        given, stored = list(sources), list(snapshots)
        super().restore(given, stored)
        self._keep_sources(given)
        self._keep_snapshots(stored)

    def _read_row(self, facts: bytes, passages: str, sha256: str, body: bytes | None) -> StoredSnapshot:
        data = objects_with(sha256, self._objects).get(sha256) if body is None else body
        told = {**json.loads(facts), "text": to_text(data)}
        return StoredSnapshot(Snapshot.model_validate(told), _passages.validate_json(passages))

    def _keep_sources(self, sources: list[Source]) -> None:
        rows = [(self._run_id, int(source.id[1:]), to_bytes(source.model_dump_json())) for source in sources]
        self._database.write(self._check, (_INSERT_SOURCE, rows))
        self._sources.update(source.id for source in sources)

    def _keep_snapshots(self, stored: list[StoredSnapshot]) -> None:
        texts = {o.snapshot.sha256: None if self._objects else to_bytes(o.snapshot.text) for o in stored}
        rows: list[tuple[Any, ...]] = []
        for place, (one, passages) in enumerate(stored, self._snapshots + 1):
            facts = to_bytes(one.model_dump_json(exclude={"text"}))
            rows.append((self._run_id, place, int(one.source[1:]), one.sha256, facts, json.dumps(passages)))

        def keep(connection: Any) -> None:
            self._check(connection)
            with connection.cursor() as cursor:
                cursor.executemany(_INSERT_TEXT, sorted(texts.items()))
                cursor.executemany(_INSERT_SNAPSHOT, rows)
            if self._objects is not None:
                self._keep_objects(connection, self._objects, stored)

        self._database.run(keep, at_once=self._objects is None)
        self._snapshots += len(stored)

    @staticmethod
    def _keep_objects(connection: Any, objects: TextObjects, stored: list[StoredSnapshot]) -> None:
        """Store the texts whose rows have no body in the object store."""
        texts = {one.snapshot.sha256: one.snapshot.text for one in stored}
        query = "SELECT sha256 FROM deep_research.texts WHERE sha256 = ANY(%s) AND body IS NULL"
        for (sha256,) in connection.execute(query, (list(texts),)).fetchall():
            objects.put(sha256, to_bytes(texts[sha256]))

    def remove_source(self, source: str) -> None:
        with self._lock:
            super().remove_source(source)
            gone = [(self._run_id, int(source[1:]))]
            snapshots = "DELETE FROM deep_research.snapshots WHERE run_id = %s AND source = %s"
            sources = "DELETE FROM deep_research.sources WHERE run_id = %s AND number = %s"
            self._database.write(self._check, (snapshots, gone), (sources, gone))
            self._sources.discard(source)
