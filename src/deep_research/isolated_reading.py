"""Read documents in a child process with limits of memory, time and output.

The parsers of PDF, office files, books and HTML are other people's code, and a hostile file makes them crash, hang or
swell. In a child that costs the file alone. Plain text is read by our own code, in this process while it is short.
"""

import atexit
import hashlib
import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from deep_research import registry
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.ports import Reader
from deep_research.reading_child import limits_of, read_here
from deep_research.settings import bare_environment
from deep_research.state_files import open_private

_MODULE = "deep_research.reading_child"
_OWN_FORMATS = frozenset({"plain", "jsonl", "table"})
_SHORT = 100_000
"""Bytes of a text that is read in this process."""
_PROCESSES = 2
_START_SECONDS = 120.0
_MOMENT = 0.05
_ANSWERS_AHEAD = 4  # each may hold a whole book
CRASHED = "reading it crashed, or took too much memory or time"
"""Why a document has no text whose reader did not answer."""
_STOPPED_FROM_OUTSIDE = ("SIGTERM", "SIGINT", "SIGHUP")


def wall_seconds(size: int) -> float:
    """Return how long to wait for a document of `size` bytes on a busy machine."""
    return 30.0 + 4.0 * limits_of(size).cpu_seconds


class RejectedDocuments:
    """The documents that ended their reader, by the SHA-256 of their bytes: none is tried again, in no later run.

    They are lines in the file `path`, each with the version of the readers that failed; None keeps them in memory.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._version = registry.readers_version() if path else ""
        self._reasons: dict[str, str] = {}
        lines: list[str] = []
        with suppress(OSError):
            lines = path.read_text("utf-8", errors="replace").splitlines() if path else []
        for line in lines:
            version, digest, why = (*line.split(" ", 2), "", "")[:3]
            if version == self._version:
                self._reasons[digest] = why

    def reason(self, data: bytes) -> str:
        """Return why this document is not tried again, or ""."""
        return self._reasons.get(hashlib.sha256(data).hexdigest(), "") if self._reasons else ""

    def add(self, data: bytes, why: str) -> None:
        """Remember a document; without a place to write, for this process alone."""
        digest = hashlib.sha256(data).hexdigest()
        self._reasons[digest] = why
        if self._path is not None:
            with suppress(OSError), open_private(self._path, "a") as file:
                file.write(f"{self._version} {digest} {why}\n")


_REJECTED = RejectedDocuments()
"""Those of this process, where no file is given."""


def read_bytes(reader: Reader, data: bytes, *, name: str, rejected: RejectedDocuments | None = None) -> Document:
    """Return the document that `reader` makes of `data`; blocks until it is read.

    A reader that is none of the registry's, and our own on a short text, work in this process; every other one in a
    child. Raises Unreadable, also for what ended its reader, then or earlier (`rejected`).
    """
    if not _is_registered(reader) or (reader.name in _OWN_FORMATS and len(data) <= _SHORT):
        return read_here(reader, data, name)
    rejected = _REJECTED if rejected is None else rejected
    if why := rejected.reason(data):
        raise Unreadable(why)
    try:
        with _process() as process:
            process.send({"reader": reader.name, "name": name, "size": len(data)}, data)
            answer = process.answer(wall_seconds(len(data)))
            ended_by = "" if answer is not None else process.ended_by()
    except OSError as error:
        raise Unreadable(f"no process could be started to read it ({error})") from error
    if answer is None:
        why = CRASHED
        if ended_by not in _STOPPED_FROM_OUTSIDE:
            rejected.add(data, why)
        raise Unreadable(why)
    if answer["document"] is None:
        raise Unreadable(answer["why"])
    return Document.model_validate(answer["document"])


def _is_registered(reader: Reader) -> bool:
    return reader.name in registry.names("readers") and type(reader) is registry.component("readers", reader.name)


class ReadingProcess:
    """A child that reads documents one after another. A thread takes its answers in.

    Raises OSError when it cannot be started.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-P", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=bare_environment(),
        )
        self._lines: queue.Queue[bytes] = queue.Queue(_ANSWERS_AHEAD)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.is_usable = self._line(_START_SECONDS) == b"ready\n"
        """Whether it can be given another document."""
        if not self.is_usable:
            self.close()
            raise OSError("the reading process does not start")

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _line(self, seconds: float) -> bytes:
        """Return the next line, or none when the process has ended or takes longer than `seconds`."""
        with suppress(queue.Empty):
            return self._lines.get(timeout=seconds)
        return b""

    def send(self, request: dict[str, Any], body: bytes = b"") -> None:
        """Ask for a document: `body` with the name of its `reader`, or a file by its `path`."""
        assert self._process.stdin
        with suppress(OSError):  # the process has ended: there will be no answer either
            self._process.stdin.write(json.dumps(request).encode() + b"\n" + body)
            self._process.stdin.flush()

    def answer(self, seconds: float) -> dict[str, Any] | None:
        """Return the next answer, or None when the process has ended or takes longer than `seconds`."""
        line = self._line(seconds)
        answer = json.loads(line) if line.endswith(b"\n") else None
        self.is_usable = answer is not None and not answer.pop("swollen")
        return answer

    def ended_by(self) -> str:
        """Return the name of the signal that ended the process, "" when it has not ended or not by one."""
        with suppress(subprocess.TimeoutExpired, ValueError):
            return signal.Signals(-self._process.wait(1.0)).name
        return ""

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        while self._listener.is_alive():  # it may be waiting for room
            self._line(_MOMENT)
        self._process.communicate()


_idle: list[ReadingProcess] = []
_room = threading.BoundedSemaphore(_PROCESSES)


@contextmanager
def _process() -> Iterator[ReadingProcess]:
    """Lend a process, at most two at once; it is kept for the next document."""
    with _room:
        try:
            process = _idle.pop()
        except IndexError:
            process = ReadingProcess()
        try:
            yield process
        except BaseException:
            process.close()
            raise
        if process.is_usable:
            _idle.append(process)
        else:
            process.close()


def _close_all() -> None:
    while _idle:
        _idle.pop().close()


atexit.register(_close_all)
