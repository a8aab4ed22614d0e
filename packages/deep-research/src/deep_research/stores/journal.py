"""The journal: outside calls made once, answers stored before use; one on SQLite."""

import asyncio
import hashlib
import json
import threading
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import fields
from pathlib import Path
from typing import Any

from deep_research.concurrency import keep_soon
from deep_research.errors import ResearchError, StoreError
from deep_research.safe_text import mask_record
from deep_research.stores.run_store import StoredCall, StoredJournal, StoredNote
from deep_research.stores.sqlite_file import open_database, tell_sqlite_errors

_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, request TEXT NOT NULL, answer TEXT NOT NULL,
    at REAL NOT NULL, seconds REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS notes (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, request TEXT NOT NULL, answer TEXT NOT NULL, UNIQUE (kind, request)
)
"""
_KEEP = "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?)"
_NOTE = """
INSERT INTO notes (kind, request, answer) VALUES (?, ?, ?)
ON CONFLICT (kind, request) DO UPDATE SET answer = excluded.answer"""
FAILED = "failed"
"""The kind of the notes of failed calls, by kind and request: they fail the same way in a replay."""


class SingleFlightJournal(StoredJournal):
    """A journal that makes each call once, even in parallel (`ports.Journal.call`)."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Future[str]] = {}
        self._begun: dict[str, float] = {}
        self._kept: dict[str, Future[None]] = {}
        self._keys = set[str]()
        """Those of the calls that are kept: only the process that holds the run adds to them."""
        self._keeping = threading.Lock()
        """Answers are kept in the threads that have them."""

    @abstractmethod
    def _find(self, key: str) -> str | None:
        """Return the answer that is kept under a key."""

    @abstractmethod
    def _note(self, kind: str, request: str, answer: str) -> None:
        """Store a note."""

    @abstractmethod
    def _begin_keeping(self, key: str, call: StoredCall, *, at_once: bool) -> Future[None]:
        """Start storing a call; with `at_once` it survives a kill once this returns."""

    async def call(self, kind: str, request: str, make: Callable[[], Awaitable[str]]) -> tuple[str, bool]:
        request = mask_record(request)
        key = call_key(kind, request)
        while (running := self._running.get(key)) is not None:
            try:
                # Shielded: one waiter that is cancelled must not cancel the call of the others.
                return await asyncio.shield(running), True
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not running.cancelled() or (task is not None and task.cancelling()):
                    raise
                # Whoever made the call was cancelled: it is made again, for those who still wait.
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._running[key] = future
        try:
            # Away from the event loop: the file may be waiting for the disk.
            if (kept := self._kept.get(key)) is not None:  # its call was broken off with the answer there
                await asyncio.shield(asyncio.wrap_future(kept))
            known = await asyncio.to_thread(self._find, key) if key in self._keys else None
            answer = await self._made(key, kind, request, make) if known is None else known
            future.set_result(answer)
        except Exception as error:
            future.set_exception(error)
            future.exception()  # seen: waiting for it is optional
            self.note(FAILED, f"{kind} {request}", _as_json(error))
            raise
        except BaseException:
            future.cancel()
            raise
        finally:
            del self._running[key]
        return answer, known is not None

    async def _made(self, key: str, kind: str, request: str, make: Callable[[], Awaitable[str]]) -> str:
        """Make the call and keep its answer, unless `make` has kept it already."""
        self._begun[key] = time.monotonic()
        try:
            answer = mask_record(await make())  # what is gone on with is what is kept
            self._begin(kind, request, answer, at_once=False)
            # Shielded: a task that is cancelled must not take a write back that waits for its thread.
            await asyncio.shield(asyncio.wrap_future(self._kept[key]))
        finally:
            del self._begun[key]
            with self._keeping:
                if (kept := self._kept.get(key)) is not None and kept.done():
                    del self._kept[key]
        return answer

    def keep(self, kind: str, request: str, answer: str) -> None:
        self._begin(kind, mask_record(request), mask_record(answer), at_once=True)

    def note(self, kind: str, request: str, answer: str) -> None:
        self._note(kind, mask_record(request), mask_record(answer))

    def _begin(self, kind: str, request: str, answer: str, *, at_once: bool) -> None:
        """Start storing an answer once; the event loop waits only if `at_once`."""
        key = call_key(kind, request)
        with self._keeping:
            if key not in self._kept:
                seconds = time.monotonic() - self._begun.get(key, time.monotonic())
                call = StoredCall(kind, request, answer, time.time(), seconds)
                self._kept[key] = self._begin_keeping(key, call, at_once=at_once)

    def finish_writing(self) -> None:
        """Wait until what was to be kept is kept, or has failed."""
        wait(list(self._kept.values()))

    def find(self, kind: str, request: str) -> str | None:
        return self._find(call_key(kind, mask_record(request)))

    def count(self, kind: str) -> int:
        return len(self.answers(kind))


