"""A run's journal in PostgreSQL; each write checks that the run is still held.

A database answers after a round over the network and a write to its disk. A line in a file is safe from the end of its
process as soon as it is written, so the answers of calls are there first (`AnswerSpool`); the next process that carries
the run out on this machine takes over what its predecessor left.
"""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from deep_research.concurrency import keep_soon
from deep_research.errors import StoreError
from deep_research.state_files import make_private_folder
from deep_research.stores.event_log import EventFile, FileTail
from deep_research.stores.journal import SingleFlightJournal, call_key
from deep_research.stores.run_store import StoredCall, StoredNote
from deep_research_server.postgres.postgres_database import Database, to_bytes, to_text

_KEEP = """
INSERT INTO deep_research.calls (run_id, key, kind, request, answer, at, seconds) VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (run_id, key) DO UPDATE SET answer = excluded.answer, at = excluded.at, seconds = excluded.seconds"""
_NOTE = """
INSERT INTO deep_research.notes (run_id, kind, request, answer) VALUES (%s, %s, %s, %s)
ON CONFLICT (run_id, kind, sha256(request)) DO UPDATE SET answer = excluded.answer"""
_NOTES_AT_ONCE = 100


class AnswerSpool:
    """The answer file of one holder of a run; where it fails, the database has them."""

    def __init__(self, folder: Path, run_id: str, fence: int) -> None:
        """`fence` tells the holders of a run apart; @ stands in no run's id."""
        self._folder, self._run_id = folder, run_id
        self._path = folder / f"{run_id}@{fence}.jsonl"
        self._file: EventFile | None = None
        with suppress(OSError, StoreError):
            make_private_folder(folder)
            self._file = EventFile(self._path)

    def append(self, call: StoredCall) -> None:
        """Write a call."""
        if self._file is not None:
            with suppress(StoreError):
                self._file.append(0, json.dumps(call._asdict()))

    def hand_over(self, take: Callable[[Iterable[StoredCall]], object]) -> None:
        """Pass the answers left by earlier holders to `take`, then delete their files."""
        left = [path for path in self._folder.glob(f"{self._run_id}@*.jsonl") if path != self._path]
        take(StoredCall(**json.loads(line)) for path in left for line in FileTail(path).read())
        for path in left:
            path.unlink(missing_ok=True)

    def close(self, *, delete: bool) -> None:
        """Close the file, and delete it where the database has all that is in it."""
        if self._file is not None:
            self._file.close()
            self._file = None
            if delete:
                self._path.unlink(missing_ok=True)


def delete_spools(folder: Path, run_id: str) -> None:
    """Delete what holders of a run have left."""
    for path in folder.glob(f"{run_id}@*.jsonl"):
        path.unlink(missing_ok=True)


class PostgresJournal(SingleFlightJournal):
    """Implements `ports.Journal`; notes are written along with the next stored call."""

    def __init__(self, database: Database, run_id: str, check: Any, spool: AnswerSpool | None = None) -> None:
        """Open the journal; `check` gets each write's connection, raises on a takeover."""
        super().__init__()
        self._spool, self._is_whole = spool, True
        self._database, self._run_id, self._check = database, run_id, check
        self._waiting: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()
        query = "SELECT key FROM deep_research.calls WHERE run_id = %s"
        self._keys = {key for (key,) in database.rows(query, (run_id,))}
        if spool is not None:
            spool.hand_over(self._take_over)

    def _take_over(self, calls: Iterable[StoredCall]) -> None:
        left = {key: call for call in calls if (key := call_key(call.kind, call.request)) not in self._keys}
        self._write(left.values())
        self._keys.update(left)

    def _find(self, key: str) -> str | None:
        query = "SELECT answer FROM deep_research.calls WHERE run_id = %s AND key = %s"
        rows = self._database.rows(query, (self._run_id, key))
        return to_text(rows[0][0]) if rows else None

    def _begin_keeping(self, key: str, call: StoredCall, *, at_once: bool) -> Future[None]:
        del at_once  # the spool is written in every case
        if self._spool is not None:
            self._spool.append(call)
        return keep_soon(self._keep, key, call)

    def _keep(self, key: str, call: StoredCall) -> None:
        try:
            self._write([call])
        except StoreError:
            self._is_whole = False
            raise
        self._keys.add(key)

    def _write(self, calls: Iterable[StoredCall]) -> None:
        """Write calls, and the notes that wait, in one transaction."""
        rows = [
            (self._run_id, call_key(kind, request), kind, to_bytes(request), to_bytes(answer), at, seconds)
            for kind, request, answer, at, seconds in calls
        ]
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        notes = [(self._run_id, kind, to_bytes(asked), to_bytes(answer)) for (kind, asked), answer in waiting.items()]

        try:
            if notes or rows:
                self._database.write(self._check, (_NOTE, notes), (_KEEP, rows))
        except StoreError:
            with self._lock:
                self._waiting = waiting | self._waiting
            raise

    def write_notes(self) -> None:
        """Write the notes that wait, and wait for those that are being written."""
        self.finish_writing()
        self._write([])

    def _note(self, kind: str, request: str, answer: str) -> None:
        with self._lock:
            self._waiting[kind, request] = answer
            full = len(self._waiting) >= _NOTES_AT_ONCE
        if full:
            self._write([])

    def notes(self, kind: str) -> Mapping[str, str]:
        self.write_notes()
        query = "SELECT request, answer FROM deep_research.notes WHERE run_id = %s AND kind = %s ORDER BY number"
        rows = self._database.rows(query, (self._run_id, kind))
        return {to_text(request): to_text(answer) for request, answer in rows}

    def answers(self, kind: str) -> list[str]:
        query = "SELECT answer FROM deep_research.calls WHERE run_id = %s AND kind = %s ORDER BY number"
        return [to_text(answer) for (answer,) in self._database.rows(query, (self._run_id, kind))]

    def calls(self) -> Iterator[StoredCall]:
        query = "SELECT kind, request, answer, at, seconds FROM deep_research.calls WHERE run_id = %s ORDER BY number"
        for kind, request, answer, at, seconds in self._database.rows(query, (self._run_id,)):
            yield StoredCall(kind, to_text(request), to_text(answer), at, seconds)

    def all_notes(self) -> Iterator[StoredNote]:
        self.write_notes()
        query = "SELECT kind, request, answer FROM deep_research.notes WHERE run_id = %s ORDER BY number"
        for kind, request, answer in self._database.rows(query, (self._run_id,)):
            yield StoredNote(kind, to_text(request), to_text(answer))

    def restore(self, calls: Iterable[StoredCall], notes: Iterable[StoredNote]) -> None:
        self._waiting.update({(note.kind, note.request): note.answer for note in notes})
        self._write(calls)

    def close(self) -> None:
        self.write_notes()
        if self._spool is not None:
            self._spool.close(delete=self._is_whole)
