"""Which sentence introduces a thing, and names that share their noun."""

from collections.abc import Sequence

import pytest

from deep_research.data import Brief, Claim, QueryAnalysis, Section, Verdict
from deep_research.reasoners.extractive.abstracts import compose
from deep_research.reasoners.extractive.excerpts import excerpts
from deep_research.reasoners.extractive.section_writing import wish_of, write_section
from deep_research.text.name_matching import named_among, naming
from tests.reasoners.libraries import all_passages, library

TREES = (
    "Every level of the tree of tree indexes is searched from the top in the same way. "
    "Tree indexes are sorted structures that answer questions about ranges and equality. "
    "A limit of tree indexes is that they do not suit values that hold several parts."
)


def test_a_section_begins_with_what_its_subject_is() -> None:
    kept = library(Trees=f"# Trees in databases\n\n{TREES}")
    section = Section(title="tree indexes", subject="tree indexes", queries=("tree indexes",))
    brief = Brief(title="tree indexes and hash indexes", objective="x", sections=(section,))
    draft = write_section(section, brief, all_passages(kept), kept)
    assert draft.content.startswith("Tree indexes are sorted structures")


@pytest.mark.parametrize(
    ("name", "names", "text", "named"),
    [
        ("tree indexes", ("tree indexes", "hash indexes"), "Trees are sorted.", True),
        ("hash indexes", ("tree indexes", "hash indexes"), "A hash is short.", True),
        ("hash indexes", ("tree indexes", "hash indexes"), "Indexes are sorted.", False),
        ("tree indexes", ("tree indexes", "hash joins"), "Trees are sorted.", False),
        ("tree indexes", ("tree indexes",), "Trees are sorted.", False),
        ("git merge", ("git merge", "git rebase"), "Merge often.", False),
    ],
)
def test_the_noun_that_names_share_need_not_be_said(name: str, names: Sequence[str], text: str, named: bool) -> None:
    assert named_among(name, names).within(text) is named


def test_a_subject_is_known_by_its_short_name_in_a_comparison() -> None:
    sections = tuple(Section(title=n, subject=n, queries=(n,)) for n in ("tree indexes", "hash indexes"))
    brief = Brief(title="Compare tree indexes and hash indexes", objective="x", sections=sections)
    wish = wish_of(sections[0], brief)
    assert wish.subject.within("Trees answer questions about ranges.")
    assert wish.siblings[0].within("A hash answers questions about equality.")
    assert not naming("tree indexes").within("Trees answer questions about ranges.")
    kept = library(Trees="# Kinds\n\nTrees answer questions about ranges and equality of all values.")
    assert excerpts(all_passages(kept), wish)


MANUAL = (
    "pump-start - Start the pump of a boat\n\n## Use\n\nThe pump-start command is used before the boat leaves the harbour. "
    "You should close the valve before you start the pump."
)


def test_the_line_of_a_manual_page_stands_apart_with_its_citation() -> None:
    kept = library(**{"pump-start(1)": MANUAL})
    section = Section(title="pump start", subject="pump start", queries=("pump start",))
    brief = Brief(title="What is the difference between pump start and pump stop?", objective="x", sections=(section,))
    content = write_section(section, brief, all_passages(kept), kept).content
    assert content.startswith("pump-start - Start the pump of a boat [s1p1]\n\n")


def test_the_conclusion_says_what_helps_to_choose_in_the_readers_language() -> None:
    kept = library(
        Engines="Alpha engines are rotary engines that run without oil. Beta engines are piston engines that run on diesel. "
        "Alpha engines should be preferred to Beta engines in small boats.",
        引擎="甲型引擎是一种不需要机油的转子引擎，建议用于小船。",
    )
    sections = (
        Section(title="Alpha engines", subject="Alpha engines", content="x"),
        Section(title="Beta engines", subject="Beta engines", content="x"),
        Section(title="When to use which", content="x"),
    )
    texts = {
        "Alpha engines": ["Alpha engines are rotary engines that run without oil."],
        "Beta engines": ["Beta engines are piston engines that run on diesel."],
        "When to use which": ["Alpha engines should be preferred to Beta engines in small boats."],
    }
    claims = [
        Claim(id=f"c{t}{n}", section=t, text=text, passages=("s1p1",), verdict=Verdict(kind="supported", reason=""))
        for t, said in texts.items()
        for n, text in enumerate(said)
    ]
    brief = Brief(title="Alpha engines, Beta engines: a comparison", objective="x", sections=sections)
    analysis = QueryAnalysis(query_type="comparison", output_format="table", subjects=("Alpha engines", "Beta engines"))
    made = compose(analysis, brief, sections, claims, kept)
    assert made.conclusion == "Alpha engines should be preferred to Beta engines in small boats. [s1p1]"
    assert "rotary" in made.abstract
    assert "diesel" in made.abstract
    assert "preferred" not in made.abstract
    assert made.table.count("\n") == 3
