"""Evaluate a verifier's arithmetic exactly and within bounds, and check a text."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow

from claimcheck.lexicon import any_of
from claimcheck.numbers import is_within
from claimcheck.text.measures import SCALES
from claimcheck.text.quantities import quantities
from claimcheck.text.tokens import FULL_WIDTH

LONGEST = 500
"""Characters of an expression."""
_LARGEST_EXPONENT = 20
_EXACT = Context(
    prec=50, Emax=200, Emin=-200, rounding=ROUND_HALF_EVEN, traps=[DivisionByZero, InvalidOperation, Overflow]
)
_OPERATIONS: Mapping[type[ast.operator], Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: _EXACT.add,
    ast.Sub: _EXACT.subtract,
    ast.Mult: _EXACT.multiply,
    ast.Div: _EXACT.divide,
}
_SIGNS = FULL_WIDTH | str.maketrans({"×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "^": "⌃"})
_TOKEN = re.compile(
    rf"\s*(?:[$€£¥₩]\s*)?(?:(?P<number>\d{{1,3}}(?:[,_]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:\s?(?P<scale>{any_of(SCALES)})(?![a-z]))?"
    r"|(?P<sign>\*\*|[-+*/()%⌃]))\s*",
    re.IGNORECASE,
)
_WRITTEN = re.compile(r"\d[\d,]*(?:\.(?P<decimals>\d+))?")


def evaluate(expression: str) -> Decimal | None:
    """Return the value of an expression of `+ - * / ** %` and parentheses, or None.

    `5%` is 0.05; thousands may be parted by commas, and scales written behind a number (3 million, 20万).
    """
    if len(expression) > LONGEST:
        return None
    try:
        return _value(ast.parse(" ".join(_as_python(expression.translate(_SIGNS))), mode="eval").body)
    except (ArithmeticError, MemoryError, RecursionError, SyntaxError, ValueError):
        return None


def _as_python(expression: str) -> Iterator[str]:
    """Yield an expression as Python, or raise ValueError; `%` becomes an attribute."""
    position = 0
    while position < len(expression):
        token = _TOKEN.match(expression, position)
        if token is None:
            raise ValueError(expression)
        position = token.end()
        scale = SCALES[token["scale"].lower()] if token["scale"] else 1
        number = token["number"] and _EXACT.multiply(Decimal(re.sub("[,_]", "", token["number"])), Decimal(scale))
        yield f'("{number}")' if token["number"] else {"%": ".percent", "⌃": "**"}.get(token["sign"], token["sign"])


def _value(node: ast.expr) -> Decimal:
    """Return a node's value; raise ValueError if no arithmetic, or ArithmeticError."""
    match node:
        case ast.Constant(str(number)):
            return Decimal(number)
        case ast.UnaryOp(ast.UAdd(), operand):
            return _value(operand)
        case ast.UnaryOp(ast.USub(), operand):
            return _EXACT.minus(_value(operand))
        case ast.Attribute(operand):
            return _EXACT.divide(_value(operand), Decimal(100))
        case ast.BinOp(left, ast.Pow(), right):
            exponent = _value(right)
            if exponent != int(exponent) or abs(exponent) > _LARGEST_EXPONENT:
                raise ValueError(exponent)
            return _EXACT.power(_value(left), int(exponent))
        case ast.BinOp(left, sign, right) if type(sign) in _OPERATIONS:
            return _OPERATIONS[type(sign)](_value(left), _value(right))
    raise ValueError(node)


def states_result(quote: str, expression: str) -> bool:
    """Return whether `quote` has a figure that is none of the expression's operands."""
    operands = {figure.value for figure in quantities(" ".join(re.split(r"[-+*/()×÷]", expression)))}
    return any(figure.value not in operands for figure in quantities(quote))


def agrees(quote: str, value: Decimal) -> bool:
    """Return whether `quote` has `value` at the precision shown (0.333 for a third).

    A rounded figure may say so ("about 36,000" for 36,412); a share may stand as a percentage.
    """
    for figure in quantities(quote):
        written = _WRITTEN.search(quote, figure.start, figure.end)
        digits = Decimal(written[0].replace(",", "")) if written else figure.value
        scale = abs(figure.value / digits) if digits else Decimal(1)
        step = scale.scaleb(-len(written["decimals"] or "")) if written else scale
        if figure.bound == "~" and figure.value:  # what one more in the last digit adds: 1,000 for 36,000
            step = max(step, Decimal(1).scaleb(int(figure.value.normalize().as_tuple().exponent)))
        for wanted in (value, value * 100) if figure.unit in ("%", "pp") else (value,):
            if abs(abs(figure.value) - abs(wanted)) * 2 <= step:
                return True
            if figure.bound in ("<", ">") and is_within(figure.bound, figure.value, wanted):
                return True
    return False
