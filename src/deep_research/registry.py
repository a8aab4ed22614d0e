"""Components by name: the modules of our own folders, then what other packages offer as entry points.

A component is a module with a class named `COMPONENT` in one of the folders below, or an entry point
(group `deep_research.readers`, …) that names a class. Modules whose name begins with `_` are parts.
Listing imports nothing; a component is imported when it is first asked for.
"""

import hashlib
import pkgutil
from functools import cache
from importlib import import_module, metadata
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

from deep_research.errors import ConfigError
from deep_research.ports import Reader

KINDS = ("readers", "sources", "exporters")
"""The folders that hold components, which are also the ends of the entry points' groups."""

_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x89PNG", ""), (b"\xff\xd8\xff", ""), (b"GIF8", ""), (b"RIFF", ""), (b"\x7fELF", ""), (b"BZh", ""),
    (b"\xfd7zXZ", ""), (b"7z\xbc\xaf", ""), (b"Rar!", ""), (b"\xd0\xcf\x11\xe0", ""), (b"SQLite format 3", ""),
)  # fmt: skip
_ZIPPED = (
    (b"application/epub+zip", "application/epub+zip"),
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
)
_UNKNOWN = "?"
_SHAPING = ("text.cleaning", "text.document_builder", "text.passages", "text.sentences", "i18n.language")
"""The modules on which the text of a document and its passages depend."""


@cache
def names(kind: str) -> tuple[str, ...]:
    """Return the names of all components of a kind (`readers`, `sources`, `exporters`), sorted; imports none."""
    return tuple(sorted({*_own(kind), *_offered(kind)}))


@cache
def component(kind: str, name: str) -> Any:
    """Return the class of a component. Raises ConfigError when there is none of that name."""
    if name in _own(kind):
        return import_module(f"deep_research.{kind}.{name}").COMPONENT
    if entry := _offered(kind).get(name):
        return entry.load()
    raise ConfigError(
        f"no {kind.removesuffix('s')} {name!r}; there are: {', '.join(names(kind))}", setting=kind, value=name
    )


@cache
def readers() -> tuple[Reader, ...]:
    """Return one reader of each kind, ours first."""
    own = _own("readers")
    ordered = sorted(names("readers"), key=lambda name: (name not in own, name))
    return tuple(component("readers", name)() for name in ordered)


def reader_for(name: str | PurePath, first_bytes: bytes) -> Reader | None:
    """Return the reader for a file of this name that begins with `first_bytes` (8 KB are enough), or None.

    Unmistakable bytes decide first (a `.pdf` may be a web page), then the suffix, then the look of the text.
    """
    magic = _magic(first_bytes)
    if magic == "":
        return None
    if magic:
        return _by_media_type().get(magic)
    suffix = PurePath(str(name).lower()).suffix
    reader = _by_suffix().get(suffix)
    if reader is not None and not _is_binary_format(reader):
        return reader
    return _by_media_type().get(_look(first_bytes)) or reader


def reader_of(media_type: str) -> Reader | None:
    """Return the reader of a media type, or None."""
    return _by_media_type().get(media_type.partition(";")[0].strip().lower())


def suffixes() -> tuple[str, ...]:
    """Return all suffixes that are read, sorted, for messages."""
    return tuple(sorted(_by_suffix()))


def _own(kind: str) -> tuple[str, ...]:
    if kind not in KINDS:
        raise ConfigError(f"no kind of component is called {kind!r}; there are: {', '.join(KINDS)}", value=kind)
    folder = import_module(f"deep_research.{kind}")
    return tuple(sorted(m.name for m in pkgutil.iter_modules(folder.__path__) if not m.name.startswith("_")))


@cache
def _offered(kind: str) -> MappingProxyType[str, metadata.EntryPoint]:
    return MappingProxyType({entry.name: entry for entry in metadata.entry_points(group=f"deep_research.{kind}")})


@cache
def _by_suffix() -> MappingProxyType[str, Reader]:
    return MappingProxyType({suffix: reader for reader in reversed(readers()) for suffix in reader.suffixes})


@cache
def _by_media_type() -> MappingProxyType[str, Reader]:
    return MappingProxyType({media: reader for reader in reversed(readers()) for media in reader.media_types})


def _is_binary_format(reader: Reader) -> bool:
    """Whether files of this format always begin with bytes that `_magic` knows."""
    return any(media == "application/pdf" or media in dict(_ZIPPED).values() for media in reader.media_types)


def _magic(data: bytes) -> str | None:
    """The media type that the first bytes prove; "" for formats that are never read, None when they prove nothing."""
    if data.startswith(b"PK\x03\x04"):
        return next((media for sign, media in _ZIPPED if sign in data), None)
    start = data[:1024].lstrip()
    return next((media for sign, media in _MAGIC if start.startswith(sign)), None)


def _look(data: bytes) -> str:
    """The media type of text by what it looks like; "?" when it is no text or none that is read."""
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html")) or b"<html" in text[:1024]:
        return "text/html"
    if text.startswith(b"<?xml") or (data.count(0) and not data.startswith((b"\xff\xfe", b"\xfe\xff"))):
        return _UNKNOWN
    controls = sum(byte < 9 or 13 < byte < 27 for byte in data)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "text/plain"
    if controls * 100 > len(data):
        return _UNKNOWN
    return "application/x-ndjson" if text.startswith(b'{"') else "text/plain"


@cache
def readers_version() -> str:
    """Return a digest of the code that makes text and passages of a file: what other code read is read again."""
    digest = hashlib.sha256()
    files = [file for place in import_module("deep_research.readers").__path__ for file in Path(place).glob("*.py")]
    files += [Path(str(import_module(f"deep_research.{name}").__file__)) for name in _SHAPING]
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    for name, entry in sorted(_offered("readers").items()):
        digest.update(f"{name}={entry.value} {entry.dist.version if entry.dist else ''}".encode())
    return digest.hexdigest()[:12]
