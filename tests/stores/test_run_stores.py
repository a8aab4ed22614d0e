"""What is kept of runs, on every store alike."""

import asyncio
import json
import random
import string
from pathlib import Path

import pytest
from tests.runs.running import engines, run

from deep_research.data import Document, FollowUp, Found, Message, Steer
from deep_research.errors import RunBusy, RunNotFound
from deep_research.events import Event, StageStarted
from deep_research.stores.run_bundle import read_bundle, write_bundle
from deep_research.stores.run_folder import FolderRuns
from deep_research.stores.run_store import HEAD_CHARS, RunRecord, RunStore, RunStores

ODD = "lone \ud800 surrogate, NUL \x00, 漢字, \u202e"


PLAIN = ODD.replace("\ud800", "")
"""What a journal is given: its texts are made safe before."""


def _record(run_id: str, created: str = "2026-01-02T03:04:05+00:00") -> RunRecord:
    return RunRecord(run_id=run_id, question="Why?", language="en", status="running", created=created)


@pytest.fixture
def store(runs: RunStores) -> RunStore:
    return runs.create(_record("first"))


def test_records_are_kept_listed_and_found_by_a_part_of_their_id(runs: RunStores) -> None:
    assert not runs.store("first").exists()
    first, second = runs.create(_record("first")), runs.create(_record("second", "2027-01-01T00:00:00+00:00"))
    first.save(first.load().model_copy(update={"status": "finished", "title": ODD}))
    assert [(r.run_id, r.status) for r in runs.list()] == [("second", "running"), ("first", "finished")]
    assert runs.open("fir").run_id == "first"
    assert second.exists()
    for unknown in ("", "s", "third"):
        with pytest.raises(RunNotFound):
            runs.open(unknown)
    assert runs.new_id("first") not in ("first", "second")
    assert runs.new_id("free") == "free"
    second.delete()
    assert [r.run_id for r in runs.list()] == ["first"]
    with pytest.raises(RunNotFound):
        second.load()


def test_a_list_holds_the_heads_of_long_records_and_of_those_of_earlier_versions(runs: RunStores) -> None:
    said = (Message(role="user", text="漢" * HEAD_CHARS),)
    many = tuple(f"/docs/{number}/{'d' * 90}" for number in range(300))
    for number, (question, docs) in enumerate((("Why?", ()), ("漢字? " * 5_000, ()), ("Why?", many)), 1):
        record = _record(f"run{number}").model_copy(update={"question": question, "docs": docs, "history": said})
        runs.create(record)
        assert runs.store(record.run_id).load() == record
        head = runs.list()[0]
        assert (head.run_id, head.question, head.docs) == (record.run_id, question[:2_000], docs)
        assert not hasattr(head, "history")
    assert sorted(runs.ids()) == ["run1", "run2", "run3"]
    kept = runs.kept()
    assert kept.runs == 3
    assert kept.bytes > 1_000


def test_a_head_is_read_without_what_stands_behind_it(tmp_path: Path) -> None:
    record = _record("one").model_copy(update={"history": (Message(role="user", text="x" * 50_000),)})
    folder = FolderRuns(tmp_path).create(record)
    path = folder.path / "run.json"
    path.write_bytes(path.read_bytes() + b"}")  # whoever reads as far as that finds it damaged
    assert [(one.status, one.question) for one in FolderRuns(tmp_path).list()] == [("running", "Why?")]
    with pytest.raises(RunNotFound, match="damaged"):
        folder.load()
    earlier = json.loads(record.model_dump_json())  # whose long conversation stood before its title
    path.write_text(
        json.dumps({**{name: earlier.pop(name) for name in ("run_id", "history")}, **earlier, "title": "T"})
    )
    assert [(one.title, one.question) for one in FolderRuns(tmp_path).list()] == [("T", "Why?")]
    assert folder.load().history == record.history


def test_events_are_numbered_kept_and_followed(store: RunStore) -> None:
    shown: list[Event] = []
    log, tail = store.open_log(shown.append), store.tail_events()
    log.emit(StageStarted(stage="plan"))
    assert len(tail.read()) == 1
    log.emit(StageStarted(stage=ODD))
    log.close()
    again = store.open_log(shown.append)
    assert [e.number for e in again.earlier] == [1, 2]
    again.emit(StageStarted(stage="report"))
    again.close()
    assert store.read_events() == shown
    assert [len(tail.read()), len(tail.read())] == [2, 0]
    assert store.read_events("1") == []


def test_a_call_is_made_once_and_notes_are_replaced(store: RunStore) -> None:
    made: list[str] = []

    async def make() -> str:
        made.append("")
        await asyncio.sleep(0.01)
        return PLAIN

    async def ask() -> list[tuple[str, bool]]:
        journal = store.open_journal()
        answers = [await journal.call("model", PLAIN, make)]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(journal.call("search", "q", make)) for _ in range(3)]
        journal.note("seen", "b", "1")
        journal.note("seen", "a", PLAIN)
        journal.note("seen", "b", "2")
        journal.close()
        return answers + [task.result() for task in tasks]

    assert asyncio.run(ask()) == [(PLAIN, False), (PLAIN, False), (PLAIN, True), (PLAIN, True)]
    assert len(made) == 2
    journal = store.open_journal()
    assert (journal.find("model", PLAIN), journal.find("model", "other")) == (PLAIN, None)
    assert (journal.count("search"), journal.answers("model")) == (1, [PLAIN])
    assert list(journal.notes("seen").items()) == [("b", "2"), ("a", PLAIN)]
    journal.close()


