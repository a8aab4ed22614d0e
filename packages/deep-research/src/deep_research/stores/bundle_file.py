"""Read a bundle's file, a stranger's ZIP, within limits checked before unpacking."""

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from deep_research.errors import ConfigError

FORMAT = 1
MANIFEST, TEXTS = "manifest.json", "texts/"
LISTS = (
    "events.jsonl", "steers.jsonl", "follow_ups.jsonl", "calls.jsonl", "notes.jsonl", "sources.jsonl",
    "snapshots.jsonl",
)  # fmt: skip
SINGLE = ("run.json", "result.json", "report.md")
_SMALL = (*SINGLE, MANIFEST, "events.jsonl", "steers.jsonl", "follow_ups.jsonl")
_NAME = re.compile("|".join(map(re.escape, (MANIFEST, *LISTS, *SINGLE))) + f"|{TEXTS}[0-9a-f]{{64}}\\.txt")
_MOST_MEMBERS, _MOST_ROWS = 20_000, 200_000
_TYPED = {"steers.jsonl": 1_000, "follow_ups.jsonl": 1_000}
"""The most rows of what a user has typed; each is written by itself."""
_MOST_BYTES, _LARGEST_MEMBER, _LARGEST_SMALL = 1_000_000_000, 256_000_000, 24_000_000
_RATIO, _ALWAYS_UNPACKED = 60, 16_000_000
"""Bytes that each byte of the file may become, and how many may be unpacked whatever the file weighs."""
_MOST_VALUES = 1_000_000
"""Values of one row or member of JSON, each of which becomes an object of 60 bytes and more."""
_PIECE = 1 << 20
DAMAGE = (
    zipfile.BadZipFile, zlib.error, ValidationError, ValueError, LookupError, TypeError, AttributeError, EOFError,
    ArithmeticError, RuntimeError,
)  # fmt: skip
"""What reading a stranger's archive raises: RuntimeError for encrypted members, other packings and deep nesting."""


def reason_of(error: BaseException) -> str:
    """Return why something could not be read, on one line."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:200]
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return " ".join(str(error).split())[:200] or type(error).__name__


class BundleFile:
    """The members of a bundle, held against the manifest before any of them is used.

    Making it raises OSError, ConfigError for what is too large or has an unknown form, and those of `DAMAGE`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("rb")
        try:
            self._zip = zipfile.ZipFile(self._file)
            self._check_sizes()
            told = json.loads(self.read(MANIFEST))
            if told["format"] != FORMAT:
                raise self._refused(f"has the format {str(told['format'])[:20]}; this version reads {FORMAT}")
            self._check_members(dict(told["members"]))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file, also under a list that was read in part."""
        self._file.close()

    def _refused(self, why: str) -> ConfigError:
        return ConfigError(f"{str(self._path)!r} {why}.", setting="bundle", value=str(self._path))

    def _check_sizes(self) -> None:
        infos = self._zip.infolist()
        names = {info.filename for info in infos}
        if odd := next((name for name in names if not _NAME.fullmatch(name)), None):
            raise self._refused(f"is no bundle: it holds {odd[:60]!r}")
        total, packed = sum(info.file_size for info in infos), self._path.stat().st_size
        if len(names) != len(infos) or len(infos) > _MOST_MEMBERS:
            raise self._refused(f"holds {len(infos):,} members; a bundle has {_MOST_MEMBERS:,} at most, each once")
        if total > min(_MOST_BYTES, _ALWAYS_UNPACKED + _RATIO * packed):
            raise self._refused(f"would unpack to {total / 1e6:,.0f} MB, which is too large for a bundle of its size")
        self._texts_left = _ALWAYS_UNPACKED + 2 * sum(i.file_size for i in infos if i.filename.startswith(TEXTS))
        for info in infos:
            if info.file_size > (most := _LARGEST_SMALL if info.filename in _SMALL else _LARGEST_MEMBER):
                raise self._refused(f"holds a member {info.filename} of more than {most / 1e6:,.0f} MB")

    def _check_members(self, hashes: dict[str, str]) -> None:
        for name in (*SINGLE, *LISTS, *(name for name in self._zip.namelist() if name.startswith(TEXTS))):
            digest = hashlib.sha256()
            with self._zip.open(name) as member:
                while piece := member.read(_PIECE):
                    digest.update(piece)
            if digest.hexdigest() != hashes[name]:
                raise self._refused(f"was changed: {name} does not have its hash")

    def read(self, name: str) -> bytes:
        """Return a member. Raises ConfigError for JSON of too many values."""
        return self._bounded(self._zip.read(name), name)

    def _bounded(self, data: bytes, name: str) -> bytes:
        if not name.startswith(TEXTS) and sum(map(data.count, (b",", b"[", b"{"))) > _MOST_VALUES:
            raise self._refused(f"is no bundle: {name} holds more than {_MOST_VALUES:,} values")
        return data

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield rows of a list one at a time; raise ConfigError or `json.loads` errors."""
        with self._zip.open(name) as lines:
            for number, line in enumerate(lines, 1):
                row = json.loads(self._bounded(line, name))
                if number > _TYPED.get(name, _MOST_ROWS) or not isinstance(row, dict):
                    raise self._refused(f"is no bundle: row {number:,} of {name} is one too many, or is no object")
                yield row

    def text(self, sha256: str) -> str:
        """Return the text of this hash; raise ConfigError for another, or too many."""
        data = self.read(f"{TEXTS}{sha256}.txt")
        self._texts_left -= len(data)
        if self._texts_left < 0:
            raise self._refused("is no bundle: it names the same texts again and again")
        if hashlib.sha256(data).hexdigest() != sha256:
            raise self._refused(f"was changed: the text {sha256[:64]} is another")
        return data.decode("utf-8", "surrogatepass")
