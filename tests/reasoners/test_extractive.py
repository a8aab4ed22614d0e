"""The extractive reasoner: picks, orders and quotes; never a sentence that it did not read."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from deep_research.data import Brief, Document, Found, Passage, Question, Section
from deep_research.reasoners.extractive.extractive_reasoner import ExtractiveReasoner
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.runs.running import engines

_CITED = re.compile(r"\s*(?P<text>.*?)\s*(?P<ids>(?:\[s\d+p\d+\])+)", re.DOTALL)


@pytest.fixture
def library(tmp_path: Path) -> SqliteLibrary:
    library = SqliteLibrary(":memory:")
    for path in sorted(engines(tmp_path / "docs").iterdir()):
        text = path.read_text("utf-8")
        source = library.add_source(Found(key=path.name, title=text.splitlines()[0][2:], origin="documents"))
        library.add_snapshot(source.id, Document(text=text), retrieved_at="2025-01-01T00:00:00Z")
    return library


def _passages(library: SqliteLibrary) -> list[Passage]:
    return [passage for source in library.sources() for passage in library.passages(source.id)]


def _brief(*sections: Section, title: str = "Alpha engine") -> Brief:
    return Brief(title=title, objective=title, sections=sections)


def _sentences(content: str) -> list[tuple[str, list[str]]]:
    content = re.sub(r"^\*\*.*\*\*$", "", content, flags=re.MULTILINE)  # labels
    return [(m["text"], re.findall(r"s\d+p\d+", m["ids"])) for m in _CITED.finditer(content)]


async def test_it_writes_only_what_stands_in_the_passages_it_cites(library: SqliteLibrary) -> None:
    section = Section(title="Alpha engine", subject="Alpha engine", queries=("Alpha engine",))
    draft = await ExtractiveReasoner().write_section(section, _brief(section), _passages(library), library)
    written = _sentences(draft.content)
    assert written
    for text, ids in written:
        sources = [passage.text for key in ids if (passage := library.passage(key))]
        assert len(sources) == len(ids)
        assert any(" ".join(text.split()) in " ".join(source.split()) for source in sources), text
    assert "3,000 rpm" in draft.content
    assert "21,000 rpm" not in draft.content


async def test_without_passages_it_writes_nothing() -> None:
    section = Section(title="Delta engine", subject="Delta engine", queries=("Delta engine",))
    draft = await ExtractiveReasoner().write_section(section, _brief(section), [], SqliteLibrary(":memory:"))
    assert draft.content == ""
    assert draft.key_findings == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Compare the Alpha engine and the Beta engine", ["Alpha engine", "Beta engine"]),
        ("Which kinds of engines are there?", ["Alpha engine", "Beta engine", "Gamma engine"]),
    ],
)
async def test_it_plans_a_section_for_each_thing_asked_about(
    library: SqliteLibrary, question: str, expected: Sequence[str]
) -> None:
    reasoner, asked = ExtractiveReasoner(), Question(text=question, language="en")
    passages = [hit.passage for hit in library.search(question, limit=20)]
    analysis = await reasoner.analyze(asked)
    decision = await reasoner.decide(asked, rounds=0)
    found = await reasoner.entities(asked, analysis, passages, library) if analysis.needs_discovery else None
    brief = await reasoner.plan(asked, analysis, decision, found, passages, library)
    titles = [section.title for section in brief.sections]
    assert 3 <= len(titles) <= 7
    assert [title for title in expected if title in titles] == expected
    assert all(section.queries for section in brief.sections)


async def test_its_review_names_the_sections_without_evidence(library: SqliteLibrary) -> None:
    full, bare = Section(title="Alpha engine", content="x", attempts=1), Section(title="Delta engine", attempts=1)
    review = await ExtractiveReasoner().review(_brief(full, bare), [full, bare], [], library)
    assert not review.is_sufficient
    assert "Delta engine" in review.sections_to_retry
    assert 1 <= review.overall_score <= 10
    assert {row.title for row in review.section_coverage} == {"Alpha engine", "Delta engine"}


async def test_it_says_what_it_is() -> None:
    assert ExtractiveReasoner().info.kind == "extractive"
    assert ExtractiveReasoner().info.models == {}
    assert await ExtractiveReasoner().judge([], SqliteLibrary(":memory:")) == []
