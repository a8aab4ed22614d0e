"""What of a text can be quoted: no labels, captions or halves of sentences by themselves."""

import pytest

from deep_research.text.quotable_blocks import (
    Outline,
    QuotableBlock,
    annotates,
    named_table,
    outline,
    points_back,
    quotable_blocks,
    telling_units,
    whole_end,
    with_told_titles,
)

TEXT = """## Replication

Slots keep what a standby needs.

Note:

Slots are crash-safe and persist alone.

Table of Contents

71.1. Introduction, 71.1.1. Index maintenance

Table 13.1. Transaction Isolation Levels

A slot shows itself so:

```
SELECT * FROM slots;
```

which shows all slots of the server.

Petra Kesselmann
"""


def test_labels_captions_and_contents_are_quoted_nowhere() -> None:
    outlined = outline(TEXT)
    quoted = {outlined.of(n) for block in quotable_blocks(outlined) for n in block.atoms}
    assert quoted == {
        "Slots keep what a standby needs.",
        "Slots are crash-safe and persist alone.",
        "A slot shows itself so:",
        "```\nSELECT * FROM slots;\n```",
        "which shows all slots of the server.",
        "Petra Kesselmann",
    }


def test_a_sentence_that_code_interrupts_begins_no_block() -> None:
    outlined = outline(TEXT)
    assert "which shows all slots of the server." not in {outlined.of(b.atoms[0]) for b in quotable_blocks(outlined)}


def test_a_caption_stays_above_its_table() -> None:
    outlined = outline("Table 1.2. Limits\n\n| item | most |\n|---|---|\n| columns | 1,600 |\n\nMore is said below.")
    (row,) = [block for block in quotable_blocks(outlined) if block.kind == "row"]
    assert [outlined.of(n) for n in row.atoms] == ["Table 1.2. Limits", "| item | most |", "| columns | 1,600 |"]


def test_what_only_announces_the_next_paragraph_is_quoted_with_it() -> None:
    made = outline("The script may be called in these ways:\n\nscript install: before unpacking.\n")
    found = [[made.of(n) for n in block.atoms] for block in quotable_blocks(made)]
    assert ["The script may be called in these ways:"] not in found
    assert ["The script may be called in these ways:", "script install: before unpacking."] in found


def test_no_stretch_ends_with_the_name_of_what_comes_next() -> None:
    made = outline("- Websites\n\nIt works well.\n\n- Very large datasets\n\n" + "A file has a limit. " * 40)
    found = [(block.kind, [made.of(n) for n in block.atoms]) for block in quotable_blocks(made)]
    assert ["Websites", "It works well."] in [texts for _, texts in found]
    assert not any(kind == "run" and texts[-1] == "Very large datasets" for kind, texts in found)
    assert whole_end(made, [0, 1, 2]) == [0, 1, 2]
    steps = outline("Stop it.\n\nThe steps are:\n\n1. Go.\n")
    assert whole_end(steps, [0, 1]) == [0]


def _units(made: Outline) -> list[list[int]]:
    return [
        [n for n in range(len(made.atoms)) if made.atoms[n].unit == unit] for unit in range(made.atoms[-1].unit + 1)
    ]


def test_around_a_quotation_no_line_on_versions_and_no_bare_list_of_names_is_quoted() -> None:
    made = outline(
        "Source code: Lib/gate.py\n\nThe gate opens at dawn.\n\nChanged in version 3.7: It is wider.\n\nHigh-level gates\n\n"
        "- Locks\n- Doors\n\nThe keeper may:\n\n- wait\n- sleep\n"
    )
    told = [made.of(n) for unit in telling_units(made, _units(made), ()) for n in unit]
    assert told == ["The gate opens at dawn.", "The keeper may:", "wait", "sleep"]


def test_what_was_asked_for_stays_whatever_it_is() -> None:
    made = outline("Changed in version 3.7: It is wider.\n\n- Locks\n- Doors\n")
    assert len(telling_units(made, _units(made), range(len(made.atoms)))) == 3


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("New in version 3.9.", True),
        ("[5] There are other ways.", True),
        ("在 3.7 版更改: 现在更宽。", True),
        ("버전 3.7에서 변경: 더 넓다.", True),
        ("バージョン 3.7 で変更: 広くなった。", True),
        ("New gates open at dawn.", False),
    ],
)
def test_notes_on_versions_and_footnotes_stand_beside_the_text(text: str, beside: bool) -> None:
    assert annotates(text) is beside


