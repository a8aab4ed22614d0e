"""Arithmetic over cited figures: check that each operand stands in its passage, evaluate, round, and show the working.

A writer proposes an expression over named figures; it never writes a result. The expression is a small language read
with `ast`: numbers, names of operands, `+ - * / **`, parentheses, and the functions of `FUNCTIONS`. Values are exact
fractions until they are rounded; only roots go through 50 digits of `decimal`.
"""

import ast
import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

from deep_research.claimcheck.numbers import same
from deep_research.data import Computation, Operand
from deep_research.text.quantities import quantities
from deep_research.text.units import BASES, CALENDAR, Quantity, date_parts

_MAX_EXPRESSION, _MAX_NODES, _MAX_POWER, _MAX_DIGITS, _MAX_UNIT = 300, 80, 64, 30, 24
_DIGITS = 50
QUESTION = "question"
"""What an operand names in place of a passage where its figure is the reader's own, of the question."""
ASSUMED = "assumed"
"""What an operand names in place of a passage where its figure is an assumption, which is told with the result."""
_CONSTANTS = frozenset({24, 30, 60, 100, 365, 1000, 1024, 1440, 3600, 86_400, 1_000_000, 1_000_000_000})
"""Numbers that may stand in an expression without a source: percent, scales, the calendar."""
_MOST_COUNTED = 12
"""Up to here a whole number is a count or a factor that the reader sees in the working."""


class ComputationError(ValueError):
    """A computation that cannot be shown; `code` names the phrase that says why, `values` fill it."""

    def __init__(self, code: str, **values: str) -> None:
        super().__init__(code, values)
        self.code, self.values = code, values


class Result(NamedTuple):
    """A computation carried out: the rounded `value` with its unit, its `working` ("1.2 ÷ 1.1"), and the passages of
    its operands in the order of their first use; `is_own` where a figure of the question or an assumption is among them,
    and the values that are `assumed`."""

    value: str
    working: str
    passages: tuple[str, ...]
    is_own: bool = False
    assumed: tuple[str, ...] = ()


_BASES = BASES | {"day": ("s", Decimal(86_400)), "week": ("s", Decimal(604_800))}
"""Units as multiples of one base; days count as hours do where an expression converts them."""


class _Number(NamedTuple):
    value: Fraction
    unit: str = ""
    free: bool = False
    """Whether it comes from the expression itself, and so takes the unit of what it is added to."""
    factor: Fraction = Fraction(1)
    """What the expression itself has multiplied it by: 3 TB × 1000 may be added to GB."""


def carry_out(computation: Computation, text_of: Callable[[str], str | None]) -> Result:
    """Return the result of a computation whose operands stand in the passages they name.

    `text_of` returns the text of a passage by its id, of the question for `QUESTION`, None for an unknown one. Raises
    ComputationError.
    """
    tree = _parsed(computation.expression)
    operands = {operand.name: operand for operand in computation.operands}
    used = list(dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in operands))
    if not used:
        raise ComputationError("computation_without_figures", expression=computation.expression[:80])
    known = {name: _figure(operands[name], text_of) for name in used}
    number = _evaluated(tree.body, known, len(used))
    return Result(
        _written(number.value, computation),
        _working(computation.expression, operands),
        tuple(dict.fromkeys(key for name in used if (key := operands[name].passage) not in (QUESTION, ASSUMED))),
        any(operands[name].passage in (QUESTION, ASSUMED) for name in used),
        tuple(operands[name].value.strip() for name in used if operands[name].passage == ASSUMED),
    )


def _parsed(expression: str) -> ast.Expression:
    text = expression.strip().replace("×", "*").replace("÷", "/").replace("−", "-").replace("^", "**")
    if len(text) > _MAX_EXPRESSION:
        raise ComputationError("computation_unreadable", expression=expression[:80])
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ComputationError("computation_unreadable", expression=expression[:80]) from None
    if sum(1 for _ in ast.walk(tree)) > _MAX_NODES:
        raise ComputationError("computation_unreadable", expression=expression[:80])
    return tree


