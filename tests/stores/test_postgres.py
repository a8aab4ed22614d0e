"""What a database adds: a lease with a fence, an absence that is waited for, and whole runs without a state folder."""

import asyncio
import hashlib
import os
import random
import socket
import string
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from tests.runs.running import Ran, begin, engines, go_on, run
from tests.support.made_reports import save_run

from deep_research import run_deep_research
from deep_research.api import open_run
from deep_research.data import Document, Found, Report
from deep_research.errors import RunBusy, RunTakenOver, StoreError
from deep_research.events import Event, StageStarted
from deep_research.graph.run_graph import open_checkpoints
from deep_research.runs.replay import replay_run
from deep_research.stores.run_store import Checkpoints, RunRecord, StoredCall
from deep_research_server.postgres.postgres_journal import AnswerSpool
from deep_research_server.postgres.postgres_runs import PostgresRuns

psycopg = pytest.importorskip("psycopg", reason="no PostgreSQL here: pip install 'deep-research[postgres]'")


def _says_the_same(replayed: Report, report: Report) -> bool:
    """Whether two reports say the same; what the clock has measured may differ."""
    return replayed.model_copy(update={"ledger": report.ledger}) == report


def test_a_source_is_shown_without_reading_the_others(url: str, tmp_path: Path) -> None:
    store = save_run(tmp_path)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE deep_research.snapshots SET passages = 'no list' WHERE source = 2")
    shown = open_run(store.run_id, home=tmp_path)
    facts, snapshot = shown.read_source("s1")
    assert snapshot is not None
    assert facts.characters == len(snapshot.text)
    assert shown.read_passage("s1p1").passage.source == "s1"


def test_notes_of_an_earlier_version_are_taken_over(url: str) -> None:
    files = sorted(
        (resources.files("deep_research_server.postgres") / "migrations").iterdir(), key=lambda file: file.name
    )
    earlier = [file for file in files if file.name.endswith(".sql") and file.name < "0005"]
    with psycopg.connect(url) as connection:
        connection.execute("CREATE SCHEMA deep_research")
        connection.execute("CREATE TABLE deep_research.migrations (name text PRIMARY KEY, at timestamptz)")
        for file in earlier:
            connection.execute(file.read_bytes())
            connection.execute("INSERT INTO deep_research.migrations VALUES (%s, now())", (file.name,))
        connection.execute(
            "INSERT INTO deep_research.runs (run_id, created, status, record) VALUES ('one', '', '', '')"
        )
        connection.execute(
            "INSERT INTO deep_research.notes (run_id, kind, request, answer) VALUES ('one', 'k', '水\\', 'a')"
        )
    journal = PostgresRuns(url).store("one").open_journal()
    journal.note("k", "水\\", "b")
    assert dict(journal.notes("k")) == {"水\\": "b"}
    journal.close()


def test_what_waiting_does_not_mend_fails_at_once(url: str) -> None:
    begun = time.monotonic()
    with pytest.raises(StoreError, match="index row"):
        PostgresRuns(url, owner="".join(random.Random(1).choices(string.printable, k=20_000))).create(
            RunRecord(run_id="one", question="", language="", status="running", created="")
        )
    assert time.monotonic() - begun < 30.0  # an absence is waited for 90 s


def test_a_run_leaves_nothing_in_the_state_folder_and_a_text_leaves_its_one_place_with_its_last_run(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("obstore", reason="no object stores here: pip install 'deep-research[objects]'")
    home, docs, folder = tmp_path / "home", engines(tmp_path / "docs"), tmp_path / "texts"

    def research() -> Ran:
        return run("Which kinds of engines are there?", home=home, docs=[docs], workflow="quick")

    def objects() -> list[Path]:
        return sorted(path for path in folder.rglob("*") if path.is_file())

    before = research()
    (docs / "new.md").write_text("# Stirling engines\n\nA Stirling engine is an engine that is heated from outside.\n")
    monkeypatch.setenv("DEEP_RESEARCH_SNAPSHOTS_URL", folder.as_uri())
    first, second = research(), research()
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT sha256 FROM deep_research.texts WHERE body IS NULL ORDER BY sha256"
        ).fetchall()
        assert connection.execute("SELECT 1 FROM deep_research.texts WHERE body IS NOT NULL").fetchone()
    kept = objects()
    assert sorted(path.name for path in kept) == [name for (name,) in rows] != []
    assert _says_the_same(asyncio.run(replay_run(first.folder, home)), first.report)
    first.folder.delete()
    assert objects() == kept
    kept[0].write_bytes(b"another text")
    with pytest.raises(StoreError, match="was changed"):
        second.folder.open_library()
    monkeypatch.delenv("DEEP_RESEARCH_SNAPSHOTS_URL")
    with pytest.raises(StoreError, match="lies in an object store"):
        second.folder.open_library()
    with pytest.raises(StoreError, match="lies in an object store"):
        second.folder.delete()
    assert second.folder.exists()
    monkeypatch.setenv("DEEP_RESEARCH_SNAPSHOTS_URL", folder.as_uri())
    assert not (home / "runs").exists()
    for made in (before, second):
        made.folder.delete()
    assert objects() == []
    with psycopg.connect(url) as connection:
        for table in ("runs", "calls", "events", "snapshots", "texts", "sources", "notes"):
            assert connection.execute(f"SELECT count(*) FROM deep_research.{table}".encode()).fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)


