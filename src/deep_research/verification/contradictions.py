"""Whether two sentences of different sources contradict each other: another value, or the opposite, of the same thing.

Precision before recall: the sentences must say the same but for that, name the same things, and speak of the
world, not of their own study, sample or table, whose figures may well differ from those of another.
"""

import re
from collections.abc import Sequence

from deep_research.i18n.language import detect
from deep_research.text.tokens import content_terms, normalise
from deep_research.verification.names import names, names_occur
from deep_research.verification.near_misses import amounts, labels, without
from deep_research.verification.negation import conflict
from deep_research.verification.numbers import quantities, same, unit_base
from deep_research.verification.support import Match
from deep_research.verification.units import Quantity

_SAME = 0.85
"""Share of the terms of each, its differing value left out, that the other must have."""
_LEAST_TERMS = 3
_OWN = re.compile(
    r"\b(?:we|our|ours|us|this|these|here|study|studies|trials?|cohorts?|patients?|participants?|subjects|samples?|survey"
    r"|respondents|experiments?|tables?|figures?|sections?|chapters?|examples?|cases?|default|e\.g|for instance)\b"
    r"|我们|本文|本研究|患者|受试者|样本|实验|试验|示例|例如|默认|우리|본 연구|이 연구|환자|참가자|표본|실험|시험|예를 들|기본값",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"\b(?:about|around|approximately|roughly|nearly|almost|some|up to|at least|at most|more than|less than|over|under"
    r"|between|ranges?|from|typically|usually|often|can|could|may|might|would|if|when|estimated|expected|projected)\b"
    r"|[~≈<>≤≥]|\d\s?[–-]\s?\d|大约|约|左右|超过|不到|至少|最多|可能|通常|预计|如果|약|정도|이상|이하|최대|최소|아마|보통|예상|경우",
    re.IGNORECASE,
)


def contradict(one: str, other: str, about: str = "") -> bool:
    """Return whether two sentences cannot both be true; `about` is what both are known to be about, if anything."""
    if _OWN.search(one) or _OWN.search(other) or detect(one) != detect(other):
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
    return [q for q in quantities(one) if not any(same(q, found, other) for found in there)]


def _is_another_value(one: str, other: str, mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    """Whether the sentences differ in one plain value of the same kind, and in nothing else."""
    if len(mine) != 1 or len(theirs) != 1 or _LOOSE.search(one) or _LOOSE.search(other):
        return False
    if mine[0] not in amounts(one) or mine[0] in labels(one) or theirs[0] not in amounts(other):
        return False
    if _kind(one, mine[0]) != _kind(other, theirs[0]) or conflict(one, other):
        return False
    return _say_the_same(one, other, mine, theirs)


def _kind(text: str, value: Quantity) -> str:
    """What is counted: the unit, or the word after a plain number."""
    follows = re.match(r"\s*([^\W\d]+)", text[value.end :])
    return unit_base(value.unit) if value.unit else f"of {normalise(follows[1]) if follows else text}"


def _say_the_same(one: str, other: str, mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> bool:
    first = without(one, [(q.start, q.end) for q in mine])
    second = without(other, [(q.start, q.end) for q in theirs])
    if min(len(set(content_terms(first))), len(set(content_terms(second)))) < _LEAST_TERMS:
        return False
    return Match(first, [second]).coverage((0,)) >= _SAME and Match(second, [first]).coverage((0,)) >= _SAME
