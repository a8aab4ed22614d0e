import asyncio
import gzip
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deep_research.data import Gap, SearchResult
from deep_research.errors import ConfigError, NotFound, Stopped
from deep_research.isolated_reading import CRASHED
from deep_research.ports import Library
from deep_research.sources import documents as _document_reading
from deep_research.sources.documents import DocumentsSource
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.readers.hostile_files import corpus
from tests.readers.made_files import box, open_document


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = SqliteLibrary(tmp_path / "index.db")
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "deep").mkdir(parents=True)
    (docs / "volcano.md").write_text("# Volcanoes\n\nA volcano erupts lava from a magma chamber.\n")
    (docs / "deep" / "glacier.html").write_text(
        "<html><head><title>Glaciers</title></head><body><h1>Glaciers</h1><p>A glacier is a body of dense ice.</p>"
    )
    return docs


class Progress:
    """Keeps what was reported."""

    def __init__(self) -> None:
        self.reports: list[tuple[str, int, int]] = []

    def __call__(self, what: str, done: int, total: int) -> None:
        self.reports.append((what, done, total))

    @property
    def read(self) -> int:
        """How many files were looked into."""
        return max((total for what, _, total in self.reports if what == "Reading documents"), default=0)


async def prepare(library: Library, *paths: Path, **options: object) -> tuple[DocumentsSource, list[Gap], int]:
    source = DocumentsSource(paths, library, **options)  # pyright: ignore[reportArgumentType]
    progress = Progress()
    gaps = list(await source.prepare(progress))
    await asyncio.sleep(0)
    return source, gaps, progress.read


def titles(result: SearchResult) -> list[str]:
    return [found.title for found in result.found]


async def test_search_and_read(library: Library, folder: Path):
    source, gaps, read = await prepare(library, folder)
    assert (gaps, read) == ([], 2)
    result = await source.search("What does a volcano erupt?", limit=5)
    found = result.found[0]
    path = folder / "volcano.md"
    assert (found.key, found.url, found.location) == (path.as_uri(), path.as_uri(), "volcano.md")
    assert (found.title, found.origin, found.document) == ("Volcanoes", "documents", None)
    document = await source.read(found)
    assert "erupts lava" in document.text[found.spans[0].start : found.spans[0].end]
    assert document.headings[0].title == "Volcanoes"
    glacier = (await source.search("glacier ice", limit=1)).found[0]
    assert glacier.location == os.path.join("deep", "glacier.html")
    with pytest.raises(NotFound):
        await source.read(found.model_copy(update={"key": "file:///nowhere"}))
    await source.close()


async def test_only_what_changed_is_read_again(library: Library, folder: Path):
    await prepare(library, folder)
    assert (await prepare(library, folder))[2] == 0
    (folder / "volcano.md").write_text("# Volcanoes\n\nA geyser is a hot spring that erupts.\n")
    (folder / "reef.txt").write_text("A coral reef is built by colonies of polyps.")
    source, _, read = await prepare(library, folder)
    assert read == 2
    assert "Volcanoes" in titles(await source.search("geyser hot spring", limit=5))
    assert "Volcanoes" not in titles(await source.search("magma chamber lava", limit=5))
    assert "reef" in titles(await source.search("coral polyps", limit=5))


async def test_a_file_that_has_become_whole_at_the_same_size_and_time_is_read(library: Library, folder: Path):
    whole = open_document("text", "<text:p>" + "A geyser is a hot spring. " * 9 + "</text:p>")
    file = folder / "copied.odt"
    file.write_bytes(whole[:100] + bytes(len(whole) - 100))
    os.utime(file, (1, 1))
    assert [gap.what for gap in (await prepare(library, folder))[1]] == ["copied.odt"]
    file.write_bytes(whole)
    os.utime(file, (1, 1))
    source, gaps, read = await prepare(library, folder)
    assert (gaps, read) == ([], 1)
    assert "copied" in titles(await source.search("geyser hot spring", limit=5))