def test_a_text_that_one_run_keeps_is_not_deleted_with_another(url: str) -> None:
    record = RunRecord(run_id="first", question="Why?", language="en", status="running", created="2026")
    first, second = (
        PostgresRuns(url).create(record.model_copy(update={"run_id": name})) for name in ("first", "second")
    )
    libraries, document = [first.open_library(), second.open_library()], Document(text="The engine is old.")
    sources = [library.add_source(Found(key="a", title="A", origin="web")) for library in libraries]
    libraries[0].add_snapshot(sources[0].id, document, retrieved_at="2026")
    with psycopg.connect(url, autocommit=True) as connection, ThreadPoolExecutor(2) as threads:
        connection.execute(_HOLD_SNAPSHOTS)
        connection.execute("SELECT pg_advisory_lock(1)")
        keeping = threads.submit(libraries[1].add_snapshot, sources[1].id, document, retrieved_at="2026")
        _wait_until(lambda: _waiting_for_locks(connection) == 1)
        deleting = threads.submit(first.delete)
        _wait_until(lambda: deleting.done() or _waiting_for_locks(connection) == 2)
        connection.execute("SELECT pg_advisory_unlock(1)")
        keeping.result(timeout=60)
        deleting.result(timeout=60)
    kept = second.open_library().snapshot(sources[1].id)
    assert kept is not None
    assert kept.text == document.text
    second.delete()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM deep_research.texts").fetchone() == (0,)


_HOLD_SNAPSHOTS = """
CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN new; END';
CREATE TRIGGER hold BEFORE INSERT ON deep_research.snapshots FOR EACH ROW EXECUTE FUNCTION hold()"""


def _waiting_for_locks(connection: Any) -> int:
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return connection.execute(query).fetchone()[0]