class SqliteJournal(SingleFlightJournal):
    """Implements `ports.Journal` in one file."""

    def __init__(self, path: Path | str) -> None:
        """Open or create the journal at `path`; raise StoreError if it is not writable."""
        super().__init__()
        self._path = str(path)
        self._lock = threading.Lock()
        self._db = open_database(self._path)
        with tell_sqlite_errors(self._path):
            self._db.executescript(_SCHEMA)
            self._keys = {key for (key,) in self._db.execute("SELECT key FROM calls")}

    def _find(self, key: str) -> str | None:
        return next((answer for (answer,) in self._rows("SELECT answer FROM calls WHERE key = ?", key)), None)

    def _begin_keeping(self, key: str, call: StoredCall, *, at_once: bool) -> Future[None]:
        if not at_once:
            return keep_soon(self._keep, key, call)
        kept: Future[None] = Future()
        try:
            self._keep(key, call)  # in the thread that has the answer: another one may have to wait for its turn
            kept.set_result(None)
        except StoreError as error:
            kept.set_exception(error)
        return kept

    def _keep(self, key: str, call: StoredCall) -> None:
        with self._lock, tell_sqlite_errors(self._path):
            self._db.execute(_KEEP, (key, *call))
        self._keys.add(key)

    def _note(self, kind: str, request: str, answer: str) -> None:
        with self._lock, tell_sqlite_errors(self._path):
            self._db.execute(_NOTE, (kind, request, answer))

    def _rows(self, query: str, *values: str) -> list[Any]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def notes(self, kind: str) -> Mapping[str, str]:
        return dict(self._rows("SELECT request, answer FROM notes WHERE kind = ? ORDER BY number", kind))

    def answers(self, kind: str) -> list[str]:
        return [answer for (answer,) in self._rows("SELECT answer FROM calls WHERE kind = ? ORDER BY rowid", kind)]

    def calls(self) -> Iterator[StoredCall]:
        query = "SELECT kind, request, answer, at, seconds FROM calls ORDER BY rowid"
        yield from map(StoredCall._make, self._rows(query))

    def all_notes(self) -> Iterator[StoredNote]:
        yield from map(StoredNote._make, self._rows("SELECT kind, request, answer FROM notes ORDER BY number"))

    def restore(self, calls: Iterable[StoredCall], notes: Iterable[StoredNote]) -> None:
        with self._lock, tell_sqlite_errors(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            made = [(call_key(c.kind, c.request), *c) for c in calls]
            self._db.executemany(_KEEP, made)
            self._db.executemany(_NOTE, notes)
            self._db.execute("COMMIT")
            self._keys.update(row[0] for row in made)

    def close(self) -> None:
        self.finish_writing()
        with self._lock:
            self._db.close()


def call_key(kind: str, request: str) -> str:
    """Return the name under which a call is kept."""
    return hashlib.sha256(f"{kind}\0{request}".encode("utf-8", "surrogatepass")).hexdigest()


def _as_json(error: Exception) -> str:
    """Return a failure as JSON: its class and what of its fields is plain."""
    named = fields(error) if isinstance(error, ResearchError) else ()
    plain = {f.name: value for f in named if isinstance(value := getattr(error, f.name), str | int | float | bool)}
    return json.dumps({"error": type(error).__name__, **({"message": str(error)} | plain)})