async def test_problems_are_gaps_every_time_and_read_once(library: Library, folder: Path):
    (folder / "empty.txt").touch()
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 word/ and then nothing")
    (folder / "scan.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "huge.txt").write_text("x " * 60_000)
    (folder / "data.bin").write_bytes(bytes(1000))
    (folder / "blank.html").write_text("<html><body><script>1</script></body></html>")
    expected = {
        "empty.txt": "empty",
        "broken.docx": "the DOCX file is broken",
        "scan.pdf": "the PDF is broken",
        "huge.txt": "larger than 0.1 MB",
        "data.bin": "of a format that is not read",
        "blank.html": "no text in it",
    }
    _, gaps, read = await prepare(library, folder, max_file_bytes=100_000)
    assert {gap.what: gap.why for gap in gaps} == expected
    assert read == 8
    _, gaps, read = await prepare(library, folder, max_file_bytes=100_000)
    assert {gap.what: gap.why for gap in gaps} == expected
    assert read == 0


async def test_loops_and_second_names_are_followed_once(library: Library, folder: Path):
    (folder / "deep" / "up").symlink_to(folder)
    (folder / "self").symlink_to(folder / "self")
    (folder / "again.md").symlink_to(folder / "volcano.md")
    (folder / "nowhere.md").symlink_to(folder / "missing.md")
    _, gaps, read = await prepare(library, folder, folder / "deep", folder / "volcano.md")
    assert read == 2
    assert {gap.what for gap in gaps} == {"nowhere.md", "self"}
    assert {source.location for source in library.sources() if source.origin == "documents"} == {
        *("volcano.md", os.path.join("deep", "glacier.html"))  # not again.md, which comes before
    }


async def test_nothing_in_a_folder_is_passed_over_without_being_named(library: Library, folder: Path):
    (folder / ".git").mkdir()
    (folder / ".git" / "notes.md").write_text("hidden")
    (folder / ".secret.md").write_text("hidden")
    (folder / "node_modules").mkdir()
    for name in ("objects.inv", "genindex.html", "song.mp3", "photo.png", "plan.svg", "old.doc"):
        (folder / name).write_bytes(b"\x00\x01\x02\x03")
    (folder / "shot.png").write_bytes(b"RIFF\x10\x00\x00\x00WEBPVP8 ")
    (folder / "_sources").mkdir()
    (folder / "_sources" / "volcano.rst.txt").write_text("the same again")
    (folder / "style.css").write_text("p {}")
    (folder / "print.ps.gz").write_bytes(gzip.compress(b"%!PS-Adobe-3.0\n(A volcano) show\n"))
    (folder / "guide.texi").write_text("@node Top\nA @emph{volcano}.\n")
    (folder / "print.ps").write_bytes(b"%!PS-Adobe-3.0\n(A volcano) show\n")
    os.mkfifo(folder / "pipe.txt")
    _, gaps, read = await prepare(library, folder)
    assert read == 2 + 9  # style.css, and what has no text to be had
    named = {name: gap.why for gap in gaps for name in gap.what.split(", ")}
    told = ("hidden", "form for searching", "format", "picture", "drawing", "pipe")
    assert {next(word for word in told if word in why) for why in named.values()} == set(told)
    assert named["shot.png"].endswith(": image/webp")
    assert set(named) == {
        *(".git", ".secret.md", "node_modules", "objects.inv", "genindex.html", "_sources", "pipe.txt"),
        *("song.mp3", "photo.png", "plan.svg", "old.doc", "shot.png", "print.ps", "print.ps.gz", "guide.texi"),
    }


async def test_each_message_of_an_archive_is_a_document_and_what_is_attached_too(library: Library, folder: Path):
    (folder / "box.mbox").write_bytes(box(["Keys", "Lunch"], attached=("plan.csv", b"Task,Day\nMove,Monday\n")))
    source, gaps, _ = await prepare(library, folder)
    assert [gap.why for gap in gaps] == ["attachment scan.png: a picture, which is not read inside a message"]
    result = await source.search("Move Monday", limit=1)
    assert [(found.title, found.location) for found in result.found] == [("plan.csv (Keys)", "box.mbox#2")]
    assert (await source.read(result.found[0])).text == "| Task | Day |\n| --- | --- |\n| Move | Monday |"
    (folder / "box.mbox").unlink()
    source, _, _ = await prepare(library, folder)
    assert not (await source.search("Move Monday", limit=1)).found


async def test_folder_that_may_not_be_read_is_a_gap(library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch):
    locked = folder / "deep"
    listdir = os.listdir

    def guarded(path: str | Path) -> list[str]:  # a superuser may read everything, so the refusal is made here
        if Path(path) == locked:
            raise PermissionError(13, "Permission denied")
        return listdir(path)

    monkeypatch.setattr(os, "listdir", guarded)
    _, gaps, read = await prepare(library, folder)
    assert gaps == [Gap(what="deep", why="no permission to read it", source="documents")]
    assert read == 1


async def test_an_entry_that_the_system_refuses_costs_itself_alone(
    library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    made = folder / "deep"
    for _ in range(30):  # longer than a path may be: made from inside, as archives do
        made.mkdir(exist_ok=True)
        monkeypatch.chdir(made)
        made = Path("n" * 200)
    _, gaps, read = await prepare(library, folder)
    assert read >= 1
    (gap,) = [gap for gap in gaps if "nnn" in gap.what]
    assert "too long" in gap.why


async def test_folder_without_readable_file_says_why_names_the_formats_and_is_not_counted_as_read(
    library: Library, folder: Path, tmp_path: Path
):
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "empty.txt").touch()
    await DocumentsSource([folder, tmp_path / "none"], library).prepare(progress := Progress())
    await asyncio.sleep(0)
    assert progress.reports[-1] == ("Documents read", 2, 3)
    with pytest.raises(
        ConfigError, match=r"no readable document in .*none \(empty.txt: empty\).*\.docx.*\.html.*\.pdf"
    ):
        await prepare(library, tmp_path / "none")


def many(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"note{number:03}.txt").write_text(f"Note {number} speaks of subject{number} at length.")


async def test_many_files_are_read_beside_and_the_loop_stays_free(library: Library, folder: Path):
    many(folder, 150)
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counter = asyncio.create_task(count_turns())
    source, gaps, read = await prepare(library, folder)
    counter.cancel()
    assert (gaps, read) == ([], 152)
    assert turns > 100
    assert titles(await source.search("subject77", limit=3)) == ["note077"]


def test_a_reader_that_hangs_costs_one_file(folder: Path):
    os.mkfifo(folder / "hangs.txt")
    paths = [str(folder / "hangs.txt"), str(folder / "volcano.md")]
    (_, hung), (_, good) = _document_reading.read_in_child(paths, 1_000_000, seconds=2)
    assert hung.document is None
    assert hung.why == "reading it crashed, or took too much memory or time"
    assert good.document is not None


def test_one_long_text_is_in_memory_at_a_time_whoever_reads(tmp_path: Path):
    """The readings are of several runs, of several owners perhaps; a short text does not wait."""
    paths = [tmp_path / name for name in ("one.txt", "two.txt", "short.txt")]
    for path, times in zip(paths, (400_000, 400_000, 4), strict=True):
        path.write_text(f"All of {path.stem}.\n\n" * times)
    one, two, short = map(str, paths)

    def leave() -> None:
        raise Stopped("another has the room")

    reading = _document_reading.read_in_child([one, two], 64_000_000, go_on=lambda: None)
    assert next(reading)[1].document is not None
    with pytest.raises(Stopped):
        next(_document_reading.read_in_child([two], 64_000_000, go_on=leave))
    ((_, beside),) = _document_reading.read_in_child([short], 64_000_000, go_on=leave)
    assert beside.document is not None
    assert next(reading)[1].document is not None
    reading.close()
    ((_, after),) = _document_reading.read_in_child([two], 64_000_000)
    assert after.document is not None


_INDEXER = """
import asyncio, sys
from pathlib import Path
from deep_research.sources.documents import DocumentsSource
from deep_research.stores.sqlite_library import SqliteLibrary

def progress(what, done, total):
    print(what, done, total, flush=True)

async def main():
    library = SqliteLibrary(Path(sys.argv[2]))
    source = DocumentsSource([Path(sys.argv[1])], library)
    await source.prepare(progress)
    await asyncio.sleep(0)
    print("ready", flush=True)

asyncio.run(main())
"""


def start_indexer(folder: Path, index: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _INDEXER, str(folder), str(index)], stdout=subprocess.PIPE, text=True
    )


