"""Computations: exact over cited figures, refused where a figure, a constant or a unit has no ground."""

import random
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest

from deep_research.claimcheck.computations import ComputationError, carry_out
from deep_research.data import Computation, Operand

TEXTS = {
    "s1p1": "The build was around 10% slower in March 2025; memory rose by 15-20%.",
    "s1p2": "It was 12.6% faster on a Mac, 7.3% on Linux AArch64, 6.9% on x86-64 and 4.7% on Windows.",
    "s2p1": "Sales were 1,250 units in 2023 and 1,500 units in 2024.",
    "s2p2": "公司2023年收入为3.2亿元，员工1200人。",
    "s2p3": "매출은 2억 원, 직원은 40명이다.",
    "s3p1": "Accepted on 16 June 2025; released on 7 October 2025. The draft is of 2022-03-08.",
    "s4p1": "It opens on 16 June and shuts on 7 October, at 12:30.",
    "s3p2": "The pipe is 3 km long and weighs 250 kg.",
    "s5p1": "There are 3 TB of files and a dump of 60 GB; the server holds 6 TB; 30 GB a day go over a line of 100 Mbit/s.",
}


def _made(expression: str, unit: str = "", decimals: int = 1, **figures: tuple[str, str]) -> Computation:
    operands = tuple(Operand(name=n, value=v, passage=p) for n, (v, p) in figures.items())
    return Computation(name="k1", expression=expression, operands=operands, unit=unit, decimals=decimals)


@pytest.mark.parametrize(
    ("computation", "value", "working"),
    [
        (_made("(b - a) / a * 100", "%", 0, a=("1,250", "s2p1"), b=("1,500", "s2p1")), "20%", "(1,500 - 1,250) ÷ 1,250 × 100"),
        (_made("change(a, b)", "%", 0, a=("1,250", "s2p1"), b=("1,500", "s2p1")), "20%", "change(1,250, 1,500)"),
        (_made("1.0 / (1 + a / 100) ** 2", "", 3, a=("10%", "s1p1")), "0.826", "1.0 ÷ (1 + 10%)^2"),
        (
            _made("((1+a/100)*(1+b/100)*(1+c/100)*(1+d/100))**(1/4)", "", 3,
                  a=("12.6%", "s1p2"), b=("7.3%", "s1p2"), c=("6.9%", "s1p2"), d=("4.7%", "s1p2")),
            "1.078", "((1 + 12.6%) × (1 + 7.3%) × (1 + 6.9%) × (1 + 4.7%))^(1 ÷ 4)",
        ),
        (_made("a-a*c/100", "", 0, a=("1,250", "s2p1"), c=("4.7%", "s1p2")), "1,191", "1,250 - 1,250 × 4.7%"),
        (_made("sqrt(c*(100-c)/8)", "%", 1, c=("4.7%", "s1p2")), "7.5%", "√(4.7% × (100 % - 4.7%) ÷ 8)"),
        (_made("a*(100-c)/100", "", 0, a=("1,250", "s2p1"), c=("4.7%", "s1p2")), "1,191", "1,250 × (100 % - 4.7%)"),
        (
            _made("sqrt(a*c*(100-c))/100", "", 0, a=("1,250", "s2p1"), c=("4.7%", "s1p2")),
            "7",
            "√(1,250 × 4.7 × (100 - 4.7)) ÷ 100",
        ),
        (
            _made("(f*1000+d)*8*1000/l/3600", "hours", 0, f=("3 TB", "s5p1"), d=("60 GB", "s5p1"), l=("100 Mbit/s", "s5p1")),
            "68 hours",
            "(3 TB × 1000 + 60 GB) × 8 × 1000 ÷ 100 Mbit/s ÷ 3600",
        ),
        (
            _made("((s-f)*1024-d)/n", "days", 0, s=("6 TB", "s5p1"), f=("3 TB", "s5p1"), d=("60 GB", "s5p1"), n=("30 GB", "s5p1")),
            "100 days",
            "((6 TB - 3 TB) × 1024 - 60 GB) ÷ 30 GB",
        ),
        (
            _made("s*c/100-f-d/1000", "TB", 1, s=("6 TB", "s5p1"), c=("4.7%", "s1p2"), f=("3 TB", "s5p1"), d=("60 GB", "s5p1")),
            "-2.8 TB",
            "6 TB × 4.7% - 3 TB - 60 GB ÷ 1000",
        ),
        (
            _made("s*c/100*8/l", "", 2, s=("6 TB", "s5p1"), c=("4.7%", "s1p2"), l=("100 Mbit/s", "s5p1")),
            "0.02",
            "6 TB × 4.7% × 8 ÷ 100 Mbit/s",
        ),
        (_made("(1-c/100)*8", "", 1, c=("4.7%", "s1p2")), "7.6", "(1 - 4.7%) × 8"),
        (_made("sum(a, b)", "", 0, a=("1,250", "s2p1"), b=("1,500", "s2p1")), "2,750", "sum(1,250, 1,500)"),
        (_made("mean(a, b)", "", 1, a=("1,250", "s2p1"), b=("1,500", "s2p1")), "1,375.0", "mean(1,250, 1,500)"),
        (_made("a / b / 10000", "万元", 1, a=("3.2亿元", "s2p2"), b=("1200人", "s2p2")), None, None),
        (_made("a / b", "元", 0, a=("3.2亿元", "s2p2"), b=("1200", "s2p2")), "266,667元", "3.2亿元 ÷ 1200"),
        (_made("a / b", "원", 0, a=("2억 원", "s2p3"), b=("40", "s2p3")), "5,000,000원", "2억 원 ÷ 40"),
        (_made("days(a, b)", "days", 0, a=("16 June 2025", "s3p1"), b=("7 October 2025", "s3p1")), "113 days", "days(16 June 2025, 7 October 2025)"),
        (_made("years(a, b)", "years", 0, a=("2023", "s2p1"), b=("2024", "s2p1")), "1 years", "years(2023, 2024)"),
        (_made("max(a, b) - min(a, b)", "%", 1, a=("12.6%", "s1p2"), b=("4.7%", "s1p2")), "7.9%", "max(12.6%, 4.7%) - min(12.6%, 4.7%)"),
        (_made("-a", "", 0, a=("1,250", "s2p1")), "-1,250", "-1,250"),
        (_made("sqrt(a)", "", 2, a=("1,250", "s2p1")), "35.36", "√(1,250)"),
        (_made("a / 1000", "t", 2, a=("250 kg", "s3p2")), "0.25 t", "250 kg ÷ 1000"),
        (_made("a + 1 + a", "km", 0, a=("3 km", "s3p2")), "7 km", "3 km + 1 + 3 km"),
    ],
)  # fmt: skip
def test_what_is_computed_is_exact_and_shows_its_operands(
    computation: Computation, value: str | None, working: str | None
) -> None:
    if value is None:
        with pytest.raises(ComputationError) as refused:
            carry_out(computation, TEXTS.get)
        assert refused.value.code == "figure_without_source"  # 10000 is no figure of a passage
        return
    result = carry_out(computation, TEXTS.get)
    assert (result.value, result.working) == (value, working)
    assert set(result.passages) == {operand.passage for operand in computation.operands}


