"""What of a text can be quoted: no labels, captions or halves of sentences by themselves."""

from deep_research.text.quotable_blocks import outline, quotable_blocks, whole_end

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
    assert whole_end(made, [0, 1, 2], is_cut=True) == [0, 1, 2]
    steps = outline("Stop it.\n\nThe steps are:\n\n1. Go.\n")
    assert whole_end(steps, [0, 1], is_cut=True) == [0]