async def test_kill_in_the_middle_loses_nothing_that_was_written(folder: Path, tmp_path: Path):
    many(folder, 400)
    process = start_indexer(folder, tmp_path / "index.db")
    assert process.stdout
    seen = 0
    for line in process.stdout:
        if line.startswith("Reading documents") and int(line.split()[2]) >= 100:
            seen = int(line.split()[2])
            process.kill()
            break
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    library = SqliteLibrary(tmp_path / "index.db")
    source, gaps, read = await prepare(library, folder)
    assert gaps == []
    assert 0 < read <= 402 - seen
    found = {found.title for n in range(0, 400, 40) for found in (await source.search(f"subject{n}", limit=1)).found}
    assert found == {f"note{n:03}" for n in range(0, 400, 40)}
    library.close()


async def test_two_processes_on_one_folder(folder: Path, tmp_path: Path):
    many(folder, 200)
    processes = [start_indexer(folder, tmp_path / "index.db") for _ in range(2)]
    outputs = [process.communicate(timeout=100)[0] for process in processes]
    assert all(output.endswith("ready\n") for output in outputs)
    library = SqliteLibrary(tmp_path / "index.db")
    source, gaps, read = await prepare(library, folder)
    assert (gaps, read, len(library.sources())) == ([], 0, 202)
    assert titles(await source.search("subject123", limit=3)) == ["note123"]
    library.close()


