"""Find the files below the paths a user names, and read them into documents, here or in a child process."""

import json
import os
import queue
import stat
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePath
from typing import BinaryIO, NamedTuple

from deep_research import registry
from deep_research.data import Document
from deep_research.errors import ConfigError, Unreadable
from deep_research.ports import Reader

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
    """Yield every file below `paths` once, in a fixed order; links are followed, loops end.

    Raises ConfigError for a path that does not exist.
    """
    seen: set[tuple[int, int]] = set()
    for path in [path.expanduser() for path in paths]:
        if not path.exists():
            raise ConfigError(f"there is no file or folder {str(path)!r}", setting="docs", value=str(path))
        yield from _folder(path.resolve(), seen) if path.is_dir() else _file(path.resolve(), path.name, seen)


def _folder(root: Path, seen: set[tuple[int, int]]) -> Iterator[File | Problem]:
    pending = [root]
    while pending:
        folder = pending.pop()
        try:
            about = folder.stat()
            if (about.st_dev, about.st_ino) in seen:
                continue
            seen.add((about.st_dev, about.st_ino))
            names = sorted(os.listdir(folder))
        except OSError as error:
            yield Problem(_shown(folder, root), _reason(error))
            continue
        generated = "objects.inv" in names or "searchindex.js" in names
        folders: list[Path] = []
        for name in names:
            path = folder / name
            if name.startswith((".", "_") if generated else ".") or name in _SKIPPED_FOLDERS:
                continue
            if path.is_dir():
                folders.append(path)
            elif _suffix(name) not in _NO_DOCUMENT and not name.startswith(_GENERATED_INDEX):
                yield from _file(path, _shown(path, root), seen)
        pending.extend(reversed(folders))


def _file(path: Path, location: str, seen: set[tuple[int, int]]) -> Iterator[File | Problem]:
    try:
        about = path.stat()
    except OSError as error:
        yield Problem(location, _reason(error))
        return
    # Opening a pipe or a device would wait for ever; two names of one file are one document.
    if stat.S_ISREG(about.st_mode) and (about.st_dev, about.st_ino) not in seen:
        seen.add((about.st_dev, about.st_ino))
        yield File(path, location, about.st_size, about.st_mtime_ns)


def _suffix(name: str) -> str:
    return os.path.splitext(name.lower().removesuffix(".gz"))[1]


def _shown(path: Path, root: Path) -> str:
    relative = path.relative_to(root)
    return os.fsencode(relative).decode("utf-8", "replace") if path != root else path.name


def _reason(error: OSError) -> str:
    """Why a file or folder cannot be opened, in words; by its code, because texts differ between systems."""
    if isinstance(error, PermissionError):
        return "no permission to read it"
    if isinstance(error, FileNotFoundError):
        return "it is a link to nothing, or has just been removed"
    return f"it cannot be opened ({error.strerror or type(error).__name__})"


ReaderFor = Callable[[str | PurePath, bytes], Reader | None]
SECONDS_PER_FILE = 120.0
_SNIFFED = 8192
_REQUESTS_AHEAD = 16
_ANSWERS_AHEAD = 4  # each may hold a whole book
_MOMENT = 0.05


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
        with open(path, "rb") as file:
            about = os.fstat(file.fileno())
            data = file.read(max_bytes + 1)
    except PermissionError:
        return Reading(path, None, "no permission to read it")
    except OSError as error:
        return Reading(path, None, f"it cannot be opened ({error.strerror or type(error).__name__})")
    document, why = _document(path, data, reader_for, max_bytes)
    return Reading(path, document, why, about.st_size, about.st_mtime_ns)


def _document(path: str, data: bytes, reader_for: ReaderFor, max_bytes: int) -> tuple[Document | None, str]:
    if not data or len(data) > max_bytes:
        return None, f"larger than {max_bytes / 1e6:g} MB" if data else "empty"
    reader = reader_for(path, data[:_SNIFFED])
    if reader is None:
        return None, "of a format that is not read"
    try:
        document = reader.read(data, name=os.fsencode(PurePath(path).name).decode("utf-8", "replace"))
    except Unreadable as error:
        return None, error.message
    except Exception as error:  # noqa: BLE001 - parsers of other people's formats fail in every way
        return None, f"broken ({type(error).__name__} in the {reader.name} reader)"
    return (document, "") if document.text.strip() else (None, "no text in it")


def read_here(paths: Iterable[str], reader_for: ReaderFor, max_bytes: int) -> Iterator[Reading]:
    """Read the files one after another in this process."""
    return (read_file(path, reader_for, max_bytes) for path in paths)


def read_beside(paths: Iterable[str], max_bytes: int, *, seconds: float = SECONDS_PER_FILE) -> Iterator[Reading]:
    """Read the files in another process, in order; one that crashes or takes longer than `seconds` is given up.

    That process reads ahead while the caller works on what it was given.

    Raises OSError when no process can be started.
    """
    todo = deque(paths)
    while todo:
        child = _Child(max_bytes)
        try:
            yield from child.read(todo, seconds)
        finally:
            child.close()


class _Child:
    """One reading process. Requests and answers are lines of JSON; a thread takes the answers in."""

    def __init__(self, max_bytes: int) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", "deep_research.sources._document_files", str(max_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._lines: queue.Queue[bytes] = queue.Queue(_ANSWERS_AHEAD)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        if self._answer(SECONDS_PER_FILE) != b"ready\n":
            self.close()
            raise OSError("the reading process does not start")

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _answer(self, seconds: float) -> bytes:
        """The next line, or none when the process has ended or takes longer than `seconds`."""
        with suppress(queue.Empty):
            return self._lines.get(timeout=seconds)
        return b""

    def read(self, todo: deque[str], seconds: float) -> Iterator[Reading]:
        """Take files off `todo` and read them; ends after the first that must be given up."""
        asked = 0
        while todo:
            asked = self._ask(todo, asked)
            line = self._answer(seconds)
            path = todo.popleft()
            asked -= 1
            if not line.endswith(b"\n"):
                yield _given_up(path, f"reading it crashed or took longer than {seconds:g} seconds")
                return
            values = json.loads(line)
            document = values.pop("document")
            yield Reading(path, Document.model_validate(document) if document else None, **values)

    def _ask(self, todo: deque[str], asked: int) -> int:
        """Send requests so that some are always waiting, of which `asked` are sent; return how many now are."""
        assert self._process.stdin
        more = list(islice(todo, asked, _REQUESTS_AHEAD))
        with suppress(OSError):  # the process has ended: there will be no answer either
            self._process.stdin.writelines(json.dumps(path).encode() + b"\n" for path in more)
            self._process.stdin.flush()
        return asked + len(more)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        while self._listener.is_alive():  # it may be waiting for room
            self._answer(_MOMENT)
        self._process.communicate()


def _given_up(path: str, why: str) -> Reading:
    try:
        about = Path(path).stat()
    except OSError:
        return Reading(path, None, why)
    return Reading(path, None, why, about.st_size, about.st_mtime_ns)


def _serve(requests: BinaryIO, answers: BinaryIO, max_bytes: int) -> None:
    answers.write(b"ready\n")
    answers.flush()
    for line in requests:
        _, document, why, size, mtime_ns = read_file(json.loads(line), registry.reader_for, max_bytes)
        values = {"why": why, "size": size, "mtime_ns": mtime_ns, "document": document and document.model_dump()}
        answers.write(json.dumps(values).encode() + b"\n")
        answers.flush()


def _main() -> None:
    # What a parser prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _serve(sys.stdin.buffer, answers, int(sys.argv[1]))


if __name__ == "__main__":
    _main()
