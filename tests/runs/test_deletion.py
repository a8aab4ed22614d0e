"""What is kept of runs: for their owner alone, and gone when it is deleted."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deep_research import api
from deep_research.api import find_runs
from deep_research.errors import RunNotFound
from deep_research.fetch.addresses import parse_address
from deep_research.fetch.http_cache import AnswerStore
from deep_research.fetch.transport import Answer
from deep_research.runs.deletion import delete_runs, parse_age
from deep_research.stores.run_folder import RunFolder, folder_size, held, list_runs
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.runs.running import begin, command, engines, run

QUESTION = "Which kinds of engines are there?"


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _open_to_others(home: Path) -> list[str]:
    paths = [home, *home.rglob("*")]
    return [f"{stat.filemode(p.stat().st_mode)} {p}" for p in paths if p.stat().st_mode & 0o077]


def holding(home: Path, text: str) -> list[Path]:
    """The files of a state folder in which a text stands, as it is or in a database."""
    return [path for path in home.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


@pytest.mark.usefixtures("open_umask")
def test_the_files_that_sqlite_makes_beside_a_database_are_the_owners_too(own_state: Path) -> None:
    own_state.mkdir()
    library = SqliteLibrary(own_state / "library.db")
    assert {path.name for path in own_state.iterdir()} >= {"library.db", "library.db-wal", "library.db-shm"}
    assert [line for line in _open_to_others(own_state) if "library" in line] == []
    library.close()


@pytest.mark.usefixtures("open_umask")
def test_what_is_kept_is_its_owners_alone_and_counted_and_goes_with_the_only_run_that_needed_it(
    own_state: Path, tmp_path: Path
) -> None:
    one, other = engines(tmp_path / "one"), engines(tmp_path / "other")
    (one / "note.md").write_text("The private word about engines is CANARYONE.")
    first = run(QUESTION, home=own_state, docs=[one])
    second = run(QUESTION, home=own_state, docs=[other])
    assert holding(own_state, "CANARYONE")
    assert len(list((own_state / "documents").glob("*.db"))) == 2
    assert len(list(own_state.rglob("*"))) > 8
    assert _open_to_others(own_state) == []
    kept, index = api.kept_runs(home=own_state), folder_size(own_state / "documents")
    assert kept.runs == 2
    assert kept.bytes == index + folder_size(own_state / "runs")
    assert index > 0
    done = api.delete_runs([first.folder.run_id], home=own_state)
    assert done.runs == (first.folder.run_id,)
    assert done.freed > 100_000
    assert holding(own_state, "CANARYONE") == []
    assert [record.run_id for record in list_runs(own_state)] == [second.folder.run_id]
    assert len(list((own_state / "documents").glob("*.db"))) == 1
    assert RunFolder(own_state, second.folder.run_id).load_result().report == second.report.report


def test_pages_stay_where_it_is_not_known_who_needs_them(own_state: Path, tmp_path: Path) -> None:
    docs = engines(tmp_path / "docs")
    first, second = (begin(QUESTION, home=own_state, docs=[docs]).folder for _ in range(2))
    with closing(AnswerStore(own_state / "pages.db")) as cache:
        cache.put(Answer(parse_address("http://a.test/"), 200, {}, b"text"), at=0.0)
    second.library.write_bytes(b"damaged" * 1000)
    done = command("delete", first.run_id, "--yes")
    assert done.code == 0
    assert f"Pages of the web were left, because what these runs have read is not readable: {second.run_id}" in done.err
    assert holding(own_state, "http://a.test/")
    second.library.unlink()
    third = begin(QUESTION, home=own_state, docs=[docs]).folder
    assert delete_runs(own_state, [third.run_id]).unreadable == ()
    assert not holding(own_state, "http://a.test/")


def test_a_run_that_is_being_carried_out_is_left(own_state: Path, tmp_path: Path) -> None:
    docs = engines(tmp_path / "docs")
    first, second = (begin(QUESTION, home=own_state, docs=[docs]).folder for _ in range(2))
    with held(first.lock, run_id=first.run_id):
        done = delete_runs(own_state, [first.run_id, second.run_id])
    assert (done.runs, done.busy) == ((second.run_id,), (first.run_id,))
    assert [record.run_id for record in list_runs(own_state)] == [first.run_id]


def test_what_a_crash_left_of_a_deleted_run_is_no_run_and_goes_the_next_time(own_state: Path, tmp_path: Path) -> None:
    docs = engines(tmp_path / "docs")
    first, second = (begin(QUESTION, home=own_state, docs=[docs]).folder for _ in range(2))
    first.path.rename(first.path.with_name(f".deleted-{first.run_id}"))
    assert [record.run_id for record in list_runs(own_state)] == [second.run_id]
    delete_runs(own_state, [second.run_id])
    assert list((own_state / "runs").iterdir()) == []


def test_old_runs_are_found_by_age(own_state: Path, tmp_path: Path) -> None:
    docs = engines(tmp_path / "docs")
    old, waiting, new = (begin(QUESTION, home=own_state, docs=[docs]).folder for _ in range(3))
    before = (datetime.now(UTC) - timedelta(days=40)).isoformat()
    old.save(old.load().model_copy(update={"created": before, "status": "finished"}))
    waiting.save(waiting.load().model_copy(update={"created": before, "status": "waiting"}))
    assert {record.run_id for record in find_runs(older_than="30d", home=own_state)} == {old.run_id, waiting.run_id}
    assert {record.run_id for record in list_runs(own_state)} == {old.run_id, waiting.run_id, new.run_id}


@pytest.mark.parametrize(("text", "hours"), [("12h", 12), ("30d", 720), (" 2W ", 336), ("6m", 4320), ("1y", 8760)])
def test_ages(text: str, hours: int) -> None:
    assert parse_age(text) == timedelta(hours=hours)


def test_a_damaged_run_is_listed_as_such_and_can_be_deleted(own_state: Path, tmp_path: Path) -> None:
    folder = begin(QUESTION, home=own_state, docs=[engines(tmp_path / "docs")]).folder
    (folder.path / "run.json").write_bytes(b"\xff{")
    listed = command("list")
    assert listed.code == 0
    assert f"{folder.run_id}  damaged" in listed.out
    shown = command("show", folder.run_id)
    assert "is damaged" in shown.err
    assert "Traceback" not in shown.err
    with pytest.raises(RunNotFound, match="is damaged"):
        folder.load()
    assert command("delete", folder.run_id, "--yes").code == 0
    assert list_runs(own_state) == []


def test_the_command_deletes_nothing_unasked(own_state: Path, tmp_path: Path) -> None:
    folder = begin(QUESTION, home=own_state, docs=[engines(tmp_path / "docs")]).folder
    assert command("delete").code == 2
    assert command("delete", "--older-than", "soon").code == 2
    assert command("delete", "no-such-run").code == 2
    refused = command("delete", folder.run_id)
    assert refused.code == 2
    assert "add --yes" in refused.err
    assert folder.run_id in refused.err
    assert folder.path.exists()
    assert command("delete", "--older-than", "1d", "--yes").out == "There are no such runs.\n"
    done = command("delete", "--all", "--yes")
    assert done.code == 0
    assert done.out.startswith("Deleted 1 run and ")
    assert not folder.path.exists()