def test_figures_of_the_question_are_reckoned_with_and_are_no_passage() -> None:
    texts = TEXTS | {"question": "Our dump takes 9 hours and runs every 24 hours; the pipe is 3 km long."}
    own = carry_out(_made("a + b", "hours", 0, a=("9 hours", "question"), b=("24 hours", "question")), texts.get)
    assert (own.value, own.passages, own.is_own) == ("33 hours", (), True)
    both = carry_out(_made("a / b", "kg/km", 0, a=("250 kg", "s3p2"), b=("3 km", "question")), texts.get)
    assert (both.passages, both.is_own) == (("s3p2",), True)
    with pytest.raises(ComputationError):
        carry_out(_made("a + 1", "hours", 0, a=("8 hours", "question")), texts.get)


@pytest.mark.parametrize(
    ("computation", "code"),
    [
        (_made("a * 2", a=("11%", "s1p1")), "figure_not_in_passage"),
        (_made("a * 2", a=("10%", "s9p9")), "figure_not_in_passage"),
        (_made("a * 2", a=("10% and 20%", "s1p1")), "figure_not_in_passage"),
        (_made("a * 2", a=("ten or so", "s1p1")), "figure_not_in_passage"),
        (_made("a * 1.37", a=("10%", "s1p1")), "figure_without_source"),
        (_made("2 + 2"), "computation_without_figures"),
        (_made("a + b", a=("3 km", "s3p2"), b=("250 kg", "s3p2")), "computation_units"),
        (_made("sum(a, b)", a=("3 km", "s3p2"), b=("250 kg", "s3p2")), "computation_units"),
        (_made("a + b", a=("3 TB", "s5p1"), b=("60 GB", "s5p1")), "computation_units"),
        (_made("a * 100 + b", a=("3 TB", "s5p1"), b=("60 GB", "s5p1")), "computation_units"),
        (_made("a * 1000 + b", a=("3 TB", "s5p1"), b=("250 kg", "s3p2")), "computation_units"),
        (_made("a / (b - b)", a=("3 km", "s3p2"), b=("250 kg", "s3p2")), "computation_by_zero"),
        (_made("__import__('os').getcwd()", a=("3 km", "s3p2")), "computation_without_figures"),
        (_made("a.real", a=("3 km", "s3p2")), "computation_unreadable"),
        (_made("a ** a ** a", a=("250 kg", "s3p2")), "computation_unreadable"),
        (_made("a +", a=("3 km", "s3p2")), "computation_unreadable"),
        (_made("(" * 400 + "a" + ")" * 400, a=("3 km", "s3p2")), "computation_unreadable"),
        (_made("a / b", "%", 0, a=("4", "s3p2"), b=("250 kg", "s3p2")), "figure_not_in_passage"),
        (_made("a + b", "", 0, a=("3", "s3p2"), b=("250", "s3p2")), "computation_units"),
        (_made("a * 2", a=("250 km", "s3p2")), "figure_not_in_passage"),
        (_made("a * 2", a=("1,250 kg", "s2p1")), "figure_not_in_passage"),
        (_made("a / 1000000", "", 2, a=("250 kg", "s3p2")), "computation_rounds_away"),
        (_made("years(a, b) + w", a=("2023", "s2p1"), b=("2024", "s2p1"), w=("250 kg", "s3p2")), "computation_units"),
        # A date without a year, and a time of day, are no numbers.
        (_made("years(a, b)", a=("16 June", "s4p1"), b=("7 October", "s4p1")), "computation_unreadable"),
        (_made("b - a", a=("16 June", "s4p1"), b=("7 October", "s4p1")), "computation_unreadable"),
        (_made("a * 2", a=("12:30", "s4p1")), "computation_units"),
        (_made("a", "% of 1234", a=("10%", "s1p1")), "computation_units"),
    ],
)
def test_what_has_no_ground_is_refused_and_says_why(computation: Computation, code: str) -> None:
    with pytest.raises(ComputationError) as refused:
        carry_out(computation, TEXTS.get)
    assert refused.value.code == code


