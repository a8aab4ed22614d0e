"""What only a file can do: survive, be damaged, be full, be shared."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deep_research.data import Document, Found
from deep_research.errors import StoreError
from deep_research.search.term_index import VERSION
from deep_research.stores.sqlite_library import SqliteLibrary

WHEN = "2024-05-01T00:00:00Z"
WRITER = """
import sys
from deep_research.data import Document, Found
from deep_research.stores import sqlite_library as sqlite
from deep_research.stores.sqlite_library import SqliteLibrary
library = SqliteLibrary(sys.argv[1])
number = 0
while True:
    number += 1
    source = library.add_source(Found(key=f"k{number}", title=f"Title {number}", origin="o"))
    text = " ".join(f"Fact {number} of paragraph {i} holds." for i in range(400))
    library.add_snapshot(source.id, Document(text=text), retrieved_at="2024-05-01T00:00:00Z")
    print(source.id, flush=True)
"""


def add(library: SqliteLibrary, key: str, text: str, title: str = "") -> str:
    source = library.add_source(Found(key=key, title=title, origin="o"))
    library.add_snapshot(source.id, Document(text=text), retrieved_at=WHEN)
    return source.id


def test_what_was_added_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        written = [writer.stdout.readline().strip() for _ in range(5)]
        os.kill(writer.pid, signal.SIGKILL)
    library = SqliteLibrary(path)
    assert written == ["s1", "s2", "s3", "s4", "s5"]
    for source in written:
        snapshot = library.snapshot(source)
        assert snapshot is not None
        assert all(p.text == snapshot.text[p.start : p.end] for p in library.passages(source))
        assert library.passages(source)
    hits = library.search("fact 3 of paragraph", limit=50)
    assert {"s3"} <= {hit.passage.source for hit in hits}
    # Whatever was half written is gone from the index too: every source has all of its passages or none.
    assert all(bool(library.passages(s.id)) == (library.snapshot(s.id) is not None) for s in library.sources())
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    current = check.execute("SELECT count(*) FROM passages WHERE current").fetchone()
    assert check.execute("SELECT count(*) FROM terms_docsize").fetchone() == current
    check.execute("INSERT INTO terms (terms) VALUES ('integrity-check')")
    check.close()
    library.close()


def test_a_batch_that_fails_leaves_nothing(tmp_path: Path) -> None:
    library = SqliteLibrary(tmp_path / "library.db")
    add(library, "a", "The zebra stays.")

    def stopped_in_the_middle() -> None:
        with library.batch():
            add(library, "b", "The zebra goes.")
            assert len(library.search("zebra", limit=5)) == 2
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stopped_in_the_middle()
    assert [h.passage.source for h in library.search("zebra", limit=5)] == ["s1"]
    assert [s.key for s in library.sources()] == ["a"]
    assert library.search("goes", limit=5) == []
    with library.batch():
        add(library, "b", "The zebra returns.")
    assert len(library.search("zebra", limit=5)) == 2
    library.close()


def test_a_text_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    library = SqliteLibrary(path)
    text = "".join(f"Sentence number {i} of a long text. " for i in range(3000))
    first, second = add(library, "a", text), add(library, "b", text)
    check = sqlite3.connect(path)
    assert check.execute("SELECT count(*), sum(length) FROM texts").fetchone() == (1, len(text))
    assert check.execute("SELECT sum(length(body)) FROM chunks").fetchone() == (len(text),)
    library.remove_source(first)
    assert check.execute("SELECT count(*) FROM texts").fetchone() == (1,)
    assert {hit.passage.source for hit in library.search("sentence number", limit=5)} == {second}
    library.remove_source(second)
    assert check.execute("SELECT count(*) FROM chunks").fetchone() == (0,)
    assert check.execute("SELECT count(*) FROM terms_docsize").fetchone() == (0,)
    assert check.execute("SELECT count(*) FROM titles").fetchone() == (0,)
    assert check.execute("SELECT count(*) FROM terms WHERE terms MATCH 'sentenc'").fetchone() == (0,)
    check.close()
    library.close()


def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    library = SqliteLibrary(path)
    add(library, "a", "The zebra crossed the road.")
    library.close()
    old = sqlite3.connect(path)
    old.executescript(
        """
        DROP TABLE terms;
        DROP TABLE titles;
        CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, frequency INTEGER NOT NULL);
        CREATE TABLE postings (place INTEGER PRIMARY KEY, entries BLOB NOT NULL);
        CREATE TABLE collection (id INTEGER PRIMARY KEY, passages INTEGER NOT NULL, length INTEGER NOT NULL);
        INSERT INTO terms VALUES (1, 'zebra', 1);
        INSERT INTO postings VALUES (1048576, x'00000000');
        INSERT INTO collection VALUES (1, 1, 3);
        UPDATE meta SET value = '4' WHERE name = 'index';
        """
    )
    old.close()
    again = SqliteLibrary(path)
    assert len(again.search("zebra", limit=5)) == 1
    again.close()
    check = sqlite3.connect(path)
    assert check.execute("SELECT value FROM meta WHERE name = 'index'").fetchone() == (VERSION,)
    assert not check.execute("SELECT name FROM sqlite_master WHERE name IN ('postings', 'collection')").fetchall()
    check.close()


def test_not_a_database_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Not a database, but long enough to look like one. " * 100)
    with pytest.raises(StoreError, match="another file") as caught:
        SqliteLibrary(path)
    assert str(path) in str(caught.value)
    assert caught.value.path == str(path)
    assert path.read_text().startswith("Not a database")


def test_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    library = SqliteLibrary(tmp_path / "library.db")
    kept = add(library, "a", "The zebra crossed the road.")
    limit = library._db.execute("PRAGMA page_count").fetchone()[0] + 4
    library._db.execute(f"PRAGMA max_page_count = {limit}")  # what SQLite answers is that of a full disk
    source = library.add_source(Found(key="b", title="", origin="o"))
    with pytest.raises(StoreError, match="disk is full"):
        library.add_snapshot(source.id, Document(text="word " * 100_000), retrieved_at=WHEN)
    assert library.snapshot(source.id) is None
    assert [h.passage.source for h in library.search("zebra", limit=5)] == [kept]
    library.close()


def test_threads_share_a_library(tmp_path: Path) -> None:
    library = SqliteLibrary(tmp_path / "library.db")
    failed: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for i in range(12):
                source = add(library, f"{worker}-{i}", f"Worker {worker} wrote the unicorn number {i}.")
                assert library.passages(source)
                assert library.search("unicorn", limit=3)
                add(library, f"shared-{i}", f"The shared dragon {i}.")
        except BaseException as error:  # noqa: BLE001 — handed to the test below
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(library.sources()) == 4 * 12 + 12
    assert library.search("unicorn", limit=100)
    library.close()
