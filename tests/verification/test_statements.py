"""A report becomes statements: sentences, list items and rows, each with what it cites and where it stands."""

import pytest

from deep_research.verification.statements import Statement, split_statements

REPORT = """# Title [s8p8]

Opening is **Final** [s4p1][s57p3]. It writes e.g. *code*. [s4p2] vLLM is fast. No id here.
Goes on in a [new line](https://example.org/a_(b)).[s5p1]

- **Redis.** It is fast [s1p1]. Second sentence.
- item two
  goes on [s1p2]
  - nested (s2p2)
1. **Step.** Do `a.b c` and 2 * 3.

> quoted text that
> goes on. [s3p1]

| Mech | Status [s9p9] |
|---|---|
| A \\| b [s1p1] | **Final** |
| empty | |

```chart
{"id": "s1p1"}
```

<div>
html [s1p1]
</div>

## 甲乙

两版都允许“记忆秘密”[s1p1]。但短信属于受限[s1p2][s1p3]；其中最硬。[s2p2]再看。

세 번째 문장입니다 [s6p1]. 네 번째입니다. これは文です。[s6p2]

## 参考来源

- [s1p1] x
"""


def _texts(statements: list[Statement]) -> list[tuple[str, str, tuple[str, ...], str]]:
    return [(s.kind, s.text, s.passages, s.where) for s in statements]


def test_statements_of_a_report() -> None:
    assert _texts(split_statements(REPORT)) == [
        ("sentence", "Opening is Final.", ("s4p1", "s57p3"), "Title"),
        ("sentence", "It writes e.g. code.", ("s4p2",), "Title"),
        ("sentence", "vLLM is fast.", (), "Title"),
        ("sentence", "No id here.", (), "Title"),
        ("sentence", "Goes on in a new line.", ("s5p1",), "Title"),
        ("item", "Redis. It is fast.", ("s1p1",), "Title"),
        ("item", "Second sentence.", (), "Title"),
        ("item", "item two goes on", ("s1p2",), "Title"),
        ("item", "nested", ("s2p2",), "Title"),
        ("item", "Step. Do `a.b c` and 2 * 3.", (), "Title"),
        ("sentence", "quoted text that goes on.", ("s3p1",), "Title"),
        ("row", "A | b | Final", ("s1p1", "s9p9"), "Title"),
        ("sentence", "两版都允许“记忆秘密”。", ("s1p1",), "甲乙"),
        ("sentence", "但短信属于受限；其中最硬。", ("s1p2", "s1p3", "s2p2"), "甲乙"),
        ("sentence", "再看。", (), "甲乙"),
        ("sentence", "세 번째 문장입니다.", ("s6p1",), "甲乙"),
        ("sentence", "네 번째입니다.", (), "甲乙"),
        ("sentence", "これは文です。", ("s6p2",), "甲乙"),
    ]


def test_a_statement_stands_where_it_says() -> None:
    found = split_statements(REPORT)
    assert REPORT[found[1].start : found[1].end] == "It writes e.g. *code*. [s4p2]"
    row = next(s for s in found if s.kind == "row")
    assert REPORT[row.start : row.end] == "| A \\| b [s1p1] | **Final** |"
    assert row.header == ("Mech", "Status")
    nested = next(s for s in found if s.text == "nested")
    assert REPORT[nested.block[0] : nested.block[1]] == "  - nested (s2p2)"
    for statement in found:
        assert statement.block[0] <= statement.start < statement.end <= statement.block[1]
    starts = [s.start for s in found]
    assert starts == sorted(starts)


def test_a_part_after_the_references_is_read_again() -> None:
    text = "## References\n\n1. a book\n\n### Web\n\nSite.\n\n## Outlook\n\nIt goes on.\n"
    assert [s.text for s in split_statements(text)] == ["It goes on."]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Die Box kam am 9. Oktober 2015.", "Im 3. Quartal kam das 19. Jahrhundert.", "Stand: 9. Mai."],
        ["Es gibt Version 12.", "Die Firma wartet seit 12.", "Der Rest kommt.", "I am 9.", "The dog barks."],
    ],
)
def test_an_ordinal_with_its_dot_ends_no_sentence(sentences: list[str]) -> None:
    assert [one.text for one in split_statements(" ".join(sentences))] == sentences


def test_statements_do_not_carry_a_long_heading_or_header_each() -> None:
    wide = "word " * 20_000
    table = f"# {wide}\n\n| a | {wide} |\n|---|---|\n" + "| 1 | two [s1p1] |\n" * 500
    carried = [len(s.where) + sum(map(len, s.header)) for s in split_statements(table)]
    assert len(carried) == 500
    assert sum(carried) < 3 * len(table)
