"""Find the files below the paths a user names, and read them into documents, here or in a child process."""

import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path, PurePath
from typing import NamedTuple

from deep_research.data import Document
from deep_research.errors import ConfigError, Unreadable
from deep_research.isolated_reading import CRASHED, ReadingProcess, read_bytes
from deep_research.ports import Reader
from deep_research.reading_child import display_name, open_file, reason_of, refusal

_SKIPPED_FOLDERS = frozenset(("CVS", "_darcs", "node_modules", "__pycache__", "__MACOSX"))
# What lies in folders of documents without being one. A file that the user names himself is always tried.
_NO_DOCUMENT = frozenset((
    ".css", ".js", ".mjs", ".ts", ".map", ".py", ".pyc", ".pyi", ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".go",
    ".rs", ".rb", ".sh", ".ipynb", ".so", ".o", ".a", ".dll", ".exe", ".class", ".jar", ".lock", ".tmp", ".bak", ".swp",
    ".png", ".jpg", ".jpeg", ".gif", ".svg", ".svgz", ".webp", ".ico", ".bmp", ".tif", ".tiff", ".ttf", ".otf", ".woff",
    ".woff2", ".eot", ".mp3", ".mp4", ".m4a", ".wav", ".ogg", ".webm", ".avi", ".mov", ".inv", ".buildinfo", ".devhelp",
    ".db", ".sqlite", ".sqlite3", ".pickle", ".pkl", ".npy", ".npz",
))  # fmt: skip
# Generated lists of links: what they lead to is read itself.
_GENERATED_INDEX = ("genindex", "py-modindex", "search.html", "bookindex.html")


class File(NamedTuple):
    """A file to read. `location` is its path relative to the folder that the user named."""

    path: Path
    location: str
    size: int
    mtime_ns: int

    @property
    def url(self) -> str:
        """The `file:` address, which is also what names the document."""
        return self.path.as_uri()


class Problem(NamedTuple):
    """Something that cannot be read, and why."""

    location: str
    why: str


def walk(paths: Sequence[Path]) -> Iterator[File | Problem]:
    """Yield every file below `paths` once, in a fixed order.

    Links are followed as long as they lead to something below one of `paths`; loops end. What the system makes up
    (/proc, /sys, /dev) is never entered, neither by a link nor by its own name.

    Raises ConfigError for a path that does not exist or belongs to the system.
    """
    named = [path.expanduser() for path in paths]
    for path in named:
        if not path.exists():
            raise ConfigError(f"there is no file or folder {str(path)!r}", setting="docs", value=str(path))
        if _is_of_system(path.resolve()):
            message = f"{str(path)!r} belongs to the system and holds no documents"
            raise ConfigError(message, setting="docs", value=str(path))
    walked = _Walk([path.resolve() for path in named])
    for path in named:
        whole = path.resolve()
        yield from walked.folder(whole) if whole.is_dir() else walked.file(whole, path.name)


_SYSTEM = ("/proc", "/sys", "/dev")


def _is_of_system(path: Path) -> bool:
    """Tell whether the kernel makes this up: it lies in one of its folders, or on a file system like theirs."""
    if any(path.is_relative_to(folder) for folder in _SYSTEM):
        return True
    with suppress(OSError):
        return path.stat().st_dev in _system_devices()
    return False


@cache
def _system_devices() -> frozenset[int]:
    devices: set[int] = set()
    for folder in _SYSTEM:
        with suppress(OSError):
            devices.add(os.stat(folder).st_dev)
    with suppress(OSError):  # a system without file systems of their own for these
        devices.discard(os.stat("/").st_dev)
    return frozenset(devices)


