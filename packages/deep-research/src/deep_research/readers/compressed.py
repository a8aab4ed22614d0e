"""Unpack gzip files for the reader of their format, and open ZIPs with limits."""

import io
import zipfile
import zlib

from deep_research import registry
from deep_research.data import Document
from deep_research.errors import Unreadable

_MAX_BYTES = 200_000_000
"""The most bytes that are unpacked, of all parts together; a small file can hold gigabytes of zeros."""
_TOO_LARGE = f"larger than {_MAX_BYTES // 1_000_000} MB when unpacked"


def open_zip(data: bytes, *, what: str) -> zipfile.ZipFile:
    """Open a container; raise Unreadable if broken, encrypted or too large unpacked."""
    try:
        container = zipfile.ZipFile(io.BytesIO(data))
        parts = container.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise Unreadable(f"the {what} file is broken") from error
    if sum(part.file_size for part in parts) > _MAX_BYTES:
        raise Unreadable(_TOO_LARGE)
    if any(part.flag_bits & 1 for part in parts):
        raise Unreadable("encrypted; a password is needed")
    return container


class GzipReader:
    """Reads `name.gz` as `name`."""

    name = "gzip"
    suffixes = (".gz",)
    media_types = ("application/gzip", "application/x-gzip")

    def read(self, data: bytes, *, name: str) -> Document:
        inside = _unpack(data)
        inner = name[:-3] if name.lower().endswith(".gz") else name
        if inside[:2] == b"\x1f\x8b":
            raise Unreadable("compressed twice")
        reader = registry.reader_for(inner, inside[:8192])
        if reader is None:
            raise Unreadable("what is inside is of a format that is not read")
        return reader.read(inside, name=inner)


def _unpack(data: bytes) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while data.startswith(b"\x1f\x8b"):  # behind the last member zeros are ignored, as gzip does
        member = zlib.decompressobj(wbits=31)
        try:
            pieces.append(member.decompress(data, _MAX_BYTES - size + 1))
        except zlib.error as error:
            raise Unreadable("the gzip data is broken") from error
        size += len(pieces[-1])
        if size > _MAX_BYTES:
            raise Unreadable(_TOO_LARGE)
        if not member.eof:
            raise Unreadable("the gzip data ends too early")
        data = member.unused_data
    if not pieces:
        raise Unreadable("no gzip data")
    if data.strip(b"\0"):
        raise Unreadable("something else follows the gzip data")
    return b"".join(pieces)