def test_a_list_of_names_is_quoted_with_what_is_said_of_each() -> None:
    made = outline("- Websites\n\nIt works well. It is fast.\n\n- Caches\n\nIt holds much.\n\n- Toys\n\nIt plays.\n")
    names = tuple(n for n in range(len(made.atoms)) if made.atoms[n].kind == "item")
    whole = with_told_titles(made, QuotableBlock("list", names), 900)
    said = [made.of(n) for n in whole.atoms]
    assert said == ["Websites", "It works well.", "It is fast.", "Caches", "It holds much.", "Toys", "It plays."]
    assert with_told_titles(made, QuotableBlock("list", names), 30).atoms == names


def test_what_follows_a_list_is_not_taken_for_its_last_item() -> None:
    made = outline("- Dump\n- Copy\n\nEach has its strengths.\n")
    assert with_told_titles(made, QuotableBlock("list", (0, 1)), 900).atoms == (0, 1)


def test_a_table_that_is_named_is_found_up_to_a_length() -> None:
    made = outline("See Table 2.1.\n\nTable 2.1. Gates\n\n| Gate | Width |\n| --- | --- |\n| North | 7 m |\n")
    found = named_table(made, QuotableBlock("paragraph", (0,)), 100)
    assert found is not None
    assert "| North | 7 m |" in [made.of(n) for n in found.atoms]
    assert named_table(made, QuotableBlock("paragraph", (0,)), 10) is None


@pytest.mark.parametrize(
    ("text", "back"), [("It is possible to open the gate.", False), ("It is open.", True), ("It opens.", True)]
)
def test_an_it_that_stands_for_nothing_points_at_nothing(text: str, back: bool) -> None:
    assert points_back(text) is back


@pytest.mark.parametrize(
    ("text", "kept"), [("詳しくは第5節を参照してください。", False), ("参照番号は港の受付で渡される。", True)]
)
def test_only_what_sends_the_reader_elsewhere_is_a_pointer(text: str, kept: bool) -> None:
    made = outline(f"港は朝に開く。\n\n{text}\n")
    assert any(text in [made.of(n) for n in block.atoms] for block in quotable_blocks(made)) is kept


def _quoted(text: str, kind: str) -> list[list[str]]:
    made = outline(text)
    return [[made.of(n) for n in block.atoms] for block in quotable_blocks(made) if block.kind == kind]


def test_an_item_is_quoted_with_what_announces_its_list() -> None:
    assert ["It is refused if:", "The gate is open."] in _quoted(
        "It is refused if:\n\n- The wind is high.\n- The gate is open.\n", "item"
    )
    assert ["Width: 7 m."] in _quoted("The gate has these sizes:\n\n- Height: 3 m.\n- Width: 7 m.\n", "item")


def test_a_title_is_quoted_with_the_paragraph_it_names() -> None:
    found = _quoted("1. Gate height\n\nIt is 7 m high.\n\n2. Gate width\n\nIt is 3 m wide.\n", "item")
    assert ["Gate height", "It is 7 m high."] in found
    assert ["Gate height"] not in found


def test_a_list_ends_where_another_begins() -> None:
    text = "The modes are:\n\n- FULL: all.\n- OFF: none.\n\nSee below.\n\n1. name: its name.\n2. type: its type.\n"
    assert _quoted(text, "list") == [
        ["The modes are:", "FULL: all.", "OFF: none."],
        ["name: its name.", "type: its type."],
    ]
    assert len(_quoted("1. One is.\n2. Two is.\n\nNext.\n\n1. Third is.\n2. Fourth is.\n", "list")) == 2


def test_the_day_of_the_last_change_is_not_quoted() -> None:
    assert not _quoted("This page last modified on 2016-09-14 18:40:10 UTC\n\nThe gate is open.\n", "paragraph")[1:]


@pytest.mark.parametrize("label", ["Note", "提示", "注意", "참고"])
def test_the_label_of_a_note_is_not_quoted(label: str) -> None:
    made = outline(f"{label}\n\nThe gate is open at noon.\n")
    assert not any(label in [made.of(n) for n in block.atoms] for block in quotable_blocks(made))
