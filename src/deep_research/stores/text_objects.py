"""Texts of snapshots in an object store: S3, Google Cloud Storage, Azure, a folder; by obstore, under their SHA-256.

Credentials are those of the machine, as the store's own tools read them (AWS_ACCESS_KEY_ID, …).
"""

import hashlib
from functools import cache

from deep_research.errors import ConfigError, StoreError

_SETTING = "DEEP_RESEARCH_SNAPSHOTS_URL"


class TextObjects:
    """The texts at an address such as s3://bucket/folder or file:///srv/texts."""

    def __init__(self, url: str) -> None:
        """Raises ConfigError for an address that no store has, and without the extra."""
        try:
            import obstore  # noqa: PLC0415 - an extra
            from obstore.store import from_url  # noqa: PLC0415
        except ImportError as error:
            message = "An object store needs the extra `objects`: pip install 'deep-research[objects]'."
            raise ConfigError(message, setting=_SETTING) from error
        self._obstore = obstore
        try:
            self._store = from_url(url, mkdir=True) if url.startswith("file:") else from_url(url)
        except Exception as error:
            message = f"{_SETTING} names no object store: {_first_line(error)}"
            raise ConfigError(message, setting=_SETTING) from error

    def put(self, sha256: str, data: bytes) -> None:
        """Keep a text; one that is there is the same. Raises StoreError."""
        try:
            self._obstore.put(self._store, _path(sha256), data)
        except Exception as error:
            raise _refused(error) from error

    def get(self, sha256: str) -> bytes:
        """Return a text. Raises StoreError, also for one that is not what was kept."""
        try:
            data = bytes(self._obstore.get(self._store, _path(sha256)).bytes())
        except Exception as error:
            raise _refused(error) from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise StoreError(f"The text {sha256} of the object store was changed.", path=_SETTING)
        return data

    def delete(self, sha256: str) -> None:
        """Delete a text, also one that is not there. Raises StoreError."""
        try:
            self._obstore.delete(self._store, _path(sha256))
        except FileNotFoundError:
            return
        except Exception as error:
            raise _refused(error) from error


@cache
def text_objects(url: str) -> TextObjects | None:
    """Return the store at an address, opened once in a process; None for no address. Raises ConfigError."""
    return TextObjects(url) if url else None


def _path(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}"


def _refused(error: Exception) -> StoreError:
    return StoreError(f"The object store of {_SETTING} failed: {_first_line(error)}", path=_SETTING)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
