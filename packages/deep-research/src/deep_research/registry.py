"""Components by name: our own modules, then entry points of other packages.

A component is a class whose attribute `name` is the name of its module, in one of the folders below, or an entry
point (group `deep_research.readers`, …) that names a class. Modules whose name begins with `_` are parts. A module may
end in the kind of its component (`html_exporter`), so that no two modules of the package have one name; one that holds
several components is listed with their names in `FAMILIES` of its folder.
Listing imports nothing; a component is imported when it is first asked for.
"""

import hashlib
import pkgutil
from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

from deep_research.errors import ConfigError
from deep_research.ports import Reader
from deep_research.protocol.media_type import OCTETS, ZIP, signed_media_type, text_media_type

KINDS = ("exporters", "readers", "sources")
"""The folders that hold components, which are also the ends of the entry points' groups."""

_BINARY_FORMATS = ("application/pdf", "application/epub+zip", "application/vnd.openxmlformats-officedocument.")
"""The beginnings of the formats whose files always begin with bytes that prove it."""
_NOT_READ = (".texi", ".texinfo", ".txi")
"""Ends of names of texts that are all markup; their printed forms are read."""
_SHAPING = (
    "claimcheck.language",
    "claimcheck.text.cleaning",
    "claimcheck.text.sentences",
    "deep_research.protocol.media_type",
    "deep_research.text.document_builder",
    "deep_research.text.passages",
)
"""The modules on which the text of a document and its passages depend."""


@cache
def names(kind: str) -> tuple[str, ...]:
    """Return the sorted names of a kind's components (`readers`, …), importing none."""
    return tuple(sorted({*_own(kind), *_offered(kind)}))


@cache
def component(kind: str, name: str) -> Any:
    """Return a component's class; raise ConfigError if there is none of that name."""
    if module := _own(kind).get(name):
        made = import_module(f"deep_research.{kind}.{module}")
        classes = (one for one in vars(made).values() if isinstance(one, type) and one.__module__ == made.__name__)
        return next(one for one in classes if getattr(one, "name", None) == name)
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
    """Return the reader for a file's name and first bytes (8 KB suffice), or None.

    Unmistakable bytes decide first (a `.pdf` may be a web page), then the suffix, then the look of the text.
    """
    signed = signed_media_type(first_bytes)
    if (signed and signed != ZIP) or str(name).lower().endswith(_NOT_READ):
        return _by_media_type().get(signed or "")
    reader = _by_suffix().get(PurePath(str(name).lower()).suffix)
    if reader is not None and not any(media.startswith(_BINARY_FORMATS) for media in reader.media_types):
        return reader
    looks = text_media_type(first_bytes)
    return reader if looks in (OCTETS, "application/xml") else _by_media_type().get(looks) or reader


def reader_of(media_type: str) -> Reader | None:
    """Return the reader of a media type, or None."""
    return _by_media_type().get(media_type.partition(";")[0].strip().lower())


def suffixes() -> tuple[str, ...]:
    """Return all suffixes that are read, sorted."""
    return tuple(sorted(_by_suffix()))


def formats() -> str:
    """Return the suffixes that are read, but for source code, for a message."""
    code = component("readers", "code").suffixes
    return f"{' '.join(suffix for suffix in suffixes() if suffix not in code)} and source code"


def _own(kind: str) -> dict[str, str]:
    """Return the modules of our own components by the components' names."""
    if kind not in KINDS:
        raise ConfigError(f"no kind of component is called {kind!r}; there are: {', '.join(KINDS)}", value=kind)
    folder = import_module(f"deep_research.{kind}")
    modules = sorted(m.name for m in pkgutil.iter_modules(folder.__path__) if not m.name.startswith("_"))
    families: dict[str, tuple[str, ...]] = getattr(folder, "FAMILIES", {})
    single = f"_{kind.removesuffix('s')}"
    return {name: module for module in modules for name in families.get(module, (module.removesuffix(single),))}


@cache
def _offered(kind: str) -> MappingProxyType[str, metadata.EntryPoint]:
    return MappingProxyType({entry.name: entry for entry in metadata.entry_points(group=f"deep_research.{kind}")})


@cache
def _by_suffix() -> MappingProxyType[str, Reader]:
    return MappingProxyType({suffix: reader for reader in reversed(readers()) for suffix in reader.suffixes})


@cache
def _by_media_type() -> MappingProxyType[str, Reader]:
    return MappingProxyType({media: reader for reader in reversed(readers()) for media in reader.media_types})


@cache
def reads_pictures() -> bool:
    """Return whether text in pictures can be read: the extra `ocr` is installed."""
    return find_spec("rapidocr") is not None


@cache
def readers_version() -> str:
    """Return a digest of the code that reads files; if it changes, files are re-read."""
    digest = hashlib.sha256(bytes(reads_pictures()))
    files = [file for place in import_module("deep_research.readers").__path__ for file in Path(place).glob("*.py")]
    files += [Path(str(import_module(name).__file__)) for name in _SHAPING]
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    for name, entry in sorted(_offered("readers").items()):
        digest.update(f"{name}={entry.value} {entry.dist.version if entry.dist else ''}".encode())
    return digest.hexdigest()[:12]
