"""Quotations must be there word for word; verbatim stretches are found with their offsets."""

import pytest

from claimcheck.text.quotations import find_verbatim, quotations, quotations_occur


def test_quotation_marks_of_many_languages() -> None:
    text = 'He said “one” and "two", 「三」『四』 «five», and a 5" pipe.'
    assert [q.text for q in quotations(text)] == ["one", "two", "三", "四", "five"]
    assert all(text[q.start : q.end] == q.text for q in quotations(text))


@pytest.mark.parametrize(
    "claim",
    [
        "It says “the quick brown fox”.",
        'It says "the quick … fox."',
        "It says “[T]he quick brown fox,” they say.",
        "它说“敏捷的狐狸”。",
    ],
)
def test_honest_quotations(claim: str) -> None:
    assert quotations_occur(claim, "Here the  quick\nbrown fox runs. 这是敏捷的\n狐狸。").ok


@pytest.mark.parametrize(
    "claim", ["It says “the quick red fox”.", "It says “fox … quick”.", "It says “he quick”.", "它说“敏捷的熊”。"]
)
def test_misquotations(claim: str) -> None:
    found = quotations_occur(claim, "Here the quick brown fox runs. 这是敏捷的狐狸。")
    assert not found.ok
    assert found.missing


def test_a_near_miss_is_called_so() -> None:
    found = quotations_occur("“the quick brown foxes jump”", "the quick brown fox jumped over")
    assert found.near


def test_offsets_are_those_of_the_text() -> None:
    text = "a  The “quick”\n fox – ran. b"
    span = find_verbatim('the "quick" fox - ran.', text)
    assert span is not None
    assert text[slice(*span)] == "The “quick”\n fox – ran."


PASSAGE = "Here the  quick\nbrown fox runs. He said: “I [really] like 2.5 kg of it – today”. 这是敏捷的\n狐狸，它跑。 Straße `code` and *bold* text."

# Claim, the quotations that are not in the passage, and whether the first of them nearly is.
QUOTED = [
    ("It says “the quick brown fox”.", [], False),
    ("“fox … quick”", ["fox … quick"], False),
    ("“[This] quick”", ["[This] quick"], False),
    ("“2.5 kg of it”", [], False),
    ("«brown fox»", [], False),
    ('"brown fox"', [], False),
    ("“STRASSE”", ["STRASSE"], False),
    ("“ ”", [], False),
    ("“2.5”", [], False),
    ("“it” – “today.”", [], False),
    ("“brown fox, he”", ["brown fox, he"], False),
]


@pytest.mark.parametrize(("claim", "missing", "near"), QUOTED)
def test_a_quotation_is_in_the_passage_word_for_word_or_is_missing(claim: str, missing: list[str], near: bool) -> None:
    found = quotations_occur(claim, PASSAGE)
    assert [q.text for q in found.missing] == missing
    assert (found.ok, found.near) == (not missing, near)


def test_a_quotation_may_stand_at_the_very_beginning() -> None:
    assert quotations_occur("It is called “Here the quick”.", PASSAGE).ok
    assert quotations_occur("称之为“它跑”。", "它跑。").ok


@pytest.mark.parametrize("evidence", ["", "  \n"])
def test_nothing_is_quoted_from_an_empty_text(evidence: str) -> None:
    found = quotations_occur("“a b”", evidence)
    assert (found.ok, found.near) == (False, False)


# A sentence, a text, and the stretch of the text that is the sentence.
STRETCHES = [
    ("the quick", "Here the  quick\nfox", "the  quick"),
    ("A", "a", "a"),
    ("a b", "a\u200bb", None),
    ("敏捷的狐狸 ", "这是敏捷的狐狸。", "敏捷的狐狸"),
    ("b", "a b", "b"),
    ("b `c'", "b 'c'", "b 'c'"),
    ("5", "x,5", "5"),
    ("一", "一二", "一"),
    ("", "x", None),
    ("a b", "a\tb", "a\tb"),
]


@pytest.mark.parametrize(("sentence", "text", "found"), STRETCHES)
def test_a_stretch_is_found_as_it_is_written(sentence: str, text: str, found: str | None) -> None:
    span = find_verbatim(sentence, text)
    assert (text[slice(*span)] if span else None) == found


def test_a_sentence_of_a_comment_in_code_is_quoted_without_its_signs() -> None:
    code = "    # In general it is preferable to run them in a\n    # process pool.\n    result = await run(cpu_bound)  # slow"
    assert quotations_occur("“in general it is preferable to run them in a process pool”", code).ok
    assert not quotations_occur("“in general it is preferable to run them in a thread pool”", code).ok
    assert quotations_occur("“run them in a # process pool”", code).ok
