"""Numbers with units, scales and dates in three languages, and whether a claim's numbers stand in a text."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deep_research.claimcheck.numbers import numbers_agree
from deep_research.text.measures import unit_base
from deep_research.text.quantities import quantities


def values(text: str) -> list[tuple[Decimal, str]]:
    return [(q.value, q.unit) for q in quantities(text)]


@pytest.mark.parametrize(
    "written",
    [
        "1,000 items",
        "1000.0 items",
        "1 000 items",
        "1\u00a0000 items",
        "一千个",
        "1천 개",
        "1k items",
        "１０００ items",
        "one thousand items",
    ],
)
def test_a_thousand_is_a_thousand(written: str) -> None:
    assert [v for v, _ in values(written)] == [Decimal(1000)]


@pytest.mark.parametrize("written", ["1.5 million", "1,500,000", "150万", "150만", "1.5M", "１５０万"])
def test_one_and_a_half_million(written: str) -> None:
    assert values(written) == [(Decimal(1_500_000), "")]


@pytest.mark.parametrize("written", ["350,000,000", "3.5亿", "3亿5000万", "3억 5천만", "350 million", "0.35 billion"])
def test_hundred_millions(written: str) -> None:
    assert values(written) == [(Decimal(350_000_000), "")]


@pytest.mark.parametrize(
    "written", ["30%", "30 %", "30 percent", "thirty percent", "百分之三十", "30퍼센트", "삼십 퍼센트", "３０％"]
)
def test_percent(written: str) -> None:
    assert values(written) == [(Decimal(30), "%")]


@pytest.mark.parametrize(
    "written",
    [
        "2024-05-01",
        "1 May 2024",
        "May 1, 2024",
        "1st of May 2024",
        "2024年5月1日",
        "2024년 5월 1일",
        "2024/05/01",
        "于2024年5月1日发布",
    ],
)
def test_dates(written: str) -> None:
    assert values(written) == [(Decimal(20240501), "date")]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("960 mg daily", [(960, "mg")]),
        ("€3", [(3, "eur")]),
        ("80GB of memory", [(80, "GB")]),
        ("10–20%", [(10, "%"), (20, "%")]),
        ("5.2 ± 0.3 mg", [("5.2", "mg"), ("0.3", "mg")]),
        ("twenty-one days", [(21, "day")]),
        ("the 1990s and 20世纪90年代", [(1990, "decade"), (1990, "decade")]),
        ("使训练速度提高3倍，耗时2.5小时", [(3, "times"), ("2.5", "h")]),
    ],
)
def test_units_ranges_and_words(written: str, expected: list[tuple[object, str]]) -> None:
    assert values(written) == [(Decimal(str(v)), u) for v, u in expected]


@pytest.mark.parametrize(
    "text",
    [
        "GPT-4 and GPT-4o",
        "Llama-2-7B",
        "release 1.2.3",
        "arXiv:2301.00001",
        "3D",
    ],
)
def test_identifiers_and_idioms_are_no_quantities(text: str) -> None:
    assert values(text) == []


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("It costs 500 mg.", "0.5 g were given"),
        ("사용자는 150만 명이다.", "用户有150万人"),
        ("About 50% agreed.", "48.7% agreed"),
        ("Accuracy is 86.4%.", "| model | accuracy (%) |\n| A | 86.4 |"),
        ("Patients got 5 mg/kg.", "they got 5 mg/kg/day"),
        ("从第一次调用起被独占", "The first call obtains an exclusive lock."),
        ("It must be back within 1 hour.", "We want to be back within an hour."),
    ],
)
def test_agreement(claim: str, evidence: str) -> None:
    assert numbers_agree(claim, evidence).ok


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("It costs 960 g.", "960 mg were given"),
        ("Adults got 5 mg/kg per day.", "Adults got 5 mg/kg once."),
        ("It grew by 21.5%.", "it grew by 12.5%"),
        ("It raised 5 billion.", "it raised 5 million"),
        ("用户达150亿。", "用户达150万"),
        ("About 50% agreed.", "40% agreed"),
        ("50% agreed.", "about 48.7% agreed"),
        ("It ran over 25 weeks.", "it ran over 26 weeks"),
        ("It runs 1 time in 1 day.", "it runs 5 times a day"),
    ],
)
def test_disagreement_names_what_is_missing(claim: str, evidence: str) -> None:
    found = numbers_agree(claim, evidence)
    assert not found.ok
    assert found.missing


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("−2.30 percentage points", "Glycated haemoglobin fell by 2.01, 2.24 and 2.30 percentage points."),
        ("−1.86 个百分点", "It fell by 2.30 percentage points with 15 mg, and by 1.86 points with semaglutide."),
        ("−15%", "정확도가 15% 감소했다."),
        ("-15%", "体重下降 15%。"),
    ],
)
def test_a_minus_says_how_far_something_fell(claim: str, evidence: str) -> None:
    assert numbers_agree(claim, evidence).ok


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("−15%", "Costs fell. Accuracy rose by 15%."),
        ("1.86 percentage points", "It scored 1.86 points."),
        ("5 percentage points", "The percentage fell in 5 regions."),
    ],
)
def test_a_minus_needs_a_fall_and_points_a_percentage(claim: str, evidence: str) -> None:
    assert not numbers_agree(claim, evidence).ok


def test_a_number_with_another_unit_is_shown_as_it_stands_there() -> None:
    assert numbers_agree("960 g daily", "960 mg daily").there == "960 mg"


@given(st.text())
def test_any_text_has_spans_inside_it(text: str) -> None:
    for quantity in quantities(text):
        assert 0 <= quantity.start < quantity.end <= len(text)


@given(st.integers(0, 10**12), st.sampled_from(["mg", "%", "GB", "ms", ""]))
def test_a_number_agrees_with_itself_and_not_with_its_successor(number: int, unit: str) -> None:
    text = f"It is {number:,} {unit} here."
    assert numbers_agree(text, text).ok
    assert not numbers_agree(text, f"It is {number + 1:,} {unit} here.").ok


AGREEMENT = [
    ("5 mg", "0.005 g", True),
    ("1 year", "12 months", True),
    ("in 2024", "May 2024", True),
    ("5 May", "5 May 2020", True),
    ("5 May 2020", "5 May", True),
    ("May 2021", "May 2020", False),
    ("aged 78", "78 participants", False),
    ("¥700", "700 yuan", True),
    ("700 yuan", "¥700", True),
    ("5 mg", "dose (mg) | 5", True),
    ("7 pp", "7 percentage points", True),
    ("7 pp", "table (pp) 7", True),
    ("3.5", "3.50", True),
    ("about 100", "95.3", True),
    ("more than 100", "150", True),
    ("more than 100", "99", False),
    ("less than 150", "150", True),
    ("100", "more than 100", True),
    ("-5", "fell by 5", True),
    ("-5", "rose by 5", False),
    ("-5", "5% 감소", False),
    ("-5%", "5%下降", True),
    ("five", "5", True),
    ("10 km/h", "10 km/h", True),
    ("1 TB/s", "1000 GB/s", True),
    ("14:30", "14:31", False),
    ("1980s", "1980", False),
    ("5 m", "size (mean) 5", False),
    ("10 mg per day", "10 mg/day", True),
    ("-5", "It rose. Costs fell; by 5", False),
    ("It fell by 5%.", "-5%", True),
]


@pytest.mark.parametrize(("claim", "evidence", "agree"), AGREEMENT)
def test_a_quantity_agrees_with_the_same_in_other_words_and_with_nothing_else(
    claim: str, evidence: str, agree: bool
) -> None:
    found = numbers_agree(claim, evidence)
    assert found.ok == agree
    assert bool(found.missing) != agree


@pytest.mark.parametrize(
    ("claim", "evidence", "there"),
    [("5 mg", "3 mg or 5 g", "5 g"), ("aged 78", "78 participants", "78"), ("5 mg", "6 g", ""), ("5 mg", "5 mg", "")],
)
def test_what_stands_there_with_another_unit_is_shown(claim: str, evidence: str, there: str) -> None:
    assert numbers_agree(claim, evidence).there == there


def test_only_the_quantities_that_are_asked_for_are_compared() -> None:
    claim = "5 mg in 3 days"
    first, second = quantities(claim)
    assert numbers_agree(claim, "5 mg", [first]).ok
    assert numbers_agree(claim, "5 mg", [second]).missing == (second,)
    assert numbers_agree(claim, "nothing", []).ok


@pytest.mark.parametrize(
    ("unit", "base"),
    [
        ("mg", "g"),
        ("kg", "g"),
        ("%", "%"),
        ("", ""),
        ("week", "s"),
        ("day", "s"),
        ("years", "month"),
        ("km/h", "m/s"),
        ("x/y", "x/y"),
    ],
)
def test_units_of_one_dimension_have_one_base(unit: str, base: str) -> None:
    assert unit_base(unit) == base
