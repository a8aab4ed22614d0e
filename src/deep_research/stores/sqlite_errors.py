"""What SQLite's errors mean for whoever reads them."""

import sqlite3

from deep_research.errors import StoreError


def store_error(error: sqlite3.Error, path: str) -> StoreError:
    """Return the StoreError that says what happened to the file `path` and what to do about it."""
    code = getattr(error, "sqlite_errorname", "") or ""
    advice = {
        "SQLITE_FULL": "The disk is full: free some space and start again; what was stored before is kept",
        "SQLITE_NOTADB": "It is not one of our files: name another file, or move this one away",
        "SQLITE_CORRUPT": "It is damaged: move it away and start again",
        "SQLITE_CANTOPEN": "It cannot be opened: check that the folder exists and may be written to",
        "SQLITE_READONLY": "It may not be written to: check its permissions",
        "SQLITE_BUSY": "Another process is writing to it: wait for it, or stop it",
    }
    says = next((text for name, text in advice.items() if code.startswith(name)), "The database failed")
    return StoreError(f"{path}: {says} ({error}).", path=path)
