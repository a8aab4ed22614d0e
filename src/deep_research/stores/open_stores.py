"""Which store holds the runs: the state folder, or a database where one is set."""

from pathlib import Path

from deep_research.stores.run_folder import FolderRuns
from deep_research.stores.run_store import RunStores


def open_runs(home: Path) -> RunStores:
    """Return the runs of a state folder."""
    return FolderRuns(home)
