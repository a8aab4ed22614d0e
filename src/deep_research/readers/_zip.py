"""What is inside ZIP containers (office files, EPUB), opened with limits."""

import io
import zipfile

from deep_research.errors import Unreadable

MAX_BYTES = 200_000_000
"""The most bytes that all parts may have together when unpacked."""


def open_zip(data: bytes, *, what: str) -> zipfile.ZipFile:
    """Return the opened container. Raises Unreadable when it is broken, encrypted or unpacks to too much."""
    try:
        container = zipfile.ZipFile(io.BytesIO(data))
        parts = container.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise Unreadable(f"the {what} file is broken") from error
    if sum(part.file_size for part in parts) > MAX_BYTES:
        raise Unreadable(f"larger than {MAX_BYTES // 1_000_000} MB when unpacked")
    if any(part.flag_bits & 1 for part in parts):
        raise Unreadable("encrypted; a password is needed")
    return container
