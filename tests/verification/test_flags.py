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
        "Wait two weeks, that is fourteen days or 336 hours.",
        "In November 2026, and on 12 November.",
        "12.5 percent, or 0.125, to 1.2 million, about 1.25 million, more than 1.2 million.",
        "100 × 8% = 8.",
        "第7个月等待14天。",
        "BIP 360 says so.",
        "(1) Wait 14 days; (2) take 256 MB.",
        "Level 12 | Budget | 36,000 euros",
    ],
)
def test_what_the_passage_has_is_not_flagged(statement: str) -> None:
    assert _flags(statement, "100 and 8%?") == []


@pytest.mark.parametrize(
    ("statement", "flagged"),
    [
        ("It is 36,500 euros.", ["36,500 euros"]),
        ("On 13 November 2026.", ["13 November 2026"]),
        ("In 2024.", ["2024"]),
        ("7.5 kg | Budget", ["7.5 kg"]),
        ("The rise was made by Microsoft Research.", ["Microsoft Research"]),
        ("As RFC 9110 and ISO 27001 are.", ["RFC 9110", "ISO 27001"]),
    ],
)
def test_what_the_passage_has_not_is_flagged(statement: str, flagged: list[str]) -> None:
    assert _flags(statement) == flagged


ENGLISH = """Support ended on October 9, 2012. It was founded in March 1998 and listed in 2003. Sales grew in the third quarter of
2021, and may have fallen in Q1 2022 and in the second half of 2020. The fair ran from 12 to 14 May 2016. See 2023-11-05."""
GERMAN = """Am 27. März 2011 fiel die Folge aus. Die Box kam am 9. Oktober 2015, wie von 2014 bis 2015 jede. Im 3. Quartal 2019 waren
es 2.400 Stück zu 2,5 kg, im 1. Quartal weniger. Stand: 05.11.2023."""
KOREAN = "2018년 10월 9일에 종료했다. 2019년 3월에 설립되었고 2021년 2분기에 매출이 늘었다. 2022.05.17. 개정되었다. 1분기는 줄었다."
CHINESE = "公司成立于1998年4月12日，2010年至2014年扩建，二〇一六年十月一日投产。2025年第三季度营收增长，上半年下降，第一季度持平。"


@pytest.mark.parametrize(
    ("source", "sound", "wrong"),
    [
        (ENGLISH, "Support ended on the 9th of October 2012.", "Support ended on the 8th of October 2012."),
        (ENGLISH, "Support ended in October 2012.", "Support ended in May 2012."),
        (ENGLISH, "Sales grew in Q3 2021.", "Sales grew in the fourth quarter of 2021."),
        (ENGLISH, "The first quarter of 2022 was weak.", "The second quarter of 2022 was weak."),
        (ENGLISH, "The fair ran from May 12 to 14, 2016.", "The fair ran from May 12 to 15, 2016."),
        (GERMAN, "Sie fiel am 27. März aus.", "Sie fiel am 27. Mai aus."),
        (GERMAN, "The box came on 9 October 2015.", "The box came on 9 December 2015."),
        (GERMAN, "Im dritten Quartal 2019 mehr.", "Im vierten Quartal 2019 mehr."),
        (KOREAN, "2018. 10. 9. 종료했다.", "2018년 12월에 종료했다."),
        (CHINESE, "公司2016年10月1日投产。", "公司二〇一六年八月投产。"),
        (CHINESE, "2025年Q3营收增长。", "2025年第二季度营收增长。"),
    ],
)
def test_a_date_that_the_source_has_not_is_flagged_however_it_is_written(source: str, sound: str, wrong: str) -> None:
    assert flags_of(sound, {"s1": source}) == []
    assert [flag.kind for flag in flags_of(wrong, {"s1": source})] == ["date"]


def test_numbers_are_read_as_their_language_writes_them() -> None:
    german, english = {"s1": GERMAN}, {"s1": "There were 2400 pieces of 2.5 kg, and 61,250.75 euros."}
    for sound in ("There were 2,400 pieces of 2.5 kg.", "Das sind die 2.400 Stück zu 2,5 kg.", "Es sind 2400 Stück."):
        assert flags_of(sound, german) == []
    assert flags_of("Das sind 2.400 Stück zu 2,5 kg und 61.250,75 Euro.", english) == []
    wrong = flags_of("Das sind die 2.500 Stück zu 3,5 kg.", german)
    assert [flag.quote for flag in wrong] == ["2.500", "3,5 kg"]


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


@pytest.mark.parametrize("word", ["1" * 4_000, "s1" * 2_000, "A-b" * 1_500])
def test_what_is_too_long_to_be_a_statement_is_not_looked_through(word: str) -> None:
    assert flags_of(f"The engine {word} turns.", {"s1p1": "The engine turns."}) == []
    assert [flag.kind for flag in flags_of(f"The engine {word} turns.", {"s9p1": None})] == ["id"]
