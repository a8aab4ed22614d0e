"""Which files there are below the paths a user names: sorted, each once, without what is no document."""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from deep_research.errors import ConfigError

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