# An expression over a = 1,250, b = 1,500 (units sold), p = 10 %, w = 250 kg, l = 3 km, and what is shown.
VALUES = [
    ("a + b", "", 0, "2,750"),
    ("b - a", "", 0, "250"),
    ("a * 2", "", 0, "2,500"),
    ("a ÷ 4", "", 1, "312.5"),
    ("a × 3 − b", "", 0, "2,250"),
    ("+a", "", 0, "1,250"),
    ("abs(a - b)", "", 0, "250"),
    ("min(a, b)", "", 0, "1,250"),
    ("max(a, b)", "", 0, "1,500"),
    ("geomean(a, b)", "", 2, "1,369.31"),
    ("a ** 2", "", 0, "1,562,500"),
    ("(a - b) ** 2", "", 0, "62,500"),
    ("a ** (0 - 1) * 1000", "", 2, "0.80"),
    ("a ** 0", "", 0, "1"),
    ("(a - a) ** (1/2)", "", 1, "0.0"),
    ("a / 4 / 2", "", 0, "156"),  # 156.25
    ("a / 4", "", 0, "313"),  # 312.5 is rounded up
    ("-a / 4", "", 0, "-313"),
    ("a - a", "", 1, "0.0"),
    ("w / l", "kg/km", 1, "83.3 kg/km"),
    ("w + w", "kg", 0, "500 kg"),
    ("w * 2 + w", "kg", 0, "750 kg"),
    ("2 * w + w", "kg", 0, "750 kg"),
    ("w / 2 + w", "kg", 0, "375 kg"),
    ("w + 1", "kg", 0, "251 kg"),
    ("p", "%", 1, "10.0%"),
    ("mean(p, p)", "%", 0, "10%"),
    ("change(b, a)", "%", 1, "-16.7%"),
    ("(a - a) ** 2", "", 0, "0"),
    ("a / 3", "", 1, "416.7"),
    ("a / 7", "weeks", 0, "179 weeks"),
    ("a / 10", "", 0, "125"),
    ("a / 12", "a month", 0, "104 a month"),
    ("a / 24", "", 0, "52"),
    ("a / 30", "", 0, "42"),
    ("a * 60", "s", 0, "75,000 s"),
    ("a / 365", "a day", 2, "3.42 a day"),
    ("a * 1000", "", 0, "1,250,000"),
    ("a * 1000000", "", 0, "1,250,000,000"),
    ("a * 1000000000", "", 0, "1,250,000,000,000"),
    ("mean(w, w) + w", "kg", 0, "500 kg"),
    ("geomean(w, w) + w", "kg", 0, "500 kg"),
    ("sqrt(a) * sqrt(a)", "", 0, "1,250"),
    ("change(a, b) + p", "%", 0, "30%"),
    ("(a + b + w / w + l / l + p / p) / 5", "", 1, "550.6"),
    ("1 + w", "kg", 0, "251 kg"),
    ("1 + 2 + w", "kg", 0, "253 kg"),
    ("1 * w + w", "kg", 0, "500 kg"),
    ("a * w + w", "kg", 0, "312,750 kg"),
    ("w * a + w", "kg", 0, "312,750 kg"),
    ("a * 0.25", "", 2, "312.50"),
]
FIGURES = {"a": ("1,250", "s2p1"), "b": ("1,500", "s2p1"), "p": ("10%", "s1p1"), "w": ("250 kg", "s3p2"), "l": ("3 km", "s3p2")}  # fmt: skip
DATES = {"d": ("March 2025", "s1p1"), "e": ("16 June 2025", "s3p1"), "f": ("2022-03-08", "s3p1"), "y": ("2023", "s2p1")}


