"""Delete runs, and document indexes and web pages that only they needed."""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from deep_research.assembly.environment import index_name
from deep_research.errors import ConfigError, RunBusy, StoreError
from deep_research.state_files import DOCUMENTS, PAGES, REJECTED, RUNS
from deep_research.stores.open_stores import open_runs
from deep_research.stores.run_folder import clear_broken_off, folder_size
from deep_research.stores.run_store import RunHead, RunStore
from deep_research.stores.sqlite_file import tell_sqlite_errors

_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_MOST_DIGITS = 5


class Deletion(NamedTuple):
    """Ids of `runs` deleted, left `busy`, and `unreadable` (so no page went)."""

    runs: tuple[str, ...]
    busy: tuple[str, ...]
    freed: int
    unreadable: tuple[str, ...] = ()


def parse_age(text: str) -> timedelta:
    """Parse a duration like `12h`, `30d`, `8w`, `6m`, `1y`; else raise ConfigError."""
    number, unit = text.strip()[:-1].rstrip(), text.strip()[-1:].lower()
    if unit not in _HOURS or not (number.isdecimal() and len(number) <= _MOST_DIGITS):
        message = f"{text!r} is no length of time. Examples: 12h, 30d, 8w, 6m, 1y."
        raise ConfigError(message, setting="older-than", value=text)
    return timedelta(hours=int(number) * _HOURS[unit])


def delete_runs(home: Path, run_ids: Iterable[str]) -> Deletion:
    """Delete runs and what no other needs, but for busy ones. Raises StoreError."""
    before = folder_size(home)
    runs = open_runs(home)
    records = {record.run_id: record for record in runs.list()}
    gone: list[RunHead] = []
    busy: list[str] = []
    for run_id in dict.fromkeys(run_ids):
        store = runs.store(run_id)
        try:
            store.delete()
        except RunBusy:
            busy.append(run_id)
        except StoreError:
            if store.exists():
                raise  # else another deletion was first
        else:
            gone += [records[run_id]] if run_id in records else []
    clear_broken_off(home / RUNS)
    ids = tuple(record.run_id for record in gone)
    kept = [record for record in runs.list() if record.run_id not in ids]
    unreadable: tuple[str, ...] = ()
    if gone:
        needed = {index_name(record.docs) for record in kept}
        unneeded = {index_name(record.docs) for record in gone} - needed
        for path in (home / DOCUMENTS).glob("*"):
            if not kept or path.name.partition("-")[0] in unneeded:
                _remove(path)
        unreadable = _forget_pages(home, kept)
    return Deletion(ids, tuple(busy), max(0, before - folder_size(home)), unreadable)


def _forget_pages(home: Path, kept: Sequence[RunHead]) -> tuple[str, ...]:
    """Delete pages that no run of `kept` has read; else return unreadable ones' ids."""
    cache = home / PAGES
    if not kept:
        # The last is of an earlier version: lines that were typed.
        for name in (PAGES, f"{PAGES}.damaged", REJECTED, "history"):
            for path in home.glob(f"{name}*"):
                _remove(path)
        return ()
    if not cache.exists():
        return ()
    runs = open_runs(home)
    needed = {record.run_id: _addresses(runs.store(record.run_id)) for record in kept}
    if unreadable := tuple(run_id for run_id, addresses in needed.items() if addresses is None):
        return unreadable
    addresses = set[str]().union(*(found for found in needed.values() if found))
    with (
        tell_sqlite_errors(str(cache)),
        closing(sqlite3.connect(cache, timeout=30, isolation_level=None)) as database,
    ):
        database.execute("PRAGMA secure_delete = ON")
        rows = database.execute("SELECT url FROM answers").fetchall()
        stale = [(url,) for (url,) in rows if url not in addresses]
        database.executemany("DELETE FROM answers WHERE url = ?", stale)
        if stale:
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return ()


def _addresses(store: RunStore) -> set[str] | None:
    """Return the addresses of a run's sources; None if its library is unreadable."""
    try:
        with closing(store.open_library()) as library:
            return {source.url for source in library.sources() if source.url}
    except StoreError:
        return None


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
