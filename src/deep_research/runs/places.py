"""The places a run searches, from its settings: the user's documents, or the bundled library."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path

from deep_research import registry
from deep_research.ports import SearchPlace
from deep_research.settings import Settings
from deep_research.sources.documents import DocumentsSource
from deep_research.stores.sqlite import SqliteLibrary


def bundled_library() -> Path:
    """Return the folder of the notes that come with the program."""
    packaged = Path(str(resources.files("deep_research"))) / "bundled_library"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "examples" / "library"


def open_places(docs: Sequence[str], home: Path, settings: Settings) -> tuple[SearchPlace, ...]:
    """Return the places to search, not yet prepared; without `docs` that is the bundled library.

    Each set of paths has an index of its own in the state folder, kept from run to run. One that another
    version of the readers has made would be emptied file by file, so it is replaced as a whole.
    """
    paths = [Path(p).expanduser() for p in docs] or [bundled_library()]
    name = hashlib.sha256("\0".join(sorted(str(p.resolve()) for p in paths)).encode("utf-8", "surrogatepass"))
    folder = home / "documents"
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / f"{name.hexdigest()[:24]}-{registry.readers_version()}.db"
    for old in folder.glob(f"{name.hexdigest()[:24]}-*"):
        if not old.name.startswith(index.name):
            with suppress(OSError):  # another process may hold it open
                old.unlink()
    library = SqliteLibrary(index)
    limit = settings.max_file_megabytes * 1024 * 1024
    return (DocumentsSource(paths, library, max_file_bytes=limit),)