def _wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_texts_in_a_folder_are_their_owners_alone(tmp_path: Path) -> None:
    pytest.importorskip("obstore", reason="no object stores here: pip install 'deep-research[objects]'")
    from deep_research_server.postgres.postgres_library import TextObjects  # noqa: PLC0415 - an extra

    folder = tmp_path / "all texts"
    earlier = folder / "ab"
    before = os.umask(0o022)
    try:
        objects = TextObjects(folder.as_uri())
        earlier.mkdir(mode=0o755)
        objects = TextObjects(folder.as_uri())
        sha256 = hashlib.sha256(b"private").hexdigest()
        objects.put(sha256, b"private")
    finally:
        os.umask(before)
    assert objects.get(sha256) == b"private"
    modes = {path.relative_to(folder).as_posix(): path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*"))}
    assert modes == {".": 0o700, "ab": 0o700, sha256[:2]: 0o700, f"{sha256[:2]}/{sha256}": 0o600}


def test_who_was_taken_over_writes_nothing_more(url: str) -> None:
    runs = PostgresRuns(url)
    old = runs.create(RunRecord(run_id="r", question="Why?", language="en", status="running", created="2026"))
    new = runs.store("r")
    with old.held():
        with psycopg.connect(url, autocommit=True) as connection:  # the process slept, and its lease ran out
            connection.execute("UPDATE deep_research.runs SET lease_until = '-infinity'")
        with new.held():
            journal, log, at = old.open_journal(), old.open_log(lambda _event: None), old.checkpoints_at()

            async def answer() -> str:
                return "late"

            with pytest.raises(RunTakenOver):
                asyncio.run(journal.call("model", "q", answer))
            with pytest.raises(RunTakenOver):
                log.emit(StageStarted(stage="late"))
            with pytest.raises(RunTakenOver):
                old.save(old.load())
            with pytest.raises(RunTakenOver):
                asyncio.run(_write_checkpoint(at))
            assert new.open_journal().find("model", "q") is None
            asyncio.run(_write_checkpoint(new.checkpoints_at()))
            new.save(new.load().model_copy(update={"title": "mine"}))
    assert runs.store("r").load().title == "mine"


def test_a_holder_on_another_machine_of_the_same_name_counts_as_alive(url: str) -> None:
    record = RunRecord(run_id="one", question="", language="", status="running", created="")
    store, ended = PostgresRuns(url).create(record), subprocess.Popen(["true"])
    ended.wait()
    with psycopg.connect(url) as connection:
        connection.execute(
            "UPDATE deep_research.runs SET holder = %s, lease_until = now() + interval '30 s'",
            (f"{socket.gethostname()} process {ended.pid}",),
        )
    with pytest.raises(RunBusy), store.held():
        pass


def test_a_run_that_was_taken_over_ends_as_such_and_notes_nothing(url: str, tmp_path: Path) -> None:
    ran = begin("Which kinds of engines are there?", home=tmp_path / "home", docs=[engines(tmp_path / "docs")])

    kinds: set[str] = set()

    def take_over(event: Event) -> None:
        kinds.add(event.kind)
        if "section_started" not in kinds:
            return
        # A checkpoint that is being written holds the row, and is written by the loop that waits here: then at the next.
        with psycopg.connect(url, autocommit=True) as connection, suppress(psycopg.errors.LockNotAvailable):
            connection.execute("SET lock_timeout = '50ms'")
            connection.execute("UPDATE deep_research.runs SET fence = fence + 1 WHERE fence = 1")

    with pytest.raises(RunTakenOver):
        go_on(ran, listener=take_over)
    assert ran.folder.load().status == "running"
    assert not [event for event in ran.folder.read_events() if event.kind == "run_failed"]


def test_a_graph_that_a_program_drives_writes_no_checkpoint_once_it_was_taken_over(url: str, tmp_path: Path) -> None:
    def take_over(_question: str) -> str:
        with psycopg.connect(url, autocommit=True) as connection:  # the process slept while its user thought
            connection.execute("UPDATE deep_research.runs SET fence = fence + 1")
            written.append(connection.execute("SELECT count(*) FROM checkpoints").fetchone())
        return "the Alpha engine"

    written: list[Any] = []
    config: Any = {"configurable": {"docs": [str(engines(tmp_path / "docs"))], "home": str(tmp_path / "home")}}
    with pytest.raises(RunTakenOver):
        asyncio.run(run_deep_research("tell me about it", config=config, on_clarify_question=take_over))
    with psycopg.connect(url) as connection:
        assert [connection.execute("SELECT count(*) FROM checkpoints").fetchone()] == written


def test_answers_that_a_killed_process_had_are_taken_over(url: str, tmp_path: Path) -> None:
    store = PostgresRuns(url, home=tmp_path).create(
        RunRecord(run_id="r", question="Why?", language="en", status="running", created="2026")
    )
    spool = AnswerSpool(tmp_path / "spool", "r", 0)
    spool.append(StoredCall("model", "q", "paid \udc80", 1.0, 2.0))
    spool.append(StoredCall("model", "cut", "short", 1.0, 2.0))
    spool.close(delete=False)
    (file,) = (tmp_path / "spool").iterdir()
    file.write_bytes(file.read_bytes()[:-9])
    with store.held():
        journal = store.open_journal()
        assert journal.find("model", "q") == "paid \udc80"
        assert journal.count("model") == 1
        journal.close()
    assert list((tmp_path / "spool").iterdir()) == []


async def _write_checkpoint(at: Checkpoints) -> None:
    async with open_checkpoints(at.location, at.guard) as saver:
        config: Any = {"configurable": {"thread_id": at.thread, "checkpoint_ns": ""}}
        await saver.aput(config, empty_checkpoint(), {}, {})


def test_a_database_that_is_away_is_waited_for(url: str) -> None:
    runs = PostgresRuns(url)
    store = runs.create(RunRecord(run_id="r", question="Why?", language="en", status="running", created="2026"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    store.save(store.load().model_copy(update={"title": "after"}))
    assert store.load().title == "after"
