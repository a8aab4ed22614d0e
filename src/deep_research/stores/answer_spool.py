"""Answers on their way into a database, in a file of this machine: a process that is killed has not lost them.

A database answers after a round over the network and a write to its disk. A line in a file is safe from the end of its
process as soon as it is written, so the answers of calls are there first; the next process that carries the run out on
this machine takes over what its predecessor left.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from deep_research.state_files import make_private_folder
from deep_research.stores.run_store import StoredCall


class AnswerSpool:
    """The file of one holder of a run; where it cannot be written, the database alone keeps the answers."""

    def __init__(self, folder: Path, run_id: str, fence: int) -> None:
        """`fence` tells the holders of a run apart; @ stands in no run's id."""
        self._folder, self._run_id = folder, run_id
        self._path = folder / f"{run_id}@{fence}.jsonl"
        self._file: int | None = None
        with suppress(OSError):
            make_private_folder(folder)
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append(self, call: StoredCall) -> None:
        """Write a call, in one write of the system."""
        if self._file is not None:
            with suppress(OSError):
                os.write(self._file, json.dumps(call).encode() + b"\n")

    def hand_over(self, take: Callable[[Iterable[StoredCall]], object]) -> None:
        """Give `take` what earlier holders of the run have left; their files are deleted when it returns."""
        left = [path for path in self._folder.glob(f"{self._run_id}@*.jsonl") if path != self._path]
        take(call for path in left for call in _read(path))
        for path in left:
            path.unlink(missing_ok=True)

    def close(self, *, delete: bool) -> None:
        """Close the file, and delete it where the database has all that is in it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
            if delete:
                self._path.unlink(missing_ok=True)


def delete_spools(folder: Path, run_id: str) -> None:
    """Delete what holders of a run have left."""
    for path in folder.glob(f"{run_id}@*.jsonl"):
        path.unlink(missing_ok=True)


def _read(path: Path) -> Iterator[StoredCall]:
    """Yield the calls in a file; a line that a kill has cut short is left out."""
    with suppress(OSError):
        for line in path.read_bytes().splitlines():
            with suppress(ValueError, TypeError):
                yield StoredCall(*json.loads(line))