def _figure(operand: Operand, text_of: Callable[[str], str | None]) -> _Number | datetime.date:
    """Return an operand's value. Raises ComputationError where it is no single figure, or not in its passage."""
    found = quantities(operand.value)
    text = operand.value if operand.passage == ASSUMED else text_of(operand.passage)
    if text is None or len(found) != 1:
        raise ComputationError("figure_not_in_passage", figure=operand.value[:40], passage=operand.passage)
    (figure,) = found
    there = quantities(text)
    if not any(same(figure._replace(bound=other.bound), other, text) for other in there):
        # A writer may leave the unit out; then it is the passage's.
        written = not figure.unit and re.search(r"\d", operand.value)
        bare = [other for other in there if written and other.value == figure.value]
        if not bare:
            raise ComputationError("figure_not_in_passage", figure=operand.value[:40], passage=operand.passage)
        figure = figure._replace(unit=bare[0].unit)
    if figure.unit == "clock":
        raise ComputationError("computation_units", units=operand.value[:40])  # 12:30 is no 1,230
    if figure.unit in CALENDAR and figure.unit != "year":
        return _date(figure, operand.value)
    return _Number(Fraction(figure.value), figure.unit)


def _date(figure: Quantity, written: str) -> datetime.date:
    """Return a date, of a month its first day. Raises ComputationError for one without a year, or that no calendar has."""
    year, month, day = date_parts(figure)
    try:
        return datetime.date(year, month, day or 1)
    except ValueError:
        raise ComputationError("computation_unreadable", expression=written[:80]) from None


def _evaluated(node: ast.expr, known: Mapping[str, "_Number | datetime.date"], count: int) -> _Number:
    value = _value(node, known, count)
    if isinstance(value, datetime.date):
        raise ComputationError("computation_units", units="date")
    return value


def _value(node: ast.expr, known: Mapping[str, "_Number | datetime.date"], count: int) -> "_Number | datetime.date":
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _constant(value, count)
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
            number = _evaluated(inner, known, count)
            return number._replace(value=-number.value) if isinstance(sign, ast.USub) else number
        case ast.BinOp(left=left, op=operation, right=right):
            return _combined(operation, _evaluated(left, known, count), _evaluated(right, known, count))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS and arguments:
            return FUNCTIONS[name]([_value(argument, known, count) for argument in arguments])
        case _:
            raise ComputationError("computation_unreadable", expression=ast.unparse(node)[:80])


def _constant(value: float, count: int) -> _Number:
    """A number of the expression itself: only one that needs no source."""
    exact = Fraction(str(value))
    is_count = exact.denominator == 1 and 0 <= exact <= _MOST_COUNTED
    if (
        exact not in _CONSTANTS
        and not is_count
        and exact != count
        and (exact.numerator != 1 or exact.denominator > _MAX_POWER)
    ):
        raise ComputationError("figure_without_source", figure=str(value)[:40])
    return _Number(exact, free=True)


def _combined(operation: ast.operator, a: _Number, b: _Number) -> _Number:
    match operation:
        case ast.Add() | ast.Sub():
            return _sum(a, b if isinstance(operation, ast.Add) else b._replace(value=-b.value))
        case ast.Mult():
            return _product(a, b)
        case ast.Div():
            if b.value == 0:
                raise ComputationError("computation_by_zero")
            is_share = a.unit == "%" and b.free and b.value == 100  # 3 % ÷ 100 is a number
            factor = a.factor / b.value if b.free else Fraction(1)
            return _Number(a.value / b.value, "" if b.unit or is_share else a.unit, a.free and b.free, factor)
        case ast.Pow():
            return _power(a, b)
        case _:
            raise ComputationError("computation_unreadable", expression=type(operation).__name__)


