"""Documents that a question calls by their name."""

import pytest

from deep_research.data import Brief, Document, Found, Passage, Section, Source
from deep_research.reasoners.extractive.document_names import called
from deep_research.reasoners.extractive.entity_discovery import discover
from deep_research.reasoners.extractive.section_writing import write_section
from deep_research.reasoners.extractive.topic_clusters import themes
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.text.question_terms import units_for
from tests.reasoners.libraries import all_passages, library


def source(key: str, title: str, location: str = "") -> Source:
    return Source(id=key, key=key, title=title, origin="documents", location=location)


@pytest.mark.parametrize(
    ("question", "title", "location"),
    [
        ("What does the boxes module provide?", "boxes — Containers of all kinds", ""),
        ("How does its WAL mode work?", "Write-Ahead Logging", "wal2.html"),
        ("How does its WAL mode work?", "2.3. Write-Ahead Logging", ""),
        ("How does the journal work?", "The two ways of writing", "docs/journal.html"),
        ("What is the difference between pump start and pump stop?", "Starting", "pump-start.html"),
    ],
)
def test_called(question: str, title: str, location: str) -> None:
    others = [source("s2", "Another page", "other.html"), source("s3", "A third page", "index.html")]
    assert called(question, [source("s1", title, location), *others]) == {"s1"}


@pytest.mark.parametrize(
    ("question", "title", "location"),
    [
        ("What types are there?", "types — Names of types", "types.html"),
        ("How does the index work?", "Front page", "index.html"),
        ("How does it work?", "Write-Ahead Logging", ""),
    ],
)
def test_not_called(question: str, title: str, location: str) -> None:
    assert not called(question, [source("s1", title, location), source("s2", "Other", "")])


def test_the_name_of_the_product_calls_no_page() -> None:
    pages = [source(f"s{n}", f"Pumpo {n}", f"pumpo-{n}.html") for n in range(3)]
    assert not called("How does Pumpo work?", [*pages, source("s9", "Pumpo", "pumpo.html")])


BOXES = """# boxes — Containers of all kinds

This module has containers.

| crate | holds heavy things that must not break |
|---|---|
| basket | holds light things that are carried by hand |
| barrel() | holds what is wet |
| tin | keeps food for years |

## Crate objects

Crate objects hold heavy things. A crate is closed with nails.

## Basket objects

Basket objects hold light things. A basket is open.
"""
NOISE = "# Data model\n\n" + "\n\n".join(
    f"## Part {n}\n\nData of the module are kept in containers. Implementation detail: In part {n} all data are ordered."
    for n in range(4)
)


def test_a_table_of_the_page_that_is_called_lists_what_there_is() -> None:
    kept = library(**{"boxes — Containers of all kinds": BOXES, "Data_model": NOISE})
    found = discover(
        [("data types", "What data types does the boxes module provide?")], all_passages(kept), kept, language="en"
    )
    names = [entity.name.casefold() for entity in found.entities]
    assert {"basket", "barrel", "tin"} <= set(names)
    assert not any("implementation" in name for name in names), "a label before many sentences is no name"


def test_themes_come_from_the_page_that_is_called_first() -> None:
    kept = library(**{"boxes — Containers of all kinds": BOXES, "Data_model": NOISE})
    titles = {s.id: s.title for s in kept.sources()}
    question = "How does the boxes module keep its data in order?"
    hits: list[Passage] = sorted(all_passages(kept), key=lambda p: p.source, reverse=True)
    own = called(question, kept.sources())
    found = themes(units_for(question, "en", hits), hits, titles, question, language="en", called=own)
    without = themes(units_for(question, "en", hits), hits, titles, question, language="en")
    assert found[0] in {titles["s1"], "Crate objects", "Basket objects"}
    assert without[0] not in {titles["s1"], "Crate objects", "Basket objects"}


def test_a_section_quotes_the_page_that_is_called_first() -> None:
    said = "The journal keeps the old pages until the work is done. "
    kept = library(
        Other=f"# The log\n\n{said.replace('journal', 'journal of the log')}The journal keeps every page that the work needs.",
        journal=f"# The journal\n\n{said}",
    )
    section = Section(title="Pages", queries=("how does the journal keep pages",))
    brief = Brief(title="How does the journal keep pages?", objective="x", sections=(section,))
    pages = [Source(id=s.id, key=s.key, title=s.title, origin="documents") for s in kept.sources()]
    assert not called(brief.title, pages)
    content = write_section(section, brief, all_passages(kept), _located(kept)).content
    assert content.startswith("The journal keeps the old pages until the work is done. [s2p1]")


def _located(kept: SqliteLibrary) -> SqliteLibrary:
    """The same library with files named after the titles."""
    made = SqliteLibrary(":memory:")
    for source in kept.sources():
        found = Found(key=source.key, title=source.title, origin="documents", location=f"{source.title.lower()}.html")
        snapshot = kept.snapshot(source.id)
        assert snapshot is not None
        added = made.add_source(found)
        made.add_snapshot(added.id, Document(text=snapshot.text), retrieved_at=snapshot.retrieved_at)
    return made