class _Walk:
    """A way through the named files and folders that meets nothing twice."""

    def __init__(self, named: Sequence[Path]) -> None:
        self._named = named
        self._seen: set[tuple[int, int]] = set()

    def folder(self, root: Path) -> Iterator[File | Problem]:
        """Yield what is below `root`, which is no link."""
        pending = [root]
        while pending:
            folder = pending.pop()
            try:
                if self._is_known(folder.stat()):
                    continue
                names = sorted(os.listdir(folder))
            except OSError as error:
                yield Problem(_shown(folder, root), reason_of(error))
                continue
            generated = "objects.inv" in names or "searchindex.js" in names
            folders: list[Path] = []
            for name in names:
                path = folder / name
                if name.startswith((".", "_") if generated else ".") or name in _SKIPPED_FOLDERS:
                    continue
                if why := self._refusal(path):
                    yield Problem(_shown(path, root), why)
                elif path.is_dir():
                    folders.append(path)
                elif _suffix(name) not in _NO_DOCUMENT and not name.startswith(_GENERATED_INDEX):
                    yield from self.file(path, _shown(path, root))
            pending.extend(reversed(folders))

    def file(self, path: Path, location: str) -> Iterator[File | Problem]:
        """Yield a file, unless it was met before or is none."""
        try:
            about = path.stat()
        except OSError as error:
            yield Problem(location, reason_of(error))
            return
        # Opening a pipe or a device would wait for ever; two names of one file are one document.
        if stat.S_ISREG(about.st_mode) and not self._is_known(about):
            yield File(path, location, about.st_size, about.st_mtime_ns)

    def _is_known(self, about: os.stat_result) -> bool:
        """Tell whether this file or folder was met before; from now on it was."""
        identity = (about.st_dev, about.st_ino)
        if identity in self._seen:
            return True
        self._seen.add(identity)
        return False

    def _refusal(self, path: Path) -> str:
        """Return why something in a folder is not entered, or ""."""
        is_link = path.is_symlink()
        if not is_link and not os.path.ismount(path):
            return ""
        try:
            target = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return ""  # a link to nothing, or a loop: said when it is opened
        if _is_of_system(target):
            return "it belongs to the system and holds no documents"
        if is_link and not any(target == named or target.is_relative_to(named) for named in self._named):
            return "it is a link that leads out of the named folder; name its target with --docs to have it read"
        return ""


def _suffix(name: str) -> str:
    return os.path.splitext(name.lower().removesuffix(".gz"))[1]


def _shown(path: Path, root: Path) -> str:
    relative = path.relative_to(root)
    return os.fsencode(relative).decode("utf-8", "replace") if path != root else path.name


ReaderFor = Callable[[str | PurePath, bytes], Reader | None]
SECONDS_PER_FILE = 120.0
_SNIFFED = 8192
_REQUESTS_AHEAD = 16


class Reading(NamedTuple):
    """What became of one file: a document, or why there is none. Size and time are those of the read bytes."""

    path: str
    document: Document | None
    why: str = ""
    size: int = 0
    mtime_ns: int = 0


def read_file(path: str, reader_for: ReaderFor, max_bytes: int) -> Reading:
    """Read one file; every failure is in the result, none is raised."""
    try:
        data, about = open_file(path, max_bytes)
    except OSError as error:
        return Reading(path, None, reason_of(error))
    document, why = _document(path, data, reader_for, max_bytes)
    return Reading(path, document, why, about.st_size, about.st_mtime_ns)


def _document(path: str, data: bytes, reader_for: ReaderFor, max_bytes: int) -> tuple[Document | None, str]:
    if why := refusal(data, max_bytes):
        return None, why
    reader = reader_for(path, data[:_SNIFFED])
    if reader is None:
        return None, "of a format that is not read"
    try:
        document = read_bytes(reader, data, name=display_name(path))
    except Unreadable as error:
        return None, error.message
    return (document, "") if document.text.strip() else (None, "no text in it")


def read_one_by_one(paths: Iterable[str], reader_for: ReaderFor, max_bytes: int) -> Iterator[Reading]:
    """Read the files one after another, short texts in this process."""
    return (read_file(path, reader_for, max_bytes) for path in paths)


def read_in_child(paths: Iterable[str], max_bytes: int, *, seconds: float = SECONDS_PER_FILE) -> Iterator[Reading]:
    """Read the files in another process, in order; one that crashes or takes longer than `seconds` is given up.

    That process reads ahead while the caller works on what it was given.

    Raises OSError when no process can be started.
    """
    waiting = deque(paths)
    while waiting:
        process = ReadingProcess()
        try:
            yield from _answers(process, waiting, max_bytes, seconds)
        finally:
            process.close()


def _answers(process: ReadingProcess, waiting: deque[str], max_bytes: int, seconds: float) -> Iterator[Reading]:
    """Take files off `waiting` and read them; ends when the process can be given no more."""
    asked = 0
    while waiting and process.is_usable:
        for path in islice(waiting, asked, _REQUESTS_AHEAD):
            process.send({"path": path, "max_bytes": max_bytes})
        asked = min(len(waiting), _REQUESTS_AHEAD) - 1
        answer = process.answer(seconds)
        path = waiting.popleft()
        if answer is None:
            yield _given_up(path, CRASHED)
        else:
            document = answer.pop("document")
            yield Reading(path, Document.model_validate(document) if document else None, **answer)


def _given_up(path: str, why: str) -> Reading:
    try:
        about = Path(path).stat()
    except OSError:
        return Reading(path, None, why)
    return Reading(path, None, why, about.st_size, about.st_mtime_ns)
