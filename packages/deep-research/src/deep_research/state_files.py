"""Files and folders of the state folder, owner-only whatever the umask is."""

import os
import secrets
import sqlite3
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30
    """Windows forbids reading what is locked, so a byte far behind the text is."""

    def lock(file: int, *, wait: bool = False) -> None:
        """See below."""
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def lock(file: int, *, wait: bool = False) -> None:
        """Lock an open file for this process until it is closed.

        Raises OSError where another process has it, unless it is to `wait`.
        """
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


OWNERS = "owners"  # the folder of the owners' own state folders, of a server
RUNS = "runs"  # the folder of the runs in the state folder
DOCUMENTS = "documents"  # the folder of the indexes of documents
PAGES = "pages.db"  # the file of the pages that were fetched
SPOOL = "spool"  # the folder of answers on their way into a database
REJECTED = "rejected-documents.txt"  # the file of the documents that ended their reader

_FILE, _FOLDER = 0o600, 0o700
_OTHERS = 0o077


def open_private(path: Path, mode: str) -> IO[str]:
    """Open a text file for writing or appending, owner-only; raise OSError."""
    only_owner = partial(os.open, mode=_FILE)
    file = open(path, mode, encoding="utf-8", errors="surrogatepass", opener=only_owner)  # noqa: SIM115 - handed over
    make_private(path)
    return file


def open_new(path: Path, *, private: bool) -> IO[bytes]:
    """Open a new file, no link, owner-only if `private`, for writing; raise OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, _FILE if private else 0o666), "wb")


def beside(path: Path) -> Path:
    """Return an unpredictable name beside `path`, for the file that replaces it."""
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.tmp")


def make_private_file(path: Path | str) -> None:
    """Make an empty file unless it is there, and keep others from it.

    For databases: SQLite gives its own files (`-wal`, `-shm`) the rights of the database. What cannot be made is left
    for SQLite to report.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, _FILE))
    make_private(Path(path))


def make_private_folder(path: Path) -> None:
    """Make a missing folder and its parents, for the owner alone. Raises OSError."""
    if not path.is_dir():
        if path.parent != path:
            make_private_folder(path.parent)
        path.mkdir(mode=_FOLDER, exist_ok=True)


def make_private(path: Path) -> None:
    """Remove others' access to a file or folder; do nothing where it is not ours."""
    with suppress(OSError):
        mode = path.stat().st_mode & 0o777
        if mode & _OTHERS:
            path.chmod(mode & ~_OTHERS)


def is_damage(error: BaseException | None) -> bool:
    """Tell whether an error means that the file is damaged, foreign or no database."""
    code = getattr(error, "sqlite_errorname", "") or ""
    return isinstance(error, sqlite3.Error) and (
        code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "no such column" in str(error)
    )


def set_aside(path: Path) -> None:
    """Rename a damaged database to `….damaged`, in place of an earlier one."""
    with suppress(OSError):
        path.replace(path.with_name(f"{path.name}.damaged"))
    for suffix in ("-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink()