def _product(a: _Number, b: _Number) -> _Number:
    """Multiply two numbers. A share keeps the unit of what it is of: 6 TB × 80 % is 100 times so many TB, until it is divided."""
    if a.free or b.free:
        factor = a.factor * b.value if b.free else b.factor * a.value
        return _Number(a.value * b.value, a.unit or b.unit, a.free and b.free, factor)
    if "%" in (a.unit, b.unit) and a.unit != b.unit:
        share, whole = (a, b) if a.unit == "%" else (b, a)
        return _Number(a.value * b.value, whole.unit, factor=whole.factor * share.factor * 100)
    return _Number(a.value * b.value, "" if a.unit and b.unit else a.unit or b.unit)


def _sum(a: _Number, b: _Number) -> _Number:
    """Add two numbers of one unit, or of two of one kind (TB, GB) where the expression has converted one by its own factor."""
    if a.free or b.free:
        return _Number(a.value + b.value, a.unit or b.unit, a.free and b.free)
    if a.unit != b.unit and a.factor / b.factor not in _ratios(a.unit, b.unit):
        raise ComputationError("computation_units", units=f"{a.unit or '1'} + {b.unit or '1'}")
    whole = a if a.factor == 1 else b
    return whole._replace(value=a.value + b.value)


def _ratios(unit: str, other: str) -> set[Fraction]:
    """Return how many of another unit of its kind a unit may be taken for: a GB for 1,000 or 1,024 MB."""
    (base, size), (other_base, other_size) = (_BASES.get(name, (name, Decimal(1))) for name in (unit, other))
    if base != other_base:
        return set()
    ratio = Fraction(size) / Fraction(other_size)
    steps = next((n for n in range(-4, 5) if base == "MB" and ratio == Fraction(1000) ** n), 0)
    return {ratio, Fraction(1024) ** steps} if steps else {ratio}


def _power(a: _Number, b: _Number) -> _Number:
    if _size(a.value) * abs(b.value) > _MAX_DIGITS * _MAX_POWER:
        raise ComputationError("computation_unreadable", expression=f"** {b.value}")
    if a.value == 0 and b.value < 0:
        raise ComputationError("computation_by_zero")
    if b.value.denominator == 1:
        return _Number(a.value ** int(b.value))
    if a.value < 0:
        raise ComputationError("computation_unreadable", expression="root of a negative number")
    with localcontext() as context:
        context.prec = _DIGITS
        base = Decimal(a.value.numerator) / Decimal(a.value.denominator)
        exponent = Decimal(b.value.numerator) / Decimal(b.value.denominator)
        return _Number(Fraction(base**exponent))


def _size(value: Fraction) -> int:
    return max(len(str(abs(value.numerator))), len(str(value.denominator)))


def _numbers(arguments: Sequence["_Number | datetime.date"]) -> list[_Number]:
    found = [a for a in arguments if isinstance(a, _Number)]
    if len(found) != len(arguments):
        raise ComputationError("computation_units", units="date")
    units = {a.unit for a in found if not a.free}
    if len(units) > 1:
        raise ComputationError("computation_units", units=", ".join(sorted(u or "1" for u in units)))
    return found


def _total(arguments: Sequence["_Number | datetime.date"]) -> _Number:
    numbers = _numbers(arguments)
    return _Number(sum((n.value for n in numbers), Fraction(0)), numbers[0].unit)


def _mean(arguments: Sequence["_Number | datetime.date"]) -> _Number:
    total = _total(arguments)
    return total._replace(value=total.value / len(arguments))


def _geometric_mean(arguments: Sequence["_Number | datetime.date"]) -> _Number:
    numbers = _numbers(arguments)
    product = _Number(math.prod((n.value for n in numbers), start=Fraction(1)))
    return _power(product, _Number(Fraction(1, len(numbers))))._replace(unit=numbers[0].unit)


def _change(arguments: Sequence["_Number | datetime.date"]) -> _Number:
    before, after = _two(_numbers(arguments))
    if before.value == 0:
        raise ComputationError("computation_by_zero")
    return _Number((after.value - before.value) / before.value * 100, "%")


def _two(arguments: Sequence[_Number]) -> tuple[_Number, _Number]:
    if len(arguments) != 2:
        raise ComputationError("computation_unreadable", expression="two figures are wanted")
    return arguments[0], arguments[1]


