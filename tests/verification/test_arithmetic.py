"""Arithmetic of a verifier is evaluated by code, and held against what a text says at the precision it shows."""

from decimal import Decimal

import pytest

from deep_research.verification.arithmetic import agrees, evaluate, states_result


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2,000,000 * 8%", "160000"),
        ("2**10", "1024"),
        ("−3 × −2", "6"),
        ("3 million / 4", "750000"),
    ],
)
def test_what_an_expression_gives(expression: str, value: str) -> None:
    assert evaluate(expression) == Decimal(value)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "2(3)",
        "__import__('os')",
        "(" * 200 + "1" + ")" * 200,
        "+".join(["99999999**20"] * 20) + "*99999999**20" * 10,
    ],
)
def test_what_is_no_arithmetic_gives_nothing(expression: str) -> None:
    assert evaluate(expression) is None


@pytest.mark.parametrize(
    ("quote", "value", "is_right"),
    [
        ("16 万", "160000", True),
        ("0.34", "0.33333", False),
        ("1.2 million", "1234567", True),
        ("more than 1,000", "1024", True),
        ("no figure", "1", False),
    ],
)
def test_a_figure_agrees_at_the_precision_it_shows(quote: str, value: str, is_right: bool) -> None:
    assert agrees(quote, Decimal(value)) is is_right


@pytest.mark.parametrize(
    ("quote", "expression", "states"),
    [
        ("40 rules times 25 clusters", "40*25", False),
        ("40 条规则乘 25 个集群", "40 * 25", False),
        ("1,000 rules: 40 on each of 25 clusters", "40*25", True),
        ("6,500", "2 * 3000", True),
        ("about 3 million", "1.5 million * 2", True),
    ],
)
def test_a_quotation_of_operands_alone_states_no_result(quote: str, expression: str, *, states: bool) -> None:
    assert states_result(quote, expression) is states
