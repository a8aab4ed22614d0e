"""What a report would say twice."""

import pytest

from deep_research.report.repeated_text import marks_in_heads, without_lone_marks, without_repeats
from deep_research.text.workings import workings_apart

ABSTRACT = "The gate opens at dawn. It closes at noon. [1]\n\nThe keeper may: [1]\n\n- wait [1]\n- sleep [1]"


@pytest.mark.parametrize(
    ("content", "left"),
    [
        (
            "**Gates**\n\nThe gate opens at dawn. [1] It closes at noon. [1]\n\n**Notes**\n\nBring a lamp. [2]",
            "**Notes**\n\nBring a lamp. [2]",
        ),
        ("The keeper may: [1]\n\n- wait [1]\n- sleep [1]", ""),
        ("**Keepers**\n- wait [1]\n- sleep [1]\n\nBring a lamp. [2]", "Bring a lamp. [2]"),
        ("The keeper may: [1]\n\n- sing [1]", "The keeper may: [1]\n\n- sing [1]"),
        (
            "The gate opens at dawn. [1]\n\nThis takes an hour. [1]",
            "The gate opens at dawn. [1]\n\nThis takes an hour. [1]",
        ),
        ("Bring a lamp. [2]\n\nThe gate opens at dawn. [1]", "Bring a lamp. [2]\n\nThe gate opens at dawn. [1]"),
    ],
    ids=["beginning", "all", "label-and-list", "announced", "pointed-at", "middle"],
)
def test_an_answer_does_not_begin_with_what_the_abstract_has(content: str, left: str) -> None:
    assert without_repeats(content, ABSTRACT) == left


def test_code_is_not_cited_again_below_what_announces_it() -> None:
    code = "Type this: [1]\n\n```\nopen gate\n\nclose gate\n```\n\n[1]\n\nThen wait. [1]"
    assert without_lone_marks(code) == code.replace("```\n\n[1]", "```")
    other = code.replace("this: [1]", "this: [2]")
    assert without_lone_marks(other) == other


def test_the_working_of_a_figure_is_told_apart_once() -> None:
    text = "Copy 5 MB/s (= (2 + 3) × 1 MB). A day has 9 GB (= 3 × 3). So 5 MB/s (= (2 + 3) × 1 MB) it is. 约 68 个（= 8 ÷ 2）可用。"
    assert workings_apart(text) == (
        "Copy 5 MB/s⁼. A day has 9 GB⁼. So 5 MB/s⁼ it is. 约 68 个⁼可用。",
        ["5 MB/s = (2 + 3) × 1 MB", "9 GB = 3 × 3", "68 个 = 8 ÷ 2"],
    )
    twice = "85 (= 5 × 17; assumed: 5), and so 85 (= 5 × 17)"
    assert workings_apart(twice)[1] == ["85 = 5 × 17; assumed: 5"], "its assumption is told with it"
    assert workings_apart("Call f(a=1) (see = below).") == ("Call f(a=1) (see = below).", [])
    line = "*[1] said · ⁼ reckoned by us*\n\nCopy 5 MB/s (= 2 + 3). It takes 9 GB (= 3 × 3), half of all [2]."
    said = "*[1] said · ⁼ reckoned by us*\n\nCopy 5 MB/s. It takes 9 GB⁼, half of all [2]."
    assert workings_apart(line, is_own=True)[0] == said
    nested = "1.3 points (= √(15 % × (100 % - 15 %) ÷ 800)) are noise."
    assert workings_apart(nested) == ("1.3 points⁼ are noise.", ["1.3 points = √(15 % × (100 % - 15 %) ÷ 800)"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It takes 9 GB (= 3 × 3). Copies take 4 GB. [1]", "It takes 9 GB. Copies take 4 GB. [1]"),
        ("It takes 0.5 GB (= 1 ÷ 2) of its 1.5 GB [1], and 9 MB.", "It takes 0.5 GB⁼ of its 1.5 GB [1], and 9 MB."),
        ("约 68 个（= 8 ÷ 2）可用。默认是 5。[s1p2]", "约 68 个可用。默认是 5。[s1p2]"),
        ("| 9 GB (= 3 × 3) | a day [1] |", "| 9 GB | a day [1] |"),
    ],
)
def test_where_what_has_no_number_is_our_own_a_figure_is_marked_only_beside_a_number(text: str, shown: str) -> None:
    assert workings_apart(text, is_own=True)[0] == shown


TABLE = (
    "| Gate | Opens |\n| --- | --- |\n| north | at dawn [1][2] |\n| south | at noon [1][2] |\n\nElse it is shut. [3]"
)


@pytest.mark.parametrize(
    ("table", "shown"),
    [
        (TABLE, TABLE.replace(" [1][2] |", " |").replace("Opens |", "Opens [1][2] |")),
        (TABLE.replace("noon [1][2]", "noon [1]"), None),
        (TABLE.replace("| south", "| south [3]"), None),
        (TABLE.replace("noon [1][2]", "noon"), None),
    ],
    ids=["all the same", "other marks", "a cell cites", "a row cites nothing"],
)
def test_a_table_whose_rows_all_cite_the_same_says_so_in_its_head(table: str, shown: str | None) -> None:
    assert marks_in_heads(table) == (shown or table)
