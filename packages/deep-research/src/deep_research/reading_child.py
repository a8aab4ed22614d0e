"""Read a document in a worker within limits; see `isolated_reading`."""

import os
from pathlib import PurePath
from typing import NamedTuple

from deep_research import registry
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.ports import Reader
from deep_research.protocol.media_type import signed_media_type
from deep_research.worker_child import Limits, limited

_SNIFFED = 8192
_MEGABYTE = 1_000_000
_MOST_TEXT = 64 * 2**20
"""Characters of a document, which the program holds while it is indexed, twice for a moment; as many as a file has bytes."""
_TEXTS = frozenset({"html", "plain", "jsonl", "table"})
"""Formats that are read as they lie: an honest page of 2 MB takes 2 s."""
NO_TEXT = "no text"  # what is said of a file without any, and of pages of a PDF, which may be pictures
MOST_PAGES, _MOST_FOREIGN_PAGES = 100, 20
"""Pages that are read as pictures: of a file of the user's own, and of one that a search has found."""
_SECONDS_PER_PICTURE = 6.0


def limits_of(size: int, format_name: str = "", *, pages: int = MOST_PAGES) -> Limits:
    """Return the limits for a document of `size` bytes; larger files get more.

    For text in pictures the models take 1,100 MB of address space, and each of `pages` 1 to 4 seconds. A byte of a container, which unfolds, may take longer than one of a text; an unknown format counts as a container.
    """
    if format_name == "picture" and registry.reads_pictures():
        return Limits(memory=2_500 * _MEGABYTE, cpu_seconds=_SECONDS_PER_PICTURE * pages)
    start, per_megabyte = (6.0, 1.5) if format_name in _TEXTS else (9.0, 3.0)
    return Limits(memory=200 * _MEGABYTE + 10 * size, cpu_seconds=start + per_megabyte * size / _MEGABYTE)


class FileAnswer(NamedTuple):
    """The outcome of reading a file: its document or why not, and the bytes' mark."""

    document: Document | None
    why: str = ""
    mark: str = ""


def mark_of(about: os.stat_result) -> str:
    """Return a mark of a file's state that differs after any change."""
    return f"{about.st_size}-{about.st_mtime_ns}-{about.st_ctime_ns}"


def refusal(data: bytes, max_bytes: int) -> str:
    """Return why a file with these bytes is not read at all, or ""."""
    if not data:
        return "empty"
    return f"larger than {max_bytes / 1e6:g} MB" if len(data) > max_bytes else ""


def read_file(path: str, max_bytes: int) -> FileAnswer:
    """Read one file in this process, the worker; ended by its format's limits."""
    try:
        with open(path, "rb") as file:
            data, about = file.read(max_bytes + 1), os.fstat(file.fileno())
    except OSError as error:
        return FileAnswer(None, reason_of(error))
    why, document = refusal(data, max_bytes), None
    reader = registry.reader_for(path, data[:_SNIFFED])
    if not why and reader is None:
        found = signed_media_type(data[:_SNIFFED])
        why = f"of a format that is not read: {found}" if found else "of a format that is not read"
    if not why and reader is not None:
        document, why = _read(reader, data, display_name(path))
        if document is not None and not document.text.strip():
            document, why = None, f"{NO_TEXT} in it"
    return FileAnswer(document, why, mark_of(about))


def read_given(reader: str, data: bytes, name: str) -> FileAnswer:
    """Read a document with the named reader in this process, the worker."""
    document, why = _read(registry.component("readers", reader)(), data, name, pages=_MOST_FOREIGN_PAGES)
    return FileAnswer(document, why)


def longest_wait(size: int, reader: str, *, pages: int = _MOST_FOREIGN_PAGES) -> float:
    """Return the seconds until the reader of `size` bytes has certainly been ended."""
    seconds = limits_of(size, reader, pages=pages).wall_seconds
    sees = reader == "pdf" and registry.reads_pictures()
    return seconds + limits_of(size, "picture", pages=pages).wall_seconds if sees else seconds


def display_name(path: str) -> str:
    """Return the last part of a path as text, whatever its bytes are."""
    return os.fsencode(PurePath(path).name).decode("utf-8", "replace")


def reason_of(error: OSError) -> str:
    """Return why a file or folder cannot be opened, in words chosen by error code."""
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


def _read(reader: Reader, data: bytes, name: str, *, pages: int = MOST_PAGES) -> tuple[Document | None, str]:
    """Read a document within its format's limits, then `pages` without text by OCR."""
    reader = registry.component("readers", "picture")(pages) if reader.name == "picture" else reader
    with limited(limits_of(len(data), reader.name, pages=pages)):
        document, why = _read_once(reader, data, name)
    if reader.name == "pdf" and registry.reads_pictures():
        said = document.warnings if document is not None else (why,)
        if any(NO_TEXT in each for each in said):
            return _read(registry.component("readers", "picture")(), data, name, pages=pages)
    return document, why


def _read_once(reader: Reader, data: bytes, name: str) -> tuple[Document | None, str]:
    try:
        document = read_here(reader, data, name)
    except Unreadable as error:
        return None, error.message
    if len(document.text) > (most := min(20 * _MEGABYTE + 4 * len(data), _MOST_TEXT)):
        return None, f"its text is longer than {most // _MEGABYTE} million characters: divide it into several files"
    return document, ""
