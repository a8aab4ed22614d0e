"""One process at a time carries a run out: a lock on a file in its folder.

The operating system lets go of the lock when the process that holds it ends, also after kill -9 (flock(2);
LockFileEx through msvcrt on Windows). Looking at a run needs no lock.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deep_research.errors import RunBusy, StoreError

_FAR = 1 << 30
"""Windows forbids reading what is locked, so a byte far behind the text is."""

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def held(path: Path, *, run_id: str) -> Iterator[None]:
    """Hold the lock at `path` inside the block.

    Raises RunBusy, which names the process that holds it, when another process does; StoreError when the file
    cannot be made.
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        message = f"Cannot write {str(path)!r}: {error.strerror}. Check the disk and the rights."
        raise StoreError(message, path=str(path)) from error
    try:
        try:
            _lock(file)
        except (BlockingIOError, PermissionError) as error:
            raise _busy(file, run_id) from error
        _sign(file)
        yield
    finally:
        os.close(file)


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock at `path` at this moment."""
    try:
        with held(path, run_id=""):
            return False
    except RunBusy:
        return True


def _sign(file: int) -> None:
    """Write the number of this process into the lock file; on a full disk the lock holds all the same."""
    try:
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, str(os.getpid()).encode())
    except OSError:
        return


def _busy(file: int, run_id: str) -> RunBusy:
    os.lseek(file, 0, os.SEEK_SET)
    said = os.read(file, 32).decode("ascii", "replace").strip()
    holder = f"process {said}" if said.isdigit() else "another process"
    if said == str(os.getpid()):
        holder += " (this one)"
    message = (
        f"The run {run_id} is being carried out by {holder}. "
        f"Wait until it has ended or stop it; then: deep-research resume {run_id}"
    )
    return RunBusy(message, run_id=run_id, process=int(said) if said.isdigit() else None)
