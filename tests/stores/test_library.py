"""What a library keeps, finds and forgets; on every store alike: `test_run_stores`."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from deep_research.data import Document, Found, Heading, PageStart
from deep_research.ports import Library
from deep_research.stores.sqlite_library import SqliteLibrary

WHEN = "2024-05-01T00:00:00Z"
PARAGRAPH = "Caching keeps the keys and values of earlier tokens so that a decoder need not compute them again. "


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = SqliteLibrary(tmp_path / "library.db")
    yield made
    made.close()


def found(key: str, title: str = "") -> Found:
    return Found(key=key, title=title, url=f"https://example.org/{key}", origin="web", authors=("A. Author",))


def add(library: Library, key: str, text: str, title: str = "") -> str:
    source = library.add_source(found(key, title))
    library.add_snapshot(source.id, Document(text=text), retrieved_at=WHEN)
    return source.id


def test_passages_are_slices_of_the_snapshot(library: Library) -> None:
    text = "# Über 缓存\n\n" + "\n\n".join(f"{i}. 𝒜 {PARAGRAPH * 3}" for i in range(200)) + "\n\nlone \ud800 surrogate"
    document = Document(
        text=text,
        headings=(Heading(start=0, level=1, title="Über 缓存"),),
        pages=(PageStart(start=0, number=1), PageStart(start=5000, number=2)),
    )
    source = library.add_source(found("a"))
    made = library.add_snapshot(source.id, document, retrieved_at=WHEN)
    kept = library.snapshot(source.id)
    assert kept == made
    assert kept is not None
    assert kept.text == text
    assert kept.sha256 == hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    passages = library.passages(source.id)
    assert [p.id for p in passages] == [f"s1p{i}" for i in range(1, len(passages) + 1)]
    assert len(passages) > 20
    for passage in passages:
        assert passage.text == text[passage.start : passage.end]
        assert passage.sha256 == kept.sha256
        assert library.passage(passage.id) == passage
    assert {p.page for p in passages} == {1, 2}
    assert {p.heading for p in passages} == {"Über 缓存"}


def test_a_changed_document_is_found_by_its_new_text_only(library: Library) -> None:
    source = add(library, "a", "The zebra crossed the road.")
    old = library.passages(source)[0]
    library.add_snapshot(source, Document(text="The giraffe crossed the road."), retrieved_at=WHEN)
    assert not library.search("zebra", limit=5)
    hit = library.search("giraffe", limit=5)[0]
    assert hit.passage.text == "The giraffe crossed the road."
    assert hit.passage.id != old.id
    assert library.passage(old.id) == old
    assert [p.id for p in library.passages(source)] == [hit.passage.id]


@pytest.mark.parametrize("wrong", ["", "p1", "s1", "s1p0", "s1p99", "s9p1", "s１p１", "s1p1 ", "s" + "9" * 40 + "p1"])
def test_unknown_ids_are_none(library: Library, wrong: str) -> None:
    add(library, "a", PARAGRAPH)
    assert library.passage(wrong) is None
    if wrong != "s1":
        assert library.source(wrong) is None
        assert library.snapshot(wrong) is None
        assert not library.passages(wrong)


def test_search_ranks_limits_and_restricts(library: Library) -> None:
    about = add(library, "a", "Paged attention stores the cache in blocks of fixed size.", "Paged attention")
    other = add(library, "b", "The cache of a processor is small. Attention was paid to it.", "Processors")
    add(library, "c", "Nothing of interest stands here.", "Else")
    hits = library.search("How does paged attention store the cache?", limit=10)
    assert [h.passage.source for h in hits] == [about, other]
    assert hits[0].score > hits[1].score > 0
    assert hits[0].title == "Paged attention"
    assert len(library.search("cache", limit=1)) == 1
    assert [h.passage.source for h in library.search("cache", limit=5, sources=[other])] == [other]
    assert not library.search("cache", limit=5, sources=["s77"])
    assert not library.search("", limit=5)
    assert not library.search("the of and", limit=5)
    assert not library.search('"; DROP TABLE passages; --', limit=5)


def test_what_is_added_replaced_and_removed_in_one_batch_leaves_the_last_state(library: Library) -> None:
    add(library, "old", "The zebra was here before.")
    with library.batch():
        source = add(library, "a", "The zebra is written first.")
        add(library, "a", "The giraffe is written over it.")
        library.remove_source(add(library, "b", "The giraffe goes at once."))
        library.remove_source("s1")
    assert [hit.passage.source for hit in library.search("giraffe", limit=5)] == [source]
    assert not library.search("zebra", limit=5)
    assert not library.search("before", limit=5)
