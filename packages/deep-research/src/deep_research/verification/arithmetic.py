"""Arithmetic that a verifier writes down: evaluated here, exactly and within bounds, and held against what a text says."""

import re
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow

from claimcheck.lexicon import any_of
from claimcheck.text.measures import SCALES
from claimcheck.text.quantities import quantities
from claimcheck.text.tokens import FULL_WIDTH

LONGEST = 500
"""Characters of an expression."""
_DEEPEST = 30
_LARGEST_EXPONENT = 20
_EXACT = Context(
    prec=50, Emax=200, Emin=-200, rounding=ROUND_HALF_EVEN, traps=[DivisionByZero, InvalidOperation, Overflow]
)
_SIGNS = FULL_WIDTH | str.maketrans({"×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "^": "⌃"})
_TOKEN = re.compile(
    rf"\s*(?:[$€£¥₩]\s*)?(?:(?P<number>\d{{1,3}}(?:[,_]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:\s?(?P<scale>{any_of(SCALES)})(?![a-z]))?"
    r"|(?P<sign>\*\*|[-+*/()%⌃]))\s*",
    re.IGNORECASE,
)
_WRITTEN = re.compile(r"\d[\d,]*(?:\.(?P<decimals>\d+))?")
_REACH = Decimal("1.5")
"""Up to which multiple "more than 1,000" is a fair account of a value."""


class _Malformed(Exception):
    """What was given is no arithmetic that is evaluated here."""


def evaluate(expression: str) -> Decimal | None:
    """Return the value of numbers, `+ - * / ** %` and parentheses; None for all else, and what grows out of bounds.

    `5%` is 0.05; thousands may be parted by commas, and scales written behind a number (3 million, 20万).
    """
    if len(expression) > LONGEST:
        return None
    try:
        reader = _Reader(list(_tokens(expression.translate(_SIGNS))))
        value = reader.sum(0)
        return value if reader.is_at_end else None
    except (_Malformed, DivisionByZero, InvalidOperation, Overflow):
        return None


def _tokens(expression: str) -> Iterator[Decimal | str]:
    position = 0
    while position < len(expression):
        token = _TOKEN.match(expression, position)
        if token is None or token.end() == position:
            raise _Malformed(expression)
        position = token.end()
        if token["sign"]:
            yield "**" if token["sign"] == "⌃" else token["sign"]
        else:
            scale = SCALES[(token["scale"] or "").lower()] if token["scale"] else Decimal(1)
            yield _EXACT.multiply(Decimal(re.sub("[,_]", "", token["number"])), scale)


class _Reader:
    """Reads tokens by precedence: sums of products of powers."""

    def __init__(self, tokens: list[Decimal | str]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        """Whether all tokens were read."""
        return self._at == len(self._tokens)

    def _next(self, *signs: str) -> str:
        """Return the next token where it is one of these signs, and go on; else ""."""
        token = self._tokens[self._at] if not self.is_at_end else None
        if not isinstance(token, str) or token not in signs:
            return ""
        self._at += 1
        return token

    def sum(self, depth: int) -> Decimal:
        """Return the value of a sum that begins here."""
        if depth > _DEEPEST:
            raise _Malformed
        value = self._product(depth)
        while sign := self._next("+", "-"):
            other = self._product(depth)
            value = _EXACT.add(value, other) if sign == "+" else _EXACT.subtract(value, other)
        return value

    def _product(self, depth: int) -> Decimal:
        value = self._power(depth)
        while sign := self._next("*", "/"):
            other = self._power(depth)
            value = _EXACT.multiply(value, other) if sign == "*" else _EXACT.divide(value, other)
        return value

    def _power(self, depth: int) -> Decimal:
        if depth > _DEEPEST:
            raise _Malformed
        if sign := self._next("-", "+"):
            value = self._power(depth + 1)
            return -value if sign == "-" else value
        value = self._atom(depth)
        if self._next("**"):
            exponent = self._power(depth + 1)
            if exponent != int(exponent) or abs(exponent) > _LARGEST_EXPONENT:
                raise _Malformed
            value = _EXACT.power(value, int(exponent))
        return value

    def _atom(self, depth: int) -> Decimal:
        if self._next("("):
            value = self.sum(depth + 1)
            if not self._next(")"):
                raise _Malformed
        elif self.is_at_end or isinstance(token := self._tokens[self._at], str):
            raise _Malformed
        else:
            value = token
            self._at += 1
        while self._next("%"):
            value = _EXACT.divide(value, Decimal(100))
        return value


def agrees(quote: str, value: Decimal) -> bool:
    """Return whether a figure in `quote` is `value`, at the precision that the quote shows (0.333 is a third).

    A rounded figure may say so ("about 36,000" for 36,412); a share may stand as a percentage.
    """
    for figure in quantities(quote):
        written = _WRITTEN.search(quote, figure.start, figure.end)
        digits = Decimal(written[0].replace(",", "")) if written else figure.value
        scale = abs(figure.value / digits) if digits else Decimal(1)
        step = scale.scaleb(-len(written["decimals"] or "")) if written else scale
        if figure.bound == "~":
            step = max(step, _last_digit(figure.value))
        for wanted in (value, value * 100) if figure.unit in ("%", "pp") else (value,):
            if abs(abs(figure.value) - abs(wanted)) * 2 <= step:
                return True
            if figure.bound == ">" and figure.value <= wanted <= figure.value * _REACH:
                return True
            if figure.bound == "<" and figure.value / _REACH <= wanted <= figure.value:
                return True
    return False


def _last_digit(value: Decimal) -> Decimal:
    """Return what one more in the last digit that is no zero would add: 1,000 for 36,000."""
    return Decimal(1).scaleb(int(value.normalize().as_tuple().exponent)) if value else Decimal(1)
