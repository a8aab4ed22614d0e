"""A run as one ZIP for any store: question, settings, journal, snapshots, result.

`manifest.json` names every other member with its SHA-256. Texts lie under the SHA-256 of their own. What is read from a
bundle is a stranger's: members, sizes, hashes and schemas are checked before anything is kept.
"""

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter

from deep_research.data.brief import Steer
from deep_research.data.evidence import Snapshot, Source
from deep_research.data.result import FollowUp, Report
from deep_research.errors import ConfigError, StoreError
from deep_research.events import event_adapter
from deep_research.foreign_settings import name_all, take_over
from deep_research.i18n.catalog import unsayable
from deep_research.safe_text import safe_noun, safe_text
from deep_research.settings import Settings
from deep_research.stores import run_store
from deep_research.stores.bundle_file import DAMAGE, FORMAT, MANIFEST, TEXTS, BundleFile, reason_of
from deep_research.stores.event_log import tell_disk_errors
from deep_research.stores.run_folder import replacing
from deep_research.stores.run_store import RunRecord, RunStore, RunStores, StoredSnapshot
from deep_research.text.inert_markdown import make_inert
from deep_research.verification.chart_points import with_tables

_TAKEN_OVER = {"question", "language", "created", "history", "title", "seconds"}
"""What of a stranger's record is taken over, beside the settings that say what a report is like."""
_OUTSIDE = {
    "mcp_servers", "model_base_url", "ranker_base_url", "proxy", "allowed_internal_hosts", "source_options", "contact",
}  # fmt: skip
_REPLAYED = Settings.model_fields.keys() - _OUTSIDE
"""Settings of a stranger that a replay needs, which asks its journal alone; addresses and programs are none of them."""
_MOST_PASSAGES, _MOST_OVERLAP = 1_000_000, 2
_MOST_CITED, _MOST_CITED_IN_ALL = 1_000, 100_000
"""Passages that one statement of a report cites, and all: each is a row of a workbook."""
_MOST_CODES = 20
_FIRST_YEAR = 2000
_calls, _notes, _passages = (
    TypeAdapter(run_store.StoredCall),
    TypeAdapter(run_store.StoredNote),
    TypeAdapter(tuple[run_store.StoredPassage, ...]),
)


def write_bundle(store: RunStore, path: Path) -> None:
    """Write a finished run to a file; raise RunNotFound without a report, StoreError."""
    report = store.load_result()
    if path.exists() and not path.is_file():
        raise StoreError(f"Cannot write {str(path)!r}: it is no file.", path=str(path))
    with (
        tell_disk_errors(path),
        replacing(path, private=True) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle,
    ):
        hashes = dict[str, str]()
        for name, data in _members(store, report):
            bundle.writestr(name, data)
            hashes[name] = hashlib.sha256(data).hexdigest()
        told = {"format": FORMAT, "program": version("deep-research"), "run_id": store.run_id, "members": hashes}
        bundle.writestr(MANIFEST, json.dumps(told, indent=1))


def _members(store: RunStore, report: Report) -> Iterator[tuple[str, bytes]]:
    yield "run.json", store.load().model_dump_json(indent=1).encode()
    yield "result.json", report.model_dump_json(indent=1).encode("utf-8", "surrogatepass")
    yield "report.md", with_tables(report.report, report).encode("utf-8", "surrogatepass")
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
                yield f"{TEXTS}{one.snapshot.sha256}.txt", one.snapshot.text.encode("utf-8", "surrogatepass")
        yield "snapshots.jsonl", _lines(rows)


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=True)}\n" for row in rows).encode()


def read_bundle(
    path: Path,
    runs: RunStores,
    *,
    own: Mapping[str, Any] = MappingProxyType({}),
    on_left_out: Callable[[str], object] = lambda _told: None,
) -> RunStore:
    """Take the run of a bundle in, and return it; one whose id is taken gets another.

    Nothing in it decides where anything is written, read, sent, started or paid: the user's `own` settings do, and
    `on_left_out` is told what is not taken over for that. The run is there for others when all of it is. Raises
    ConfigError for a file that is no bundle, is damaged or was changed, StoreError when the disk refuses.
    """
    try:
        with closing(BundleFile(path)) as bundle:
            record, left_out = _record_of(bundle, runs, own)
            with runs.taking_in(record) as store:
                left_out += _fill(store, bundle)
    except OSError as error:
        raise ConfigError(f"Cannot read {str(path)!r}: {error.strerror or error}.", setting="bundle") from error
    except ConfigError:
        raise
    except DAMAGE as error:
        message = f"{str(path)!r} is no bundle of a run, or is damaged: {reason_of(error)}."
        raise ConfigError(message, setting="bundle", value=str(path)) from error
    if left_out:
        on_left_out(name_all(left_out))
    return runs.store(record.run_id)


