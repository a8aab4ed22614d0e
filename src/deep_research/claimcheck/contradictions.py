"""Whether two sentences of different sources contradict each other: another value, or the opposite, of the same thing.

Precision before recall: the sentences must say the same but for that, name the same things, and speak of the
world, not of their own study, sample or table, whose figures may well differ from those of another.
"""

import re
from collections.abc import Sequence

from deep_research.claimcheck.near_misses import amounts, labels, without
from deep_research.claimcheck.negation import conflict
from deep_research.claimcheck.numbers import same
from deep_research.claimcheck.support import Match
from deep_research.i18n.lexicon import any_word
from deep_research.text.names import names, names_occur
from deep_research.text.quantities import quantities
from deep_research.text.tokens import content_terms, normalise
from deep_research.text.units import Quantity, unit_base

_SAME = 0.85
"""Share of the terms of each, its differing value left out, that the other must have."""
_OWN = re.compile(any_word("statement.own_patterns"), re.IGNORECASE)
_LOOSE = re.compile(any_word("statement.loose_patterns"), re.IGNORECASE)


def contradict(one: str, other: str, about: str = "") -> bool:
    """Return whether two sentences cannot both be true; `about` is what both are known to be about, if anything."""
    if _OWN.search(one) or _OWN.search(other):
        return False
    if names_occur(one, other).missing or names_occur(other, one).missing:
        return False
    if not (names(one) or names(other) or _is_about(one, other, about)):
        return False
    mine, theirs = _differing(one, other), _differing(other, one)
    if mine or theirs:
        return _is_another_value(one, other, mine, theirs)
    return bool(conflict(one, other)) and _say_the_same(one, other, [], [])


def _is_about(one: str, other: str, about: str) -> bool:
    terms = set(content_terms(about))
    return bool(terms) and terms <= set(content_terms(one)) & set(content_terms(other))


def _differing(one: str, other: str) -> list[Quantity]:
    """The quantities of a sentence that the other has not."""
    there = quantities(other)
    return [q for q in amounts(one) if not any(same(q, found, other) for found in there)]


def _is_another_value(one: str, other: str, mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    """Whether the sentences differ in one plain value of the same kind, and in nothing else."""
    if len(mine) != 1 or len(theirs) != 1 or _LOOSE.search(one) or _LOOSE.search(other):
        return False
    if mine[0] in labels(one) or _kind(one, mine[0]) != _kind(other, theirs[0]) or conflict(one, other):
        return False
    return _say_the_same(one, other, mine, theirs)


def _kind(text: str, value: Quantity) -> str:
    """What is counted: the unit, or the word after a plain number."""
    follows = re.match(r"\s*([^\W\d]+)", text[value.end :])
    return unit_base(value.unit) if value.unit else f"of {normalise(follows[1]) if follows else text}"


def _say_the_same(one: str, other: str, mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    first = without(one, [(q.start, q.end) for q in mine])
    second = without(other, [(q.start, q.end) for q in theirs])
    return Match(first, [second]).coverage((0,)) >= _SAME and Match(second, [first]).coverage((0,)) >= _SAME
