"""Documents that a question calls by their name."""

import pytest

from deep_research.data import Source
from deep_research.reasoners.extractive.document_names import called
from deep_research.reasoners.extractive.entity_discovery import discover
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
