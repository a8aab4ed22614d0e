"""List the files below the user's folders, each once, and what is passed over."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from deep_research.errors import ConfigError
from deep_research.reading_child import mark_of, reason_of

_SKIPPED_FOLDERS = ("CVS", "_darcs", "node_modules", "__pycache__", "__MACOSX")
_GENERATED_INDEX = ("genindex", "py-modindex", "search.html", "bookindex.html", "searchindex.js", "objects.inv")
_SYSTEM = ("/proc", "/sys", "/dev")
# What systems and offices put beside files: marks of downloads, pictures of folders, locks (._name and .DS_Store are hidden).
_BESIDE_FILES = re.compile(r".*:Zone\.Identifier|~\$.*|Thumbs\.db|desktop\.ini", re.IGNORECASE)
_HIDDEN = "hidden, or made by a program for itself: passed over; name it with --docs to have it read"


class File(NamedTuple):
    """A file to read; `location` is its path relative to the folder the user named."""

    path: Path
    location: str
    mark: str

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

    Links are followed to what is below one of `paths`. What the system makes up (/proc, /sys, /dev) is never entered.
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
        yield from walked.folder(whole, whole) if whole.is_dir() else walked.file(whole, whole.name)
    for path, root in walked.links:  # which grow on the way; last, because what a link leads to has a name itself
        yield from walked.folder(path, root) if path.is_dir() else walked.file(path, _shown(path, root))


def _is_of_system(path: Path) -> bool:
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
    def __init__(self, named: Sequence[Path]) -> None:
        self.links: list[tuple[Path, Path]] = []
        self._named = named
        self._seen: set[tuple[int, int]] = set()

    def folder(self, start: Path, root: Path) -> Iterator[File | Problem]:
        pending = [start]
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
                try:
                    why = self._refusal(path, generated=generated)
                    is_link, is_folder = path.is_symlink(), path.is_dir()
                except OSError as error:  # a name too long for the system, a folder that may be listed only
                    why, is_link, is_folder = reason_of(error), False, False
                if why:
                    yield Problem(_shown(path, root), why)
                elif is_link:
                    self.links.append((path, root))
                elif is_folder:
                    folders.append(path)
                else:
                    yield from self.file(path, _shown(path, root))
            pending.extend(reversed(folders))

    def file(self, path: Path, location: str) -> Iterator[File | Problem]:
        try:
            about = path.stat()
        except OSError as error:
            yield Problem(location, reason_of(error))
            return
        if not stat.S_ISREG(about.st_mode):  # opening a pipe or a device would wait for ever
            yield Problem(location, "no file: a pipe, a socket or a device")
        elif not self._is_known(about):  # two names of one file are one document
            yield File(path, location, mark_of(about))

    def _is_known(self, about: os.stat_result) -> bool:
        """Tell whether this file or folder was met before; from now on it was."""
        known = (about.st_dev, about.st_ino) in self._seen
        self._seen.add((about.st_dev, about.st_ino))
        return known

    def _refusal(self, path: Path, *, generated: bool) -> str:
        """Return why an entry is not entered, or ""; `generated`: a program's folder."""
        if path.name.startswith((".", "_") if generated else ".") or path.name in _SKIPPED_FOLDERS:
            return _HIDDEN
        if _BESIDE_FILES.fullmatch(path.name) and not path.is_dir():
            return _HIDDEN
        if generated and path.name.startswith(_GENERATED_INDEX):
            return "an index or a form for searching, made by a program: passed over"
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


def _shown(path: Path, root: Path) -> str:
    relative = path.relative_to(root)
    return os.fsencode(relative).decode("utf-8", "replace") if path != root else path.name
