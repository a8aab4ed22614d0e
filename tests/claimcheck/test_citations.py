"""Drafts with citations: what models write is understood, and nothing is lost or left empty on the way back."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deep_research.claimcheck.citations import render_citations, without_links
from deep_research.claimcheck.drafts import parse_draft


def cited(draft: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(s.text, s.passages) for s in parse_draft(draft).sentences]


@pytest.mark.parametrize(
    "draft",
    [
        "It works. [s7p3][s1p2]",
        "It works [s7p3][s1p2].",
        "It works. [s7p3, s1p2]",
        "It works [s7p3; s1p2].",
        "It works.【s7p3】【s1p2】",
        "It works (s7p3, s1p2).",
        "It works [^s7p3][^s1p2].",
        "It works. [passages s7p3 and s1p2]",
        "It works.\n\n[s7p3] [s1p2]",
        "It works. \\[s7p3\\] [s1p2](#ref)",
        "It works [3]. [s7p3][s1p2]",
        "It works. (https://example.org/a) [s7p3, 4][s1p2]",
    ],
)
def test_slips_of_form(draft: str) -> None:
    assert cited(draft) == [("It works.", ("s7p3", "s1p2"))]


def test_each_sentence_has_its_own_ids() -> None:
    draft = "One is [s1p1]. Two is. [s1p2] asyncio is three [s1p3]. Four has none. 第五句。[s1p5]第六句[s1p6]。"
    assert cited(draft) == [
        ("One is.", ("s1p1",)),
        ("Two is.", ("s1p2",)),
        ("asyncio is three.", ("s1p3",)),
        ("Four has none.", ()),
        ("第五句。", ("s1p5",)),
        ("第六句。", ("s1p6",)),
    ]


def test_a_sentence_without_ids_knows_what_its_paragraph_cites_next() -> None:
    first, second = parse_draft("The first leads. The second cites. [s1p1]").sentences
    assert first.passages == ()
    assert first.near == second.passages == ("s1p1",)


def test_spans_lie_in_the_draft() -> None:
    draft = "# H\n\nOne is [s1p1]. Two is.\n\n- Item [s2p2]\n"
    assert [draft[s.start : s.end] for s in parse_draft(draft).sentences] == [
        "One is [s1p1].",
        "Two is.",
        "Item [s2p2]",
    ]


def test_names_of_receptors_are_no_citations() -> None:
    assert cited("The receptors S1P1 and (S1P2) matter [s1p1].") == [
        ("The receptors S1P1 and (S1P2) matter.", ("s1p1",))
    ]


def test_headings_labels_and_first_columns_are_no_claims() -> None:
    draft = (
        "# Title\n\n**Benefits**\n\n- Fast. [s1p1]\n\nIt offers:\n\n1. Safety. [s1p2]\n\n"
        "| Name | Memory | Source |\n|---|---|---|\n| H100 | 80 GB | [s2p1] |\n| A100 | 40 GB [s2p2] | |\n"
    )
    found = parse_draft(draft).sentences
    assert [(s.text, s.kind) for s in found] == [
        ("Fast.", "item"),
        ("Safety.", "item"),
        ("80 GB", "cell"),
        ("40 GB", "cell"),
    ]
    assert found[2].context == "H100 Memory"
    assert found[2].near == ("s2p1",)


def test_cited_names_in_a_table_are_claims() -> None:
    draft = "| Name [s1p1] | Use |\n|---|---|\n| H100 [s1p2] | training [s1p3] |"
    assert [s.passages for s in parse_draft(draft).sentences] == [("s1p1",), ("s1p2",), ("s1p3",)]


STRUCTURED = (
    "## Kept\n\nOne. [s1p1]\n\n## Emptied\n\nTwo. [s1p2]\n\n### Under it\n\nIt offers:\n\n- Three. [s1p3]\n- Four. [s1p4]\n\n"
    "## Table\n\n| N | V |\n|---|---|\n| a | Five [s1p5] |\n| b | Six [s1p6] |"
)


def test_no_empty_shells_remain() -> None:
    draft = parse_draft(STRUCTURED)
    assert draft.render(dict.fromkeys(range(1, 6))) == "## Kept\n\nOne. [s1p1]"
    assert draft.render(dict.fromkeys(range(6))) == ""


def test_a_cut_item_and_a_cut_row_leave_the_rest() -> None:
    text = parse_draft(STRUCTURED).render({2: None, 5: None})
    assert "It offers:\n- Four. [s1p4]" in text
    assert "| a | Five [s1p5] |" in text
    assert "| b |" not in text


def test_a_cut_cell_becomes_a_dash() -> None:
    draft = parse_draft("| N | V | W |\n|---|---|---|\n| a | Five [s1p5] | Six [s1p6] |")
    assert draft.render({0: None}).splitlines()[-1] == "| a | — | Six [s1p6] |"


def test_a_sentence_is_replaced_with_its_citation() -> None:
    draft = parse_draft("One. [s1p1] Two. [s1p2]")
    assert draft.render({0: ("Uno.", ["s9p9"])}) == "Uno. [s9p9] Two. [s1p2]"


def test_an_id_inside_a_sentence_goes_without_a_trace() -> None:
    draft = parse_draft("Alpha [s1p1] and Beta [s2p1] differ in weight.")
    assert draft.render({0: (draft.sentences[0].text, ["s2p1"])}) == "Alpha and Beta [s2p1] differ in weight."


def test_code_is_rendered_as_it_stands() -> None:
    code = "```python\njob = jobs[0]\n```"
    assert render_citations(f"Take a[1]. [s1p1]\n\n{code}\n\nThen b[2].", lambda _ids: "[1]") == (
        f"Take a\\[1\\]. [1]\n\n{code}\n\nThen b\\[2\\]."
    )


def test_rendering_numbers_and_hiding_other_brackets() -> None:
    text = render_citations("One [s1p1][s2p2]. `a[0]` is two. [s9p9]", lambda ids: "[1][2]" if "s1p1" in ids else "")
    assert text == "One [1][2]. `a[0]` is two."


def test_only_citations_look_like_numbers() -> None:
    text = render_citations("The value a[0] of [12] and [1, 2]. [s1p1]", lambda _ids: "[1]")
    assert re.findall(r"\[(\d+)\]", text) == ["1"]


WORDS = st.lists(
    st.sampled_from(["alpha", "Beta", "3.5", "e.g.", "中文", "한국어", "x_y", "(see)", "“q”", "Dr."]),
    min_size=1,
    max_size=6,
)
SENTENCE = st.tuples(
    WORDS, st.sampled_from([".", "。", "!", "?", ""]), st.sampled_from(["", " [s1p1]", "[s2p3, s1p1]", " 【s4p4】"])
).map(lambda t: " ".join(t[0]) + t[1] + t[2])
BLOCK = st.one_of(
    st.lists(SENTENCE, min_size=1, max_size=4).map(" ".join),
    st.lists(SENTENCE, min_size=1, max_size=3).map(lambda xs: "\n".join(f"- {x}" for x in xs)),
    st.lists(SENTENCE, min_size=1, max_size=3).map(
        lambda xs: "| n | v |\n|---|---|\n" + "\n".join(f"| a | {x} |" for x in xs)
    ),
)


def letters(text: str) -> str:
    return re.sub(r"[^\w]", "", re.sub(r"[\[【][^\[\]【】]*[\]】]", "", text))


@given(st.lists(BLOCK, max_size=5).map("\n\n".join))
@settings(deadline=None)
def test_rendering_without_changes_loses_no_text(draft: str) -> None:
    parsed = parse_draft(draft)
    again = parsed.render()
    assert letters(again) == letters(draft)
    assert set(re.findall(r"s\d+p\d+", again)) == {key for s in parsed.sentences for key in s.passages}


@given(st.lists(BLOCK, max_size=5).map("\n\n".join))
@settings(deadline=None)
def test_rendering_is_stable(draft: str) -> None:
    once = parse_draft(draft).render()
    assert parse_draft(once).render() == once


@given(st.text(alphabet="ab.。 \n-|#[]s1p23*>`:()【】\t", max_size=80))
def test_any_text_is_read_and_written(draft: str) -> None:
    parsed = parse_draft(draft)
    parsed.render()
    assert re.search(r"\w", parsed.render(dict.fromkeys(range(len(parsed.sentences))))) is None or not parsed.sentences


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Call run() with [] and a[0].", "Call run() with [] and a[0]."),
        ("See [the docs](https://a.b/c).", "See the docs."),
        ("It works (https://a.b/c), https://x.y/z [4].", "It works."),
        ("It works [1, 2] and [3] more.", "It works and more."),
        ("它有效（https://a.b/c）。", "它有效。"),
        ("用 https://wiki.example.org/x 中的 `deb3` 命令。", "用 wiki.example.org 中的 `deb3` 命令。"),
        ("Ask https://a.b/c for more.", "Ask a.b for more."),
        ("Run `curl https://localhost/` and look.", "Run `curl https://localhost/` and look."),
    ],
)
def test_addresses_and_numbers_are_taken_out(text: str, plain: str) -> None:
    assert without_links(text) == plain


def test_a_citation_of_code_stands_below_its_fence_and_none_after_a_wide_stop_is_set_apart() -> None:
    code = "```\nx = 1\n```\n\n[s1p1]"
    assert render_citations(code, lambda _: "[1]") == "```\nx = 1\n```\n\n[1]"
    assert (
        render_citations("体重下降。 [s1p1] 剂量。[s1p1] Done. [s1p1]", lambda _: "[1]")
        == "体重下降。[1] 剂量。[1] Done. [1]"
    )