def _days(arguments: Sequence["_Number | datetime.date"]) -> _Number:
    dates = [a for a in arguments if isinstance(a, datetime.date)]
    if len(dates) != 2 or len(arguments) != 2:
        raise ComputationError("computation_units", units="date")
    return _Number(Fraction((dates[1] - dates[0]).days), "day")


def _years(arguments: Sequence["_Number | datetime.date"]) -> _Number:
    if [a for a in arguments if isinstance(a, datetime.date)]:
        return _Number(_days(arguments).value / Fraction("365.2425"), "years")
    first, last = _two(_numbers(arguments))
    return _Number(last.value - first.value, "years")


def _root(arguments: Sequence["_Number | datetime.date"]) -> _Number:
    (number, *rest) = _numbers(arguments)
    if rest:
        raise ComputationError("computation_unreadable", expression="sqrt")
    return _power(number, _Number(Fraction(1, 2)))


FUNCTIONS: dict[str, Callable[[Sequence["_Number | datetime.date"]], _Number]] = {
    "sum": _total,
    "mean": _mean,
    "geomean": _geometric_mean,
    "min": lambda a: min(_numbers(a), key=lambda n: n.value),
    "max": lambda a: max(_numbers(a), key=lambda n: n.value),
    "abs": lambda a: _numbers(a)[0]._replace(value=abs(_numbers(a)[0].value)),
    "sqrt": _root,
    "change": _change,
    "days": _days,
    "years": _years,
}
"""What an expression may call; `change(a, b)` is the change from a to b in percent, `years(a, b)` the time between."""


def _written(value: Fraction, computation: Computation) -> str:
    """Round half up, group the thousands, and put the unit behind."""
    decimals = min(max(computation.decimals, 0), 10)
    if _size(value) > 400:
        raise ComputationError("computation_unreadable", expression=computation.expression[:80])
    with localcontext() as context:
        context.prec = 600
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        rounded = exact.quantize(Decimal(f"1e-{decimals}"), rounding=ROUND_HALF_UP)
    if value and not rounded:
        raise ComputationError("computation_rounds_away", expression=computation.expression[:80])
    unit = " ".join(computation.unit.split())
    if len(unit) > _MAX_UNIT or re.search(r"\d", unit):
        raise ComputationError("computation_units", units=unit[:40])
    # A sign, and a unit of a script without spaces, stands right behind its number.
    space = "" if not unit or not unit[0].isascii() or unit[0] in "%°" else " "
    return f"{rounded:,}{space}{unit}"


_HUNDRED = r"100(?![\d.,]|\s?[^\W\d_])"
"""A hundred of the expression itself, not of "100 Mbit/s"."""


def _working(expression: str, operands: Mapping[str, Operand]) -> str:
    """Return the expression with the figures in place of their names."""
    names = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
    spaced = re.sub(r"(?<=[\w)])\s*-\s*(?=[\w(])", " - ", expression.strip())  # before the hyphens of dates come in
    signs = re.sub(r"\s*\^\s*", "^", spaced.replace("**", "^").replace("*", "×").replace("/", "÷"))
    text = names.sub(lambda m: operands[m[0]].value.strip() if m[0] in operands else m[0], signs)
    text = re.sub(rf"(%)\s*÷\s*{_HUNDRED}", r"\1", text)  # 800 × 3 %
    text = re.sub(r"(?<![\d.,])100 - (?=[\d.,]+ ?%)", "100 % - ", text).replace("sqrt(", "√(")
    text = re.sub(rf"(\(100 % - [\d.,]+ ?%\))\s*÷\s*{_HUNDRED}", r"\1", text)  # (100 % - 3 %) is 0.97
    if re.search(rf"÷\s*{_HUNDRED}", text):  # √(800 × 15 % × 85 %) ÷ 100 would divide twice
        text = re.sub(r"(?<=\d) ?%", "", text)
    return re.sub(r"(?<=\S)\s*([×÷+])\s*(?=\S)", r" \1 ", text)