def _record_of(bundle: BundleFile, runs: RunStores, own: Mapping[str, Any]) -> tuple[RunRecord, list[str]]:
    """Return the record of a bundle's run for this store, and the names left out."""
    given = RunRecord.model_validate_json(bundle.read("run.json"))
    created = datetime.fromisoformat(given.created)
    if created.tzinfo is None or not _FIRST_YEAR <= created.year <= datetime.now(UTC).year + 1:
        raise ValueError("the time of its beginning")
    made_with = given.settings if given.recorded is None else given.recorded
    taken, left_out = take_over(made_with)
    settings = {**own, **taken}
    recorded = {name: value for name, value in made_with.items() if name in _REPLAYED}
    Settings(**settings)  # one whose values are none is damaged
    Settings(**recorded)
    kept = given.model_dump(include=_TAKEN_OVER)
    own_id = runs.new_id(given.run_id)
    record = RunRecord(**kept, run_id=own_id, status="finished", settings=settings, recorded=recorded)
    told = ("docs", "mcp_servers", "out", "owner", "parent")
    return record, [*(name for name in told if getattr(given, name)), *left_out]


def _fill(store: RunStore, bundle: BundleFile) -> list[str]:
    """Fill an empty run with the content of a bundle; return the names left out."""
    with closing(store.open_library()) as library, closing(store.open_journal()) as journal:
        library.restore(
            (safe_noun(Source.model_validate(row)) for row in bundle.rows("sources.jsonl")),
            (_snapshot(row, bundle) for row in bundle.rows("snapshots.jsonl")),
        )
        journal.restore(
            (_calls.validate_python(run_store.StoredCall(**row)) for row in bundle.rows("calls.jsonl")),
            (_notes.validate_python(run_store.StoredNote(**row)) for row in bundle.rows("notes.jsonl")),
        )
    store.restore_events([safe_noun(event_adapter.validate_python(row)) for row in bundle.rows("events.jsonl")])
    for row in bundle.rows("steers.jsonl"):
        store.add_steer(safe_noun(Steer.model_validate(row)))
    left_out: list[str] = []
    for number, row in enumerate(bundle.rows("follow_ups.jsonl"), 1):
        made = FollowUp.model_validate({**row, "run_id": store.run_id, "number": number, "settings": {}})
        if made.status == "finished":
            made = made.model_copy(update={"report": made.report and _sound(made.report)})
            store.save_follow_up(safe_noun(made))
        else:
            left_out.append(f"follow-up {number} ({made.status})")
    report = _sound(Report.model_validate_json(bundle.read("result.json")))
    store.save_result(report.model_copy(update={"run_id": store.run_id}))
    return left_out


def _sound(report: Report) -> Report:
    """Return a report with inert Markdown; raise ValueError if it cannot be shown."""
    cited = [len(claim.passages) for claim in report.claims]
    if max(cited, default=0) > _MOST_CITED or sum(cited) > _MOST_CITED_IN_ALL:
        raise ValueError(f"one statement cites over {_MOST_CITED:,} passages, or all over {_MOST_CITED_IN_ALL:,}")
    said = ((f"statement {claim.id}", claim.verdict) for claim in report.claims)
    for what, told in (*said, *(("a gap", gap) for gap in report.gaps)):
        if len(told.codes) > _MOST_CODES:
            raise ValueError(f"the reason of {what} has more than {_MOST_CODES} codes")
        if code := unsayable(told):
            raise ValueError(f"the reason of {what} has a code that is unknown or lacks a value: {code[:40]!r}")
    return report.model_copy(update={"report": make_inert(report.report)})


def _snapshot(row: dict[str, Any], bundle: BundleFile) -> StoredSnapshot:
    """Return a snapshot with checked text hash and passages, or raise ValueError."""
    text = bundle.text(str(row["sha256"]))
    passages = _passages.validate_python(tuple(tuple(passage) for passage in row.pop("passages")))
    if not all(0 < p.ordinal < _MOST_PASSAGES and 0 <= p.start <= p.stop <= len(text) for p in passages):
        raise ValueError("a passage lies outside its text")
    if sum(p.stop - p.start for p in passages) > _MOST_OVERLAP * len(text):
        raise ValueError("the passages of a text are longer than the text")
    passages = tuple(passage._replace(heading=safe_text(passage.heading)) for passage in passages)
    return StoredSnapshot(Snapshot.model_validate({**row, "text": text}), passages)
