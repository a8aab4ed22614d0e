"""Passage ids are read in every form that models write them, and turned into numbers."""

import time

import pytest

from deep_research.verification.citations import (
    citations,
    cited_ids,
    normalize_citations,
    number_citations,
    without_ids,
)

FORMS = {
    "A [s1p2].": "A [s1p2].",
    "A [s1p2][s2p1]": "A [s1p2][s2p1]",
    "A [s1p2]–[s1p4] - 3 of 5": "A [s1p2][s1p3][s1p4] - 3 of 5",
    "A [s1p2-4]": "A [s1p2][s1p3][s1p4]",
    "A [s1p2 and s3p4]": "A [s1p2][s3p4]",
    "A (source: s1p2; s2p3)": "A [s1p2][s2p3]",
    "甲【s1p2】。": "甲[s1p2]。",
    "甲［ｓ１ｐ２］。": "甲[s1p2]。",
    r"A \[s1p2\].": "A [s1p2].",
    "A [words](s1p2) b": "A words [s1p2] b",
    "It is final `s1p2`.": "It is final [s1p2].",
    # What else stands in the bracket belongs to the text.
    "甲（截至２０２６年，s1p2）。": "甲（截至２０２６年）[s1p2]。",
    "A [s1p2](deprecated) b": "A [s1p2](deprecated) b",
    "A [s1p2](https://example.org/a) b": "A [s1p2] b",
    # Markdown would make a link of every other [s1p2].
    "- [s1p2]: NIST": "- [s1p2] NIST",
}
UNTOUCHED = [
    "`print(s1p2)` x",
    '```chart\n{"points": [{"id": "s1p2"}]}\n```',
    "as1p2 s1p2x x_s1p2s3",
    "a[0], (see above), [1], [NIST](https://nist.gov), 10 (ten)",
    "「甲」（乙）",
]


@pytest.mark.parametrize(("written", "normal"), FORMS.items())
def test_every_form_becomes_one(written: str, normal: str) -> None:
    assert normalize_citations(written) == normal
    assert normalize_citations(normal) == normal
    assert cited_ids(written) == cited_ids(normal) != ()


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_is_no_citation_stays(text: str) -> None:
    assert normalize_citations(text) == text
    assert cited_ids(text) == ()


def test_ids_become_numbers_and_places_are_carried_over() -> None:
    text = "Fast [s1p2][s1p9]. Cheap a[0] [1] [s2p1] [s9p9].\nNew [s9p9]."
    numbers = {"s1p2": 1, "s1p9": 1, "s2p1": 2}
    numbered = number_citations(text, numbers.get, {text.index(". Cheap"): "°"})
    assert numbered.text == "Fast [1]°. Cheap a\\[0\\] \\[1\\] [2].\nNew."
    for word in ("Fast", "Cheap", "New"):
        assert numbered.to_new(text.index(word)) == numbered.text.index(word)
        assert numbered.to_old(numbered.text.index(word)) == text.index(word)
    assert numbered.to_new(len(text)) == len(numbered.text)


def test_code_keeps_its_brackets() -> None:
    text = "`a[0]` [s1p1]\n\n```\nx[1] s1p1\n```\n"
    assert number_citations(text, {"s1p1": 7}.get).text == text.replace("[s1p1]", "[7]")


def test_many_different_ids_side_by_side_are_read_in_bounded_time() -> None:
    text = "It turns. " + "".join(f"[s{n}p0]" for n in range(1, 40_001))
    begun = time.process_time()
    (one,) = citations(text)
    assert len(one.ids) == 40_000
    assert time.process_time() - begun < 8  # joined one by one they take the square: minutes


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("两倍 [s141]（默认 1h [s142]，建议）。", ["s141", "s142"]),
        ("As said [s7] (unless noted).", ["s7"]),
        ("See [s7](https://x.example/z).", []),
    ],
)
def test_a_whole_source_is_cited_also_before_words_in_parentheses(text: str, ids: list[str]) -> None:
    assert [key for one in citations(text) for key in one.ids] == ids


@pytest.mark.parametrize(
    ("written", "read"),
    [("It turns. `[s1p1]`", "It turns. [s1p1]"), ("It turns `s1p1`, `[s1p2]`.", "It turns [s1p1][s1p2]."),
     ("It turns **[s1p1]**. It flies.", "It turns [s1p1]. It flies."), ("**It turns.**[s1p1]**It flies.**",) * 2,
     ("It turns. [s1p1, p. 3]", "It turns. [s1p1]"), ("Say (s1p1, pp. 3-4) so.", "Say [s1p1] so."),
     ("```\n[s1p1]\n```",) * 2, ("`x[s1p1]`",) * 2],
)  # fmt: skip
def test_marks_of_type_and_pages_around_ids_go(written: str, read: str) -> None:
    assert normalize_citations(written) == read


@pytest.mark.parametrize("text", ["The S1P1 receptor binds it.", "The receptor (S1P1) binds it.", "see S12P3, S4P5"])
def test_a_name_in_capitals_is_no_citation(text: str) -> None:
    assert citations(text) == []


def test_capitals_in_square_brackets_are_a_citation() -> None:
    assert citations("It binds [S1P2].")[0].ids == ("s1p2",)


@pytest.mark.parametrize("text", ["see s1p2", "see [s2p1], p3", "【s2p1】", "[s7]", "(s1p2-p4)"])
def test_quoted_ids_are_words(text: str) -> None:
    assert citations(without_ids(text)) == []
