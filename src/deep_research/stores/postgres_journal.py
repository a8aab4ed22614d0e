"""The journal of a run in PostgreSQL. Each write checks the fence: who has lost the run to another writes nothing."""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from deep_research.errors import StoreError
from deep_research.stores.journal import SingleFlightJournal, call_key
from deep_research.stores.postgres_database import Database
from deep_research.stores.run_store import StoredCall, StoredNote

_KEEP = """
INSERT INTO deep_research.calls (run_id, key, kind, request, answer, at, seconds) VALUES (%s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (run_id, key) DO UPDATE SET answer = excluded.answer, at = excluded.at, seconds = excluded.seconds"""
_NOTE = """
INSERT INTO deep_research.notes (run_id, kind, request, answer) VALUES (%s, %s, %s, %s)
ON CONFLICT (run_id, kind, request) DO UPDATE SET answer = excluded.answer"""
_NOTES_AT_ONCE = 100


class PostgresJournal(SingleFlightJournal):
    """Implements `ports.Journal`; notes wait for the next call that is kept, so that they cost no round of their own."""

    def __init__(self, database: Database, run_id: str, check: Any) -> None:
        """`check` raises when another process has taken the run over; it is given the connection of each write."""
        super().__init__()
        self._database, self._run_id, self._check = database, run_id, check
        self._waiting: dict[tuple[str, str], str] = {}
        self._lock, self._writing = threading.Lock(), threading.Lock()
        query = "SELECT key FROM deep_research.calls WHERE run_id = %s"
        # Only the process that holds the run adds to them.
        self._keys = {key for (key,) in database.rows(query, (run_id,))}

    def _may_hold(self, key: str) -> bool:
        return key in self._keys

    def _find(self, key: str) -> str | None:
        query = "SELECT answer FROM deep_research.calls WHERE run_id = %s AND key = %s"
        rows = self._database.rows(query, (self._run_id, key))
        return _text(rows[0][0]) if rows else None

    def _keep(self, key: str, kind: str, request: str, answer: str, seconds: float) -> None:
        # First where a kill of this process does not reach it, which takes no wait for the server's disk; then there.
        self._write_calls([StoredCall(kind, request, answer, time.time(), seconds)], on_disk=False)
        self._keys.add(key)
        self._write_notes(flush=True)

    def _write_calls(self, calls: Iterable[StoredCall], *, on_disk: bool) -> None:
        rows = [
            (self._run_id, call_key(c.kind, c.request), c.kind, _bytes(c.request), _bytes(c.answer), c.at, c.seconds)
            for c in calls
        ]

        def write(connection: Any) -> None:
            self._check(connection)
            with connection.cursor() as cursor:
                cursor.executemany(_KEEP, rows)

        self._database.run(write, at_once=True, on_disk=on_disk)

    def write_notes(self) -> None:
        """Write the notes that wait."""
        self._write_notes(flush=False)

    def _write_notes(self, *, flush: bool) -> None:
        """Write the notes that wait; with `flush` what was written before is on the server's disk then."""
        with self._writing:
            with self._lock:
                waiting, self._waiting = self._waiting, {}
            notes = [(self._run_id, kind, request, _bytes(answer)) for (kind, request), answer in waiting.items()]

            def write(connection: Any) -> None:
                self._check(connection)
                connection.execute(
                    "SELECT pg_current_xact_id()"
                )  # the end of a transaction with a number is waited for
                with connection.cursor() as cursor:
                    cursor.executemany(_NOTE, notes)

            try:
                if notes or flush:
                    self._database.run(write, at_once=True)
            except StoreError:
                with self._lock:
                    self._waiting = waiting | self._waiting
                raise

    def note(self, kind: str, request: str, answer: str) -> None:
        with self._lock:
            self._waiting[kind, request] = answer
            full = len(self._waiting) >= _NOTES_AT_ONCE
        if full:
            self.write_notes()

    def notes(self, kind: str) -> Mapping[str, str]:
        self.write_notes()
        query = "SELECT request, answer FROM deep_research.notes WHERE run_id = %s AND kind = %s ORDER BY number"
        return {request: _text(answer) for request, answer in self._database.rows(query, (self._run_id, kind))}

    def count(self, kind: str) -> int:
        query = "SELECT count(*) FROM deep_research.calls WHERE run_id = %s AND kind = %s"
        return self._database.rows(query, (self._run_id, kind))[0][0]

    def answers(self, kind: str) -> list[str]:
        query = "SELECT answer FROM deep_research.calls WHERE run_id = %s AND kind = %s ORDER BY at, number"
        return [_text(answer) for (answer,) in self._database.rows(query, (self._run_id, kind))]

    def calls(self) -> Iterator[StoredCall]:
        query = (
            "SELECT kind, request, answer, at, seconds FROM deep_research.calls WHERE run_id = %s ORDER BY at, number"
        )
        for kind, request, answer, at, seconds in self._database.rows(query, (self._run_id,)):
            yield StoredCall(kind, _text(request), _text(answer), at, seconds)

    def all_notes(self) -> Iterator[StoredNote]:
        self.write_notes()
        query = "SELECT kind, request, answer FROM deep_research.notes WHERE run_id = %s ORDER BY number"
        for kind, request, answer in self._database.rows(query, (self._run_id,)):
            yield StoredNote(kind, request, _text(answer))

    def restore(self, calls: Iterable[StoredCall], notes: Iterable[StoredNote]) -> None:
        self._waiting.update({(note.kind, note.request): note.answer for note in notes})
        self._write_calls(calls, on_disk=True)
        self.write_notes()

    def close(self) -> None:
        self.finish_writing()
        self.write_notes()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")
