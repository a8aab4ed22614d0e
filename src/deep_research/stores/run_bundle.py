"""A run as one file: question, settings, journal, snapshots with hashes and result, in a ZIP that any store takes in.

`manifest.json` names every other member with its SHA-256. Texts lie under the SHA-256 of their own. What is read from a
bundle is a stranger's: members, sizes, hashes and schemas are checked before anything is kept.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from deep_research.data.brief import Steer
from deep_research.data.evidence import Snapshot, Source
from deep_research.data.result import FollowUp, Report
from deep_research.errors import ConfigError, StoreError
from deep_research.events import Event, event_adapter
from deep_research.stores.run_store import (
    RunRecord,
    RunStore,
    RunStores,
    StoredCall,
    StoredNote,
    StoredPassage,
    StoredSnapshot,
)

FORMAT = 1
_MANIFEST, _TEXTS = "manifest.json", "texts/"
_MOST_BYTES, _MOST_MEMBERS = 2_000_000_000, 100_000
_LISTS = (
    "events.jsonl",
    "steers.jsonl",
    "follow_ups.jsonl",
    "calls.jsonl",
    "notes.jsonl",
    "sources.jsonl",
    "snapshots.jsonl",
)
_SINGLE = ("run.json", "result.json", "report.md")
_LEADS_OUT = ("mcp_servers", "model_base_url", "proxy", "allowed_internal_hosts", "source_options", "contact")
"""Settings of a stranger that would start programs, or say where keys and requests go; a replay needs none of them."""
_calls, _notes, _passages = TypeAdapter(StoredCall), TypeAdapter(StoredNote), TypeAdapter(tuple[StoredPassage, ...])


def write_bundle(store: RunStore, path: Path) -> None:
    """Write a finished run into a file. Raises RunNotFound without a report, StoreError when the disk refuses."""
    report = store.load_result()
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
            hashes = {name: _write(bundle, name, data) for name, data in _members(store, report)}
            told = {"format": FORMAT, "program": version("deep-research"), "run_id": store.run_id, "members": hashes}
            bundle.writestr(_MANIFEST, json.dumps(told, indent=1))
    except OSError as error:
        raise StoreError(f"Cannot write {str(path)!r}: {error.strerror or error}.", path=str(path)) from error


def _write(bundle: zipfile.ZipFile, name: str, data: bytes) -> str:
    bundle.writestr(name, data)
    return hashlib.sha256(data).hexdigest()


def _members(store: RunStore, report: Report) -> Iterator[tuple[str, bytes]]:
    yield "run.json", store.load().model_dump_json(indent=1).encode()
    yield "result.json", report.model_dump_json(indent=1).encode("utf-8", "surrogatepass")
    yield "report.md", report.report.encode("utf-8", "surrogatepass")
    yield "events.jsonl", _lines(event.model_dump(mode="json") for event in store.read_events())
    yield "steers.jsonl", _lines(steer.model_dump(mode="json") for steer in store.read_steers())
    yield "follow_ups.jsonl", _lines(one.model_dump(mode="json") for one in store.read_follow_ups())
    with closing(store.open_journal()) as journal:
        yield "calls.jsonl", _lines(call._asdict() for call in journal.calls())
        yield "notes.jsonl", _lines(note._asdict() for note in journal.all_notes())
    with closing(store.open_library()) as library:
        yield "sources.jsonl", _lines(source.model_dump(mode="json") for source in library.sources())
        rows, written = list[dict[str, Any]](), set[str]()
        for one in library.snapshots():
            facts = one.snapshot.model_dump(mode="json", exclude={"text"})
            rows.append({**facts, "passages": [list(passage) for passage in one.passages]})
            if one.snapshot.sha256 not in written:
                written.add(one.snapshot.sha256)
                yield f"{_TEXTS}{one.snapshot.sha256}.txt", one.snapshot.text.encode("utf-8", "surrogatepass")
        yield "snapshots.jsonl", _lines(rows)


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=True)}\n" for row in rows).encode()


def read_bundle(path: Path, runs: RunStores) -> RunStore:
    """Take the run of a bundle in, and return it; one whose id is taken gets another.

    Documents, addresses and servers that its settings name are left out: they belong to another machine. Raises
    ConfigError for a file that is no bundle, is damaged or was changed.
    """
    try:
        with zipfile.ZipFile(path) as bundle:
            return _take_in(_Bundle(bundle, path), runs)
    except OSError as error:
        raise ConfigError(f"Cannot read {str(path)!r}: {error.strerror or error}.", setting="bundle") from error
    except (
        zipfile.BadZipFile,
        ValidationError,
        ValueError,
        KeyError,
        TypeError,
        EOFError,
        NotImplementedError,
    ) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{str(path)!r} is no bundle of a run, or is damaged: {error}.", setting="bundle") from error


class _Bundle:
    """The members of a bundle, each checked against the manifest when it is read."""

    def __init__(self, bundle: zipfile.ZipFile, path: Path) -> None:
        self._bundle, self._path = bundle, path
        infos = bundle.infolist()
        if len(infos) > _MOST_MEMBERS or sum(info.file_size for info in infos) > _MOST_BYTES:
            raise ConfigError(f"{str(path)!r} is too large for a bundle.", setting="bundle", value=str(path))
        told = json.loads(bundle.read(_MANIFEST))
        if told["format"] != FORMAT:
            message = f"{str(path)!r} has the format {told['format']}; this version reads {FORMAT}."
            raise ConfigError(message, setting="bundle", value=str(path))
        self._hashes: dict[str, str] = told["members"]

    def read(self, name: str) -> bytes:
        data = self._bundle.read(name)
        if hashlib.sha256(data).hexdigest() != self._hashes[name]:
            raise ConfigError(f"{str(self._path)!r} was changed: {name} does not have its hash.", setting="bundle")
        return data

    def rows(self, name: str) -> Iterator[Any]:
        yield from map(json.loads, self.read(name).splitlines())

    def text(self, sha256: str) -> str:
        data = self.read(f"{_TEXTS}{sha256}.txt")
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ConfigError(f"{str(self._path)!r} was changed: the text {sha256} is another.", setting="bundle")
        return data.decode("utf-8", "surrogatepass")

    def check_all(self) -> None:
        for name in (*_SINGLE, *_LISTS):
            self.read(name)


def _take_in(bundle: _Bundle, runs: RunStores) -> RunStore:
    bundle.check_all()
    given = RunRecord.model_validate_json(bundle.read("run.json"))
    report = Report.model_validate_json(bundle.read("result.json"))
    settings = {name: value for name, value in given.settings.items() if name not in _LEADS_OUT}
    record = given.model_copy(
        update={"run_id": runs.new_id(given.run_id), "settings": settings, "docs": (), "mcp_servers": (), "owner": ""}
    )
    events = [event_adapter.validate_python(row) for row in bundle.rows("events.jsonl")]
    sources = [Source.model_validate(row) for row in bundle.rows("sources.jsonl")]
    snapshots = [_snapshot(row, bundle) for row in bundle.rows("snapshots.jsonl")]
    calls = [_calls.validate_python(StoredCall(**row)) for row in bundle.rows("calls.jsonl")]
    notes = [_notes.validate_python(StoredNote(**row)) for row in bundle.rows("notes.jsonl")]
    store = runs.create(record)
    restore_evidence(store, sources, snapshots, calls, notes)
    _restore_talk(store, bundle, events)
    store.save_result(report.model_copy(update={"run_id": record.run_id}))
    return store


def _snapshot(row: dict[str, Any], bundle: _Bundle) -> StoredSnapshot:
    passages = _passages.validate_python(tuple(tuple(passage) for passage in row.pop("passages")))
    return StoredSnapshot(Snapshot.model_validate({**row, "text": bundle.text(str(row["sha256"]))}), passages)


def _restore_talk(store: RunStore, bundle: _Bundle, events: list[Event]) -> None:
    store.restore_events(events)
    for row in bundle.rows("steers.jsonl"):
        store.add_steer(Steer.model_validate(row))
    for row in bundle.rows("follow_ups.jsonl"):
        store.save_follow_up(FollowUp.model_validate({**row, "run_id": store.run_id}))


def restore_evidence(
    store: RunStore,
    sources: Iterable[Source],
    snapshots: Iterable[StoredSnapshot],
    calls: Iterable[StoredCall],
    notes: Iterable[StoredNote],
) -> None:
    """Fill the library and the journal of a new run with those of another."""
    with closing(store.open_library()) as library, closing(store.open_journal()) as journal:
        library.restore(sources, snapshots)
        journal.restore(calls, notes)