def _over(expression: str, unit: str = "", decimals: int = 0) -> Computation:
    return _made(expression, unit, decimals, **FIGURES, **DATES)


@pytest.mark.parametrize(("expression", "unit", "decimals", "value"), VALUES)
def test_values_are_exact_until_they_are_rounded(expression: str, unit: str, decimals: int, value: str) -> None:
    assert carry_out(_over(expression, unit, decimals), TEXTS.get).value == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [("days(f, e)", "1,196"), ("days(d, e)", "107"), ("years(f, e)", "3"), ("days(f, e) / 2", "598")],
)
def test_times_between_dates_are_counted(expression: str, value: str) -> None:
    assert carry_out(_over(expression), TEXTS.get).value == value


REFUSED = [
    ("w + l", "computation_units", {"units": "kg + km"}),
    ("w + a", "computation_units", {"units": "kg + 1"}),
    ("w * l + w", "computation_units", {"units": "1 + kg"}),
    ("w / w + w", "computation_units", {"units": "1 + kg"}),
    ("sum(w, l)", "computation_units", {"units": "kg, km"}),
    ("sum(w, a)", "computation_units", {"units": "1, kg"}),
    ("mean(e, e)", "computation_units", {"units": "date"}),
    ("e", "computation_units", {"units": "date"}),
    ("e + e", "computation_units", {"units": "date"}),
    ("days(e, a)", "computation_units", {"units": "date"}),
    ("days(e, e, e)", "computation_units", {"units": "date"}),
    ("days(e)", "computation_units", {"units": "date"}),
    ("years(e, a)", "computation_units", {"units": "date"}),
    ("years(a, e)", "computation_units", {"units": "date"}),
    ("change(a, b, a)", "computation_unreadable", {"expression": "two figures are wanted"}),
    ("change(a - a, b)", "computation_by_zero", {}),
    ("(a - a) ** (0 - 1)", "computation_by_zero", {}),
    ("(a - a) ** (0 - 1/2)", "computation_by_zero", {}),
    ("a / 0", "computation_by_zero", {}),
    ("(a - b) ** (1/2)", "computation_unreadable", {"expression": "root of a negative number"}),
    ("sqrt(a, b)", "computation_unreadable", {"expression": "sqrt"}),
    ("a % 2", "computation_unreadable", {"expression": "Mod"}),
    ("a ** 65", "figure_without_source", {"figure": "65"}),
    ("a ** 1000", "computation_unreadable", {"expression": "** 1000"}),
    ("(a ** 30) ** 30", "computation_unreadable", {"expression": "** 30"}),
    ("a * True", "computation_unreadable", {"expression": "True"}),
    ("a if a else b", "computation_unreadable", {"expression": "a if a else b"}),
    ("sum(a, start=b)", "computation_unreadable", {"expression": "sum(a, start=b)"}),
    ("sum() + a", "computation_unreadable", {"expression": "sum()"}),
    ("eval(a)", "computation_unreadable", {"expression": "eval(a)"}),
    ("geomean(w, w) + l", "computation_units", {"units": "kg + km"}),
    ("a ** 60 * b ** 60 * b ** 30", "computation_unreadable", {"expression": "a ** 60 * b ** 60 * b ** 30"}),
    ("a * 13", "figure_without_source", {"figure": "13"}),
    ("a / 15", "figure_without_source", {"figure": "15"}),
    ("a * 50", "figure_without_source", {"figure": "50"}),
    ("a / 500", "figure_without_source", {"figure": "500"}),
    ("a * 2000", "figure_without_source", {"figure": "2000"}),
    ("a * (1/65)", "figure_without_source", {"figure": "65"}),
    ("w + 1 + l", "computation_units", {"units": "kg + km"}),
    ("1 + w + l", "computation_units", {"units": "kg + km"}),
    ("change(a, b) + w", "computation_units", {"units": "% + kg"}),
    ("days(f, e) + w", "computation_units", {"units": "day + kg"}),
    ("years(f, e) + w", "computation_units", {"units": "years + kg"}),
    ("a * z", "computation_unreadable", {"expression": "z"}),
    ("a * 0.015", "figure_without_source", {"figure": "0.015"}),
    ("a + " * 70 + "a", "computation_unreadable", {}),
    ("", "computation_unreadable", {"expression": ""}),
]


