"""Read documents in a worker with limits, and remember those that ended it.

The parsers of PDF, office files, books and HTML are other people's code, and a hostile file makes them crash, hang or
swell; our own patterns for plain text can be held up as well. In a worker that costs the file alone.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from deep_research import registry
from deep_research.data import Document
from deep_research.errors import ResearchError, Stopped, Unreadable, WorkTooLarge
from deep_research.ports import Reader
from deep_research.reading_child import FileAnswer, longest_wait, read_given, read_here
from deep_research.state_files import open_private
from deep_research.worker_pool import call_in_worker

CRASHED = "reading it crashed, or took too much memory or time"
"""Why a document has no text whose reader did not answer."""


class RejectedDocuments:
    """Documents by SHA-256 that ended this version's readers, in a file or memory."""

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


_REJECTED = RejectedDocuments()  # those of this process, where no file is given


def read_bytes(
    reader: Reader,
    data: bytes,
    *,
    name: str,
    rejected: RejectedDocuments | None = None,
    read: Callable[[str, bytes, str], FileAnswer] = read_given,
) -> Document:
    """Return the document that `reader` makes of `data` in a worker, by `read`.

    A reader that is none of the registry's works in this process. Raises Unreadable, also for what ended its reader,
    then or earlier (`rejected`), and Stopped.
    """
    if reader.name not in registry.names("readers") or type(reader) is not registry.component("readers", reader.name):
        return read_here(reader, data, name)
    rejected = _REJECTED if rejected is None else rejected
    if why := rejected.reason(data):
        raise Unreadable(why)
    seconds = longest_wait(len(data), reader.name)
    try:
        answer = call_in_worker(read, reader.name, data, name, returns=FileAnswer, limits=seconds)
    except WorkTooLarge as error:
        rejected.add(data, CRASHED)
        raise Unreadable(CRASHED) from error
    except Stopped:
        raise
    except ResearchError as error:
        raise Unreadable(error.message) from error
    if answer.document is None:
        raise Unreadable(answer.why)
    return answer.document