async def test_cancelling_stops_the_reading(folder: Path, tmp_path: Path):
    many(folder, 300)
    library = SqliteLibrary(":memory:")
    source = DocumentsSource([folder], library)
    started = asyncio.Event()

    def progress(what: str, done: int, total: int) -> None:
        if done:
            started.set()

    task = asyncio.create_task(source.prepare(progress))
    await started.wait()
    assert task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    read = len(library.sources())
    assert read < 300
    await asyncio.sleep(0.05)
    assert len(library.sources()) == read, "the thread still reads"
    assert (await prepare(library, folder))[1] == []
    assert len(library.sources()) >= 300


async def test_a_single_file_that_ends_its_reader_twice_is_a_gap_and_not_read_again(library: Library, folder: Path):
    (folder / "bomb.pdf").write_bytes(corpus()["form-loop.pdf"]())
    for read in (3, 1, 0):  # the first time it may have been a want of memory that passes
        _, gaps, done = await prepare(library, folder)
        assert gaps == [Gap(what="bomb.pdf", why=CRASHED, source="documents")]
        assert done == read


_OUT = "it is a link that leads out of the named folder; name its target with --docs to have it read"


async def test_links_never_lead_out_of_the_named_folder(library: Library, folder: Path, tmp_path: Path):
    (outside := tmp_path / "outside").mkdir()
    (outside / "secret.md").write_text("The secret word of this volcano is CANARY.")
    (tmp_path / "docs-beside").mkdir()
    (tmp_path / "docs-beside" / "also.md").write_text("CANARY of a folder whose name begins alike.")
    (folder / "file.md").symlink_to(outside / "secret.md")
    (folder / "folder").symlink_to(outside)
    (folder / "up").symlink_to("..")
    (folder / "alike").symlink_to("../docs-beside")
    (folder / "chain.md").symlink_to("deep/next.md")
    (folder / "deep" / "next.md").symlink_to("../../outside/secret.md")
    source, gaps, read = await prepare(library, folder)
    assert read == 2
    assert [(gap.what, gap.why) for gap in gaps] == [
        ("6 files: alike, chain.md, deep/next.md, file.md, folder, …", _OUT)
    ]
    assert not any("CANARY" in hit.passage.text for hit in library.search("CANARY secret word", limit=9))
    await source.close()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
async def test_what_the_system_makes_up_is_never_read(library: Library, folder: Path, tmp_path: Path):
    for name, target in (("e.txt", "/proc/self/environ"), ("p", "/proc/self"), ("s", "/sys/kernel"), ("d", "/dev")):
        (folder / name).symlink_to(target)
    _, gaps, read = await prepare(library, folder)
    assert read == 2
    assert [(gap.what, gap.why) for gap in gaps] == [
        ("d, e.txt, p, s", "it belongs to the system and holds no documents")
    ]
    (tmp_path / "link").symlink_to("/proc/self")
    for named in (Path("/proc/self/environ"), Path("/proc"), Path("/sys"), Path("/dev"), tmp_path / "link"):
        with pytest.raises(ConfigError, match="belongs to the system"):
            await prepare(library, named)


async def test_documents_beyond_the_most_are_left_out_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_document_reading, "_MOST_DOCUMENTS", 3)
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "box.mbox").write_bytes(box([f"Keys {number}" for number in range(5)]))
    library = SqliteLibrary(":memory:")
    source = DocumentsSource([folder], library)
    gaps = await source.prepare(lambda *_: None)
    assert [gap.why for gap in gaps] == [
        "2 of its 5 documents were left out: a search takes 3 in all. Name fewer files."
    ]
    assert len((await source.search("Keys", limit=10)).found) == 3
    await source.close()
