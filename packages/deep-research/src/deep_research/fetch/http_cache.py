"""SQLite-cached answers, for a run, or between runs as an HTTP cache (RFC 9111).

What a request sends never varies, so of `Vary` only `*` matters.
"""

import json
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deep_research.errors import StoreError
from deep_research.fetch.addresses import parse_address
from deep_research.fetch.transport import Answer
from deep_research.protocol.http_semantics import parse_http_date
from deep_research.safe_text import mask_known, mask_known_bytes, mask_record
from deep_research.state_files import is_damage, make_private_file, set_aside

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    url TEXT PRIMARY KEY, status INTEGER NOT NULL, headers TEXT NOT NULL, body BLOB NOT NULL,
    at REAL NOT NULL, used REAL NOT NULL, size INTEGER NOT NULL
);
-- The sum of the sizes is asked for with each page: without the index all bodies would be read for it.
CREATE INDEX IF NOT EXISTS answers_used ON answers (used, size)
"""
_PATIENCE_SECONDS = 30.0
_FRESH_MOST = 30 * 86_400.0


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer and when (seconds since 1970) the server gave or confirmed it."""

    answer: Answer
    at: float

    def is_fresh(self, now: float) -> bool:
        return now - self.at < fresh_seconds(self.answer.headers, self.at)

    @property
    def validators(self) -> dict[str, str]:
        headers = self.answer.headers
        pairs = (("If-None-Match", headers.get("etag", "")), ("If-Modified-Since", headers.get("last-modified", "")))
        return {name: value for name, value in pairs if value}


class AnswerStore:
    """Answers by address in one SQLite file; safe across threads."""

    def __init__(self, path: Path | str = "", *, max_bytes: int = 500_000_000) -> None:
        """Open or create the file; "" is temporary, and keeps all. Raises StoreError.

        Over `max_bytes` of bodies those used longest ago are forgotten. A damaged file is set aside.
        """
        self._path = str(path)
        self._most = max_bytes if path else None
        self._lock = threading.Lock()
        try:
            try:
                self._db = self._open()
            except sqlite3.Error as error:
                if not (path and is_damage(error)):
                    raise
                set_aside(Path(path))
                self._db = self._open()
        except sqlite3.Error as error:
            name = repr(self._path) if path else "of this run"
            message = f"The page cache {name} cannot be used: {error}. Check the disk."
            raise StoreError(message, path=self._path) from error

    def _open(self) -> sqlite3.Connection:
        if self._path:
            make_private_file(self._path)
        database = sqlite3.connect(self._path, check_same_thread=False, timeout=_PATIENCE_SECONDS, isolation_level=None)
        try:
            if self._path:
                database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.executescript(_SCHEMA)
            database.execute("SELECT url, status, headers, at, used, size FROM answers LIMIT 1").fetchone()
        except sqlite3.Error:
            database.close()
            raise
        return database

    def get(self, url: str, *, now: float) -> Stored | None:
        """Return an address's stored answer; None if absent or the file is unreadable."""
        at = mask_known(url)
        try:
            with self._lock:
                self._db.execute(f"PRAGMA busy_timeout = {int(_PATIENCE_SECONDS * 1000)}")
                row = self._db.execute("SELECT status, headers, body, at FROM answers WHERE url = ?", (at,)).fetchone()
                if row:
                    self._db.execute("UPDATE answers SET used = ? WHERE url = ?", (now, at))
        except sqlite3.Error as error:
            self._replace(error)
            return None
        if not row:
            return None
        return Stored(Answer(parse_address(url), row[0], json.loads(row[1]), row[2]), row[3])

    def put(self, answer: Answer, *, at: float, patience: float = _PATIENCE_SECONDS) -> bool:
        """Keep an answer; return False where another process wrote for all of `patience`.

        A disk that is full costs the cache alone.
        """
        headers = mask_record(json.dumps(dict(answer.headers)))
        row = (mask_known(answer.address.url), answer.status, headers, mask_known_bytes(answer.body), at, at)
        if not self._lock.acquire(timeout=patience):
            return False
        try:
            self._db.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
            self._db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, len(answer.body)))
            self._forget()
        except sqlite3.Error as error:
            failure = error
        else:
            return True
        finally:
            self._lock.release()
        if getattr(failure, "sqlite_errorname", "") == "SQLITE_BUSY":
            return False
        self._replace(failure)
        return True

    def _replace(self, error: sqlite3.Error) -> None:
        """Set a damaged file aside and continue with an empty one, in memory if needed."""
        if not is_damage(error):
            return
        with self._lock:
            self._db.close()
            if self._path:
                set_aside(Path(self._path))
            try:
                self._db = self._open()
            except sqlite3.Error:
                self._path = ""
                self._db = self._open()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _forget(self) -> None:
        if self._most is None:
            return
        (size,) = self._db.execute("SELECT coalesce(sum(size), 0) FROM answers").fetchone()
        while size > self._most:
            oldest, freed = self._db.execute("SELECT url, size FROM answers ORDER BY used, rowid LIMIT 1").fetchone()
            self._db.execute("DELETE FROM answers WHERE url = ?", (oldest,))
            size -= freed


def may_be_kept(answer: Answer) -> bool:
    """Whether the answer may be kept after the run."""
    is_public = "no-store" not in _cache_control(answer.headers) and answer.headers.get("vary", "").strip() != "*"
    return answer.status == 200 and is_public


def fresh_seconds(headers: Mapping[str, str], at: float) -> float:
    """Return the seconds after `at` for which an answer is fresh (RFC 9111, 4.2)."""
    control = _cache_control(headers)
    if "no-cache" in control:
        return 0.0
    if (age := control.get("max-age", "")).isdecimal():
        spent = headers.get("age", "0")
        return min(float(age), _FRESH_MOST) - (float(spent) if spent.isdecimal() else 0.0)
    if expires := headers.get("expires", ""):
        until = parse_http_date(expires)
        return min(until - at, _FRESH_MOST) if until is not None else 0.0
    if (modified := parse_http_date(headers.get("last-modified", ""))) is not None:
        return min((at - modified) * 0.1, 86_400.0)
    return 0.0


def refreshed(headers: Mapping[str, str]) -> dict[str, str]:
    """Return a 304 answer's headers that replace stored ones (RFC 9111, 4.3.4)."""
    return {name: headers[name] for name in ("cache-control", "expires", "date", "age", "etag") if name in headers}


def _cache_control(headers: Mapping[str, str]) -> dict[str, str]:
    directives: dict[str, str] = {}
    for part in headers.get("cache-control", "").split(","):
        name, _, value = part.strip().partition("=")
        directives[name.strip().lower()] = value.strip().strip('"')
    return directives
