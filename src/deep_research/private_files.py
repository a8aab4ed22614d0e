"""Files and folders that their owner alone can read, whatever the umask says."""

import os
from pathlib import Path
from typing import IO

_FILE = 0o600


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, _FILE)


def open_private(path: Path, mode: str, *, errors: str = "surrogatepass") -> IO[str]:
    """Open a text file for writing or appending, readable by its owner alone. Raises OSError."""
    file = open(path, mode, encoding="utf-8", errors=errors, opener=_open_for_owner)  # noqa: SIM115 - handed over
    make_private(path)
    return file


def make_private(path: Path) -> None:
    """Take the rights of others to a file or folder of ours away; on one that is not ours that has no effect."""
    try:
        now = path.stat().st_mode & 0o777
        if now & 0o077:
            path.chmod(now & 0o700)
    except OSError:
        return
