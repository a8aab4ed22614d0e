"""Quotations must be there word for word; verbatim stretches are found with their offsets."""

import pytest

from claimcheck.text.quotations import missing_quotations, quotations, stands_nearly_in


def test_quotation_marks_of_many_languages() -> None:
    text = 'He said “one” and "two", 「三」『四』 «five», and a 5" pipe.'
    assert [q.text for q in quotations(text)] == ["one", "two", "三", "四", "five"]
    assert all(text[q.start : q.end] == q.text for q in quotations(text))


def test_a_near_miss_is_called_so() -> None:
    assert stands_nearly_in("the quick brown foxes jump", "the quick brown fox jumped over")
    assert missing_quotations("It says “he quick”.", PASSAGE)


PASSAGE = "Here the  quick\nbrown fox runs. He said: “I [really] like 2.5 kg of it – today”. 这是敏捷的\n狐狸，它跑。 Straße `code` and *bold* text."

# Claim, and the quotations that are not in the passage.
QUOTED = [
    ("It says “the quick brown fox”.", []),
    ('It says "the quick … fox."', []),
    ("It says “[T]he quick brown fox,” they say.", []),
    ("它说“敏捷的狐狸”。", []),
    ("It says “the quick red fox”.", ["the quick red fox"]),
    ("“[This] quick”", ["[This] quick"]),
    ("“STRASSE”", ["STRASSE"]),
    ("“ ”", []),
    ("“it” – “today.”", []),
]


@pytest.mark.parametrize(("claim", "missing"), QUOTED)
def test_a_quotation_is_in_the_passage_word_for_word_or_is_missing(claim: str, missing: list[str]) -> None:
    found = [q.text for q in missing_quotations(claim, PASSAGE)]
    assert found == missing
    assert not any(stands_nearly_in(quoted, PASSAGE) for quoted in found)


@pytest.mark.parametrize("evidence", ["", "  \n"])
def test_nothing_is_quoted_from_an_empty_text(evidence: str) -> None:
    assert missing_quotations("“a b”", evidence)
    assert not stands_nearly_in("a b", evidence)


def test_a_sentence_of_a_comment_in_code_is_quoted_without_its_signs() -> None:
    code = "    # In general it is preferable to run them in a\n    # process pool.\n    result = await run(cpu_bound)  # slow"
    assert not missing_quotations("“in general it is preferable to run them in a process pool”", code)
    assert missing_quotations("“in general it is preferable to run them in a thread pool”", code)
    assert not missing_quotations("“run them in a # process pool”", code)
