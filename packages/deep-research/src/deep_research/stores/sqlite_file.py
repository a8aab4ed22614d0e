"""SQLite files: how to open them, and SQLite's errors in words for the reader."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from deep_research.errors import StoreError
from deep_research.state_files import make_private_file

DAMAGED = "It is damaged: move it away and start again"
_ADVICE = {
    "SQLITE_FULL": "The disk is full: free some space and start again; what was stored before is kept",
    "SQLITE_IOERR": "The disk did not take it, as when it is full: free some space, check it, and start again",
    "SQLITE_NOTADB": "It is not one of our files: name another file, or move this one away",
    "SQLITE_CORRUPT": DAMAGED,
    "SQLITE_CANTOPEN": "It cannot be opened: check that the folder exists and may be written to",
    "SQLITE_READONLY": "It may not be written to: check its permissions",
    "SQLITE_BUSY": "Another process is writing to it: wait for it, or stop it",
}
_CACHES = 40_000_000
"""Bytes that SQLite's caches of all files of the process may take together: each run has three files open, and takes up to
7 MB where nothing else wants them."""
_NO_FTS5 = "The SQLite library of this Python was built without FTS5: use a Python that has it"


def open_database(path: str) -> sqlite3.Connection:
    """Open or create the SQLite file `path`, for its owner alone. Raises StoreError.

    The connection may be used by several threads, one at a time.
    """
    if path != ":memory:":
        make_private_file(path)
    with tell_sqlite_errors(path):
        connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        # Overwriting what is deleted with zeros, the default of some systems, makes every merge of the index dearer.
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute(f"PRAGMA soft_heap_limit = {_CACHES}")
    return connection


@contextmanager
def tell_sqlite_errors(path: str) -> Iterator[None]:
    """Raise SQLite errors in the block as StoreErrors on `path`, with advice."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorname", "") or ""
        advice = next((text for name, text in _ADVICE.items() if code.startswith(name)), "The database failed")
        if "no such module: fts5" in str(error):
            advice = _NO_FTS5
        raise StoreError(f"{path}: {advice} ({error}).", path=path) from error
