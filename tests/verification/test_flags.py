"""What code tells of a statement: what none of its passages has, in whatever way it is written there."""

import pytest

from deep_research.verification.statement_flags import flags_of

EVIDENCE = """The travel budget is 36,000 euros. Wait 14 days. It needs 256 megabytes. Published 2026-11-12 by NIST in SP
800-63-4, see bip-0360. Verifiers SHALL NOT permit the subscriber to store a hint. At least 8 characters. A 12.5% rise to 1,234,567."""
PASSAGES = {"s1p1": f"The Harbour Guideline, 2025-03-01\n{EVIDENCE}"}


def _flags(statement: str, question: str = "") -> list[str]:
    return [flag.quote for flag in flags_of(statement, PASSAGES, question)]


@pytest.mark.parametrize(
    "statement",
    [
        "The travel budget is 36,000.",
        "예산은 36,000유로이다.",
        "Wait two weeks, that is fourteen days or 336 hours.",
        "In November 2026, and on 12 November.",
        "12.5 percent, or 0.125, to 1.2 million, about 1.25 million, more than 1.2 million.",
        "100 × 8% = 8.",
        "In month 7, or months 4 to 6, it waits.",
        "第7个月等待14天。",
        "BIP 360 says so.",
        "2) Wait 14 days.",
        "(1) Wait 14 days; (2) take 256 MB.",
        "7 | Budget | 36,000 euros",
        "Level 12 | Budget | 36,000 euros",
    ],
)
def test_what_the_passage_has_is_not_flagged(statement: str) -> None:
    assert _flags(statement, "100 and 8%?") == []


@pytest.mark.parametrize(
    ("statement", "flagged"),
    [
        ("It is 36,500 euros.", ["36,500 euros"]),
        ("Wait 14 weeks.", ["14 weeks"]),
        ("On 13 November 2026.", ["13 November 2026"]),
        ("In 2024.", ["2024"]),
        ("2024 | Budget | 37,000", ["2024", "37,000"]),
        ("7.5 kg | Budget", ["7.5 kg"]),
        ("The rise was made by Microsoft Research.", ["Microsoft Research"]),
        ("1.3 million.", ["1.3 million"]),
        ("As RFC 9110 and ISO 27001 are.", ["RFC 9110", "ISO 27001"]),
        ("It takes 7 months.", ["7 months"]),
    ],
)
def test_what_the_passage_has_not_is_flagged(statement: str, flagged: list[str]) -> None:
    assert _flags(statement) == flagged


def test_a_flag_says_what_was_looked_for() -> None:
    told = [(f.kind, f.said, f.is_sure) for f in flags_of("It is $36,000 in 15 days.", {**PASSAGES, "s1p9": None})]
    assert told == [
        ("id", "the passage s1p9 does not exist", True),
        ("number", "the number $36,000 is in none of the cited passages; there it is “36,000 euros”", False),
        ("number", "the number 15 days is in none of the cited passages", False),
    ]


def test_code_is_sure_of_a_changed_quotation_and_not_of_a_name_in_marks() -> None:
    changed, name = (
        "“SHALL NOT permit the subscriber to store any hint”",
        "It was told in “A Tale of Harbours and Lighthouses”.",
    )
    assert [(f.kind, f.is_sure) for f in flags_of(changed, PASSAGES)] == [("quotation", True)]
    assert ("quotation", False) in [(f.kind, f.is_sure) for f in flags_of(name, PASSAGES)]


def test_what_was_translated_is_no_changed_quotation() -> None:
    assert _flags("规定写明“不得允许用户存储密码提示信息”。") == []


def test_a_statement_without_ids_is_held_against_known_texts_alone() -> None:
    assert flags_of("It takes 15 days.", {}) == []
    assert [f.quote for f in flags_of("It takes 15 days.", {}, known=["It takes 14 days."])] == ["15 days"]
