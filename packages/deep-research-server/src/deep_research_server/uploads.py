"""Uploaded documents in the owner's state folder, limited by type, size, count."""

import asyncio
import re
import secrets
import shutil
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, NamedTuple

from starlette.datastructures import UploadFile

from claimcheck.text.normal_forms import normalized
from deep_research import api
from deep_research.errors import ConfigError, LimitReached, RunNotFound, StoreError
from deep_research.state_files import make_private, make_private_folder
from deep_research_server.access_tokens import owner_home
from deep_research_server.api_models import DocumentView

FOLDER = "uploads"
_ID = re.compile(r"d[0-9a-f]{16}")
_UNFIT = re.compile(r"[^\w .()+,-]")
_FORM_BYTES = 1_000_000
"""Bytes of a form beside its document."""
_AT_ONCE = 2
"""Uploads of an owner that may be on their way at a time."""


class UploadLimit(NamedTuple):
    """Upload limits: megabytes of a document, documents and megabytes per owner."""

    megabytes: int = 64
    documents: int = 500
    total_megabytes: int = 2_000


class UploadedDocuments:
    """An owner's uploaded documents; a folder is named by an id while it is whole."""

    def __init__(self, home: Path, limit: UploadLimit) -> None:
        self._folder, self._limit = home / FOLDER, limit

    def all(self) -> list[DocumentView]:
        """Return the documents, newest first."""
        folders = self._folder.iterdir() if self._folder.is_dir() else ()
        found = [view for folder in folders if _ID.fullmatch(folder.name) and (view := _view(folder))]
        return sorted(found, key=lambda view: (view.uploaded, view.id), reverse=True)

    def check_room(self, number: int, size: int) -> None:
        """Raise LimitReached if so many documents and bytes exceed the owner's limit."""
        kept = self.all()
        if len(kept) + number > self._limit.documents:
            message = f"{self._limit.documents} documents are kept already; delete some."
            raise LimitReached(message, kind="documents", limit=self._limit.documents)
        if sum(view.size for view in kept) + size > self._limit.total_megabytes * 1_000_000:
            message = f"There is no room for it in {self._limit.total_megabytes:,} MB of documents; delete some."
            raise LimitReached(message, kind="documents", limit=self._limit.total_megabytes)

    async def add(self, upload: UploadFile) -> DocumentView:
        """Store a document. Raises ConfigError for an unread type or too large a file."""
        name, size = _safe_name(upload.filename or ""), upload.size or 0
        if not size or size > self._limit.megabytes * 1_000_000:
            wrong = f"is larger than {self._limit.megabytes} MB" if size else "is empty"
            raise ConfigError(f"The document {name!r} {wrong}.", setting="file", value=name)
        return await asyncio.to_thread(self._keep, name, upload.file)

    def _keep(self, name: str, data: BinaryIO) -> DocumentView:
        folder, whole = self._aside(), self._folder / f"d{secrets.token_hex(8)}"
        try:
            make_private_folder(folder)
            with (folder / name).open("xb") as file:
                shutil.copyfileobj(data, file)
            make_private(folder / name)
            api.check_readable(folder / name)
            view = _view(folder)
            folder.rename(whole)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise StoreError(f"Cannot write {name!r}: {error.strerror}.", path=str(folder)) from error
            raise
        assert view is not None
        return view.model_copy(update={"id": whole.name})

    def paths_of(self, ids: Iterable[str]) -> list[Path]:
        """Return the files of documents. Raises RunNotFound for an unknown id."""
        return [self._path(document) for document in dict.fromkeys(ids)]

    def delete(self, document: str) -> None:
        """Delete a document; snapshots in runs remain. Raises RunNotFound."""
        aside = self._aside()
        with suppress(FileNotFoundError):  # another request has deleted it just now
            self._path(document).parent.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)

    def _aside(self) -> Path:
        return self._folder / f".{secrets.token_hex(8)}"

    def _path(self, document: str) -> Path:
        view = _view(self._folder / document) if _ID.fullmatch(document) else None
        if view is None:
            raise RunNotFound(f"There is no document {document!r}.", run_id="")
        return self._folder / document / view.name


class UploadsUnderWay:
    """Uploads in progress: few per owner, with room reserved before they arrive."""

    def __init__(self, home: Path, limit: UploadLimit) -> None:
        """`home` is the state folder of the server."""
        self.largest = limit.megabytes * 1_000_000 + _FORM_BYTES
        self._home, self._limit = home, limit
        self._coming = defaultdict[str, list[int]](list)

    @asynccontextmanager
    async def room_for(self, owner: str, size: int) -> AsyncIterator[None]:
        """Reserve room for an upload of `size` bytes meanwhile. Raises LimitReached."""
        coming = self._coming[owner]
        if len(coming) >= _AT_ONCE:
            raise LimitReached(f"{_AT_ONCE} uploads are on their way; wait until one is there.")
        coming.append(size)
        try:
            documents = UploadedDocuments(owner_home(self._home, owner), self._limit)
            await asyncio.to_thread(documents.check_room, len(coming), sum(coming))
            yield
        finally:
            coming.remove(size)


def _view(folder: Path) -> DocumentView | None:
    """Return the document in a folder, None where there is none any more."""
    try:
        file = next(folder.iterdir())
        stat = file.stat()
    except (FileNotFoundError, StopIteration):
        return None
    uploaded = datetime.fromtimestamp(stat.st_mtime, UTC).isoformat(timespec="milliseconds")
    return DocumentView(id=folder.name, name=file.name, size=stat.st_size, uploaded=uploaded)


def _safe_name(name: str) -> str:
    """Return a client's file name without folders, control and bidi characters."""
    name = normalized("NFC", name.replace("\\", "/").rpartition("/")[2])
    name = _UNFIT.sub("_", " ".join(name.split())).strip(" .")
    stem, dot, ending = name.rpartition(".")
    stem, ending = (stem, ending) if dot else (name, "txt")
    stem = stem.encode()[:150].decode(errors="ignore")  # short enough for every disk
    return f"{stem or 'document'}.{ending[:12]}"
