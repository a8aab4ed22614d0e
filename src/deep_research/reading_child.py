"""The child process that reads documents: each within limits of memory, time and output; see `isolated_reading`."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple

from deep_research import registry
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.ports import Reader

_SNIFFED = 8192
_MEGABYTE = 1_000_000
_SWOLLEN = 100 * _MEGABYTE
"""Memory that parsers did not give back, from which the process is replaced: the next document has that much less."""
_TEXTS = frozenset({"html", "plain", "jsonl", "table"})
"""Formats that are read as they lie: an honest page of 2 MB takes 2 s."""


class Limits(NamedTuple):
    """What reading one document may take: bytes of memory, seconds of computing, characters of text."""

    memory: int
    cpu_seconds: float
    characters: int


def limits_of(size: int, format_name: str = "") -> Limits:
    """Return the limits for a document of `size` bytes: a large file needs more than a small one, honest or not.

    A byte of a container, which unfolds, may take longer than one of a text; an unknown format counts as a container.
    """
    start, per_megabyte = (6.0, 1.5) if format_name in _TEXTS else (9.0, 3.0)
    return Limits(
        memory=200 * _MEGABYTE + 10 * size,
        cpu_seconds=start + per_megabyte * size / _MEGABYTE,
        characters=20 * _MEGABYTE + 4 * size,
    )


class FileAnswer(NamedTuple):
    """What became of a file: its document, or why there is none. Size and time are those of the read bytes."""

    document: Document | None
    why: str = ""
    size: int = 0
    mtime_ns: int = 0


def open_file(path: str, max_bytes: int) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a file, at most one more than `max_bytes`, and what is known of it. Raises OSError."""
    with open(path, "rb") as file:
        about = os.fstat(file.fileno())
        return file.read(max_bytes + 1), about


def refusal(data: bytes, max_bytes: int) -> str:
    """Return why a file with these bytes is not read at all, or ""."""
    if not data:
        return "empty"
    return f"larger than {max_bytes / 1e6:g} MB" if len(data) > max_bytes else ""


def read_file(path: str, max_bytes: int) -> FileAnswer:
    """Read one file in this process, which is the child."""
    try:
        data, about = open_file(path, max_bytes)
    except OSError as error:
        return FileAnswer(None, reason_of(error))
    why, document = refusal(data, max_bytes), None
    if not why:
        document, why = _read_limited(registry.reader_for(path, data[:_SNIFFED]), data, display_name(path))
        if document is not None and not document.text.strip():
            document, why = None, "no text in it"
    return FileAnswer(document, why, about.st_size, about.st_mtime_ns)


def display_name(path: str) -> str:
    """Return the last part of a path as text, whatever its bytes are."""
    return os.fsencode(PurePath(path).name).decode("utf-8", "replace")


def reason_of(error: OSError) -> str:
    """Return why a file or folder cannot be opened, in words; by its code, because texts differ between systems."""
    if isinstance(error, PermissionError):
        return "no permission to read it"
    if isinstance(error, FileNotFoundError):
        return "it is a link to nothing, or has just been removed"
    return f"it cannot be opened ({error.strerror or type(error).__name__})"


def read_here(reader: Reader, data: bytes, name: str) -> Document:
    """Read a document in this process. Raises Unreadable, whatever the reader raises."""
    try:
        return reader.read(data, name=name)
    except (Unreadable, MemoryError) as error:
        if isinstance(error.__cause__ or error, MemoryError):
            raise Unreadable("reading it takes too much memory") from error
        raise
    except Exception as error:  # parsers of other people's formats fail in every way
        raise Unreadable(f"broken ({type(error).__name__} in the {reader.name} reader)") from error


def _read_limited(reader: Reader | None, data: bytes, name: str) -> tuple[Document | None, str]:
    """Read a document within its limits; what goes beyond those of time and memory ends this process."""
    if reader is None:
        return None, "of a format that is not read"
    limits = limits_of(len(data), reader.name)
    try:
        with _limited(limits):
            document = read_here(reader, data, name)
    except Unreadable as error:
        return None, error.message
    if len(document.text) > limits.characters:
        return None, f"its text is longer than {limits.characters // _MEGABYTE} million characters"
    return document, ""


@contextmanager
def _limited(limits: Limits) -> Iterator[None]:
    """Let this process take so much memory, beyond what it had when it began, and so much time until the block ends.

    Where the system has no such limits, the waiting time of the parent is the only one.
    """
    if sys.platform == "win32":
        yield
        return
    import resource  # noqa: PLC0415 - not on every system

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if _at_start:
        resource.setrlimit(resource.RLIMIT_AS, (_at_start + limits.memory, most))
    signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)  # its signal ends the process
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _address_space() -> int:
    """Return the bytes of address space of this process; 0 where that is not known."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


_at_start = _address_space()


def _answer_to(request: dict[str, Any], requests: BinaryIO) -> FileAnswer:
    if path := request.get("path"):
        return read_file(path, request["max_bytes"])
    data = requests.read(request["size"])
    document, why = _read_limited(registry.component("readers", request["reader"])(), data, request["name"])
    return FileAnswer(document, why)


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    answers.write(b"ready\n")
    answers.flush()
    for line in requests:
        document, why, size, mtime_ns = _answer_to(json.loads(line), requests)
        values = {"document": document and document.model_dump(), "why": why, "size": size, "mtime_ns": mtime_ns}
        values["swollen"] = _address_space() > _at_start + _SWOLLEN
        answers.write(json.dumps(values).encode() + b"\n")
        answers.flush()


def _main() -> None:
    # What a parser prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not on every system

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it writes to its pipe alone
    _serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    _main()