@pytest.mark.parametrize(("expression", "code", "values"), REFUSED)
def test_a_refusal_names_what_is_wrong(expression: str, code: str, values: dict[str, str]) -> None:
    with pytest.raises(ComputationError) as refused:
        carry_out(_over(expression), TEXTS.get)
    assert (refused.value.code, {key: refused.value.values[key] for key in values}) == (code, values)


@pytest.mark.parametrize("unit", ["x" * 25, "m2"])
def test_a_unit_is_short_and_without_digits(unit: str) -> None:
    with pytest.raises(ComputationError) as refused:
        carry_out(_over("a", unit), TEXTS.get)
    assert refused.value.values == {"units": unit}
    assert carry_out(_over("a", "x" * 24), TEXTS.get).value == f"1,250 {'x' * 24}"


_SHAPES = [
    ("a + b", lambda a, b: a + b),
    ("a - b", lambda a, b: a - b),
    ("a * b", lambda a, b: a * b),
    ("a / b", lambda a, b: a / b),
    ("(b - a) / a * 100", lambda a, b: (b - a) / a * 100),
    ("mean(a, b)", lambda a, b: (a + b) / 2),
    ("a ** 2 / b", lambda a, b: a**2 / b),
    ("max(a, b) - min(a, b)", lambda a, b: abs(a - b)),
    ("sum(a, b, a)", lambda a, b: 2 * a + b),
    ("change(a, b)", lambda a, b: (b - a) / a * 100),
]


def test_a_hundred_computations_are_exact() -> None:
    chance = random.Random(20261122)
    for number in range(100):
        a, b = (Fraction(chance.randrange(1_001, 99_999), 10 ** chance.randrange(2)) for _ in range(2))
        said = {name: _written(value) for name, value in (("a", a), ("b", b))}
        text = f"The first took {said['a']} and the second {said['b']}."
        expression, exact = _SHAPES[number % len(_SHAPES)]
        computation = _made(expression, "", 4, a=(said["a"], "s1p1"), b=(said["b"], "s1p1"))
        if expression.startswith("change"):
            computation = computation.model_copy(update={"unit": "%"})
        shown = carry_out(computation, {"s1p1": text}.get).value
        wanted = Decimal(exact(a, b).numerator) / Decimal(exact(a, b).denominator)
        rounded = wanted.quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP)
        assert shown.rstrip("%") == f"{rounded:,}", (expression, said)


def _written(value: Fraction) -> str:
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{decimal:,}"


@pytest.mark.parametrize("function", ["sum", "mean", "max", "change"])
def test_figures_in_different_units_are_not_put_together(function: str) -> None:
    computation = _made(f"{function}(a, b)", a=("500 mg", "s1p1"), b=("1 g", "s1p1"))
    with pytest.raises(ComputationError) as refused:
        carry_out(computation, {"s1p1": "It takes 500 mg of one and 1 g of the other."}.get)
    assert refused.value.values == {"units": "g, mg"}
