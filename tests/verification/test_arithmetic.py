"""Arithmetic of a verifier is evaluated by code, and held against what a text says at the precision it shows."""

from decimal import Decimal

import pytest

from deep_research.verification.arithmetic import agrees, evaluate


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2,000,000 * 8%", "160000"),
        ("200万 × 8%", "160000"),
        ("(3 + 4) * 2 - 1", "13"),
        ("2**10", "1024"),
        ("2^-1", "0.5"),
        ("-3 + 5", "2"),
        ("−3 × −2", "6"),
        ("10 - 2 - 3", "5"),
        ("3 million / 4", "750000"),
        ("$36,000 ÷ 12", "3000"),
        ("（１＋２）＊３", "9"),
        ("0.1 + 0.2", "0.3"),
    ],
)
def test_what_an_expression_gives(expression: str, value: str) -> None:
    assert evaluate(expression) == Decimal(value)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "1/0",
        "2 ** 0.5",
        "10**30",
        "9**9**9",
        "(1",
        "1)",
        "1 2",
        "2(3)",
        "1e5",
        "__import__('os')",
        "x + 1",
        "(" * 200 + "1" + ")" * 200,
        "-" * 400 + "1",
        "1+" * 300 + "1",
        "+".join(["99999999**20"] * 20) + "*99999999**20" * 10,
    ],
)
def test_what_is_no_arithmetic_gives_nothing(expression: str) -> None:
    assert evaluate(expression) is None


@pytest.mark.parametrize(
    ("quote", "value", "is_right"),
    [
        ("16 万", "160000", True),
        ("36,000", "36412", False),
        ("about 36,000", "36412", True),
        ("about 36,000", "38000", False),
        ("0.333", "0.33333", True),
        ("0.34", "0.33333", False),
        ("33.3 %", "0.33333", True),
        ("33.3 %", "33.333", True),
        ("1.2 million", "1234567", True),
        ("1.3 million", "1234567", False),
        ("more than 1,000", "1024", True),
        ("more than 1,000", "990", False),
        ("at most 500", "480", True),
        ("a 12% fall", "-0.12", True),
        ("3억 5천만 원", "350000000", True),
        ("no figure", "1", False),
    ],
)
def test_a_figure_agrees_at_the_precision_it_shows(quote: str, value: str, is_right: bool) -> None:
    assert agrees(quote, Decimal(value)) is is_right