async def test_a_note_is_about_a_request_of_any_length(store: RunStore) -> None:
    long = PLAIN + "".join(random.Random(1).choices(string.printable, k=20_000))

    async def make() -> str:
        return "answer"

    journal = store.open_journal()
    for answer in ("1", "2"):
        journal.note("failed", long, answer)
        await journal.call("search", f"q{answer}", make)  # a note waits for the next call
    assert dict(journal.notes("failed")) == {long: "2"}
    journal.close()
    again = store.open_journal()
    assert (again.count("search"), [note.request for note in again.all_notes()]) == (2, [long])
    again.close()


def test_a_library_is_the_same_when_it_is_opened_again(store: RunStore) -> None:
    texts = {"alpha": "The Alpha engine turns at 3,000 rpm.", "beta": f"The Beta engine turns at 4,500 rpm. {ODD}"}
    library = store.open_library()
    with library.batch():
        for name, text in texts.items():
            source = library.add_source(Found(key=name, title="", origin="test"))
            library.add_snapshot(source.id, Document(text=text, title=name.title()), retrieved_at="2026-01-01")
    library.add_source(Found(key="unread", title="Unread", origin="test"))
    library.add_snapshot("s1", Document(text="The Alpha engine turns at 3,100 rpm."), retrieved_at="2026-01-02")
    assert library.add_source(Found(key="beta", title="", origin="test")).id == "s2"
    before = (library.sources(), library.snapshot("s2"), library.passage("s1p1"), library.passages("s1"))
    hits = library.search("which engine turns at 3,100 rpm", limit=5, hops=2)
    library.close()
    again = store.open_library()
    assert (again.sources(), again.snapshot("s2"), again.passage("s1p1"), again.passages("s1")) == before
    assert again.search("which engine turns at 3,100 rpm", limit=5, hops=2) == hits
    assert [s.title for s in again.sources()] == ["Alpha", "Beta", "Unread"]
    assert len(list(again.snapshots())) == 3
    again.remove_source("s2")
    again.close()
    last = store.open_library()
    assert [s.id for s in last.sources()] == ["s1", "s3"]
    last.close()


def test_instructions_and_follow_ups_are_kept_in_order(store: RunStore) -> None:
    store.add_steer(Steer(kind="remark", text="one", id="1"))
    store.add_steer(Steer(kind="finish", id="2"))
    assert [s.id for s in store.read_steers()] == ["1", "2"]
    made = FollowUp(run_id="first", number=store.next_follow_up(), question="And?", language="en", created="now")
    store.save_follow_up(made)
    store.save_follow_up(made.model_copy(update={"status": "finished"}))
    assert [(f.number, f.status) for f in store.read_follow_ups()] == [(1, "finished")]
    assert store.next_follow_up() == 2
    long = made.model_copy(update={"number": 2, "history": (Message(role="user", text="漢" * HEAD_CHARS),)})
    store.save_follow_up(long)
    assert [(head.number, head.status, head.question) for head in store.list_follow_ups()] == [
        (1, "finished", "And?"), (2, "running", "And?"),
    ]  # fmt: skip
    assert not hasattr(store.list_follow_ups()[0], "report")
    assert store.read_follow_up(2) == long
    assert store.read_follow_up(3) is None


def test_one_process_at_a_time_holds_a_run(runs: RunStores, store: RunStore) -> None:
    assert not store.is_held()
    with store.held():
        assert store.is_held()
        with pytest.raises(RunBusy, match="carried out by"), runs.store("first").held():
            pass
        with pytest.raises(RunBusy):
            runs.store("first").delete()
    assert not store.is_held()
    with runs.store("first").held():
        pass


def test_a_bundle_goes_from_one_store_to_the_other(runs: RunStores, tmp_path: Path) -> None:
    ran = run(
        "Which kinds of engines are there?", home=tmp_path / "made", docs=[engines(tmp_path / "docs")], workflow="quick"
    )
    there, back = tmp_path / "there.zip", tmp_path / "back.zip"
    write_bundle(ran.folder, there)
    taken = read_bundle(there, runs)
    assert taken.load_result() == ran.report
    assert taken.read_events() == ran.folder.read_events()
    write_bundle(taken, back)
    last = read_bundle(back, FolderRuns(tmp_path / "last"))
    assert last.load_result() == ran.report
    library, first = last.open_library(), ran.folder.open_library()
    assert list(library.snapshots()) == list(first.snapshots())
    assert list(last.open_journal().calls()) == list(ran.folder.open_journal().calls())
    library.close()
    first.close()
