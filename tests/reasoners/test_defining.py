"""Which sentence introduces a thing, and names that share their noun."""

from collections.abc import Sequence

import pytest

from deep_research.data import Brief, Section
from deep_research.reasoners.extractive.excerpts import excerpts
from deep_research.reasoners.extractive.naming import named_among, naming
from deep_research.reasoners.extractive.writing import wish_of, write_section
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
