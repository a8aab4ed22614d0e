"""Near misses: sentences that say the claim of another subject or value."""

import re
from collections.abc import Sequence

from claimcheck.lexicon import any_word
from claimcheck.numbers import same
from claimcheck.support import Match
from claimcheck.text.measures import Quantity, in_base
from claimcheck.text.names import Name, amounts, is_ordinary, name_index, names
from claimcheck.text.quantities import quantities
from claimcheck.text.tokens import content_terms, normalise

SAME_STATEMENT = 0.75
"""Share of a claim's terms, its differing value left out, that makes a sentence the same statement."""
_HALF = 0.5
_SUBJECT = re.compile(r"[\s*_“\"]*(?:The |A |An )?([A-Z][a-zA-Z-]{2,})\b")
_PART = re.compile(any_word("statement.part_patterns"), re.IGNORECASE)
RESPECTIVELY = re.compile(any_word("statement.respectively_patterns"), re.IGNORECASE)
ENDINGS = re.compile(r"(?:ly|ing|ed|(?<![sui])s)$", re.IGNORECASE)
"""Endings of words that are seldom names."""


def without(claim: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return `claim` without the given stretches."""
    for start, end in sorted(spans, reverse=True):
        claim = f"{claim[:start]} {claim[end:]}"
    return claim


def same_statement(claim: str, differing: Sequence[tuple[int, int]], lines: Sequence[str]) -> str:
    """Return the line equal to `claim` apart from the differing spans, or ""."""
    rest = without(claim, differing)
    if len(content_terms(rest)) < 2 or not lines:
        return ""
    match = Match(rest, lines)
    best = max(range(len(lines)), key=lambda i: match.coverage((i,)))
    return lines[best] if match.coverage((best,)) >= SAME_STATEMENT else ""


def has_other_value(rival: str, claim: str, missing: Sequence[Quantity]) -> bool:
    """Return whether `rival` has another value of a missing one's dimension, or unit."""
    own = quantities(claim)
    others = [q for q in quantities(rival) if not any(same(mine, q, rival) for mine in own)]
    return any(in_base(o)[1] == in_base(q)[1] or o.value == q.value for o in others for q in missing)


def has_other_name(rival: str, claim: str, missing: Sequence[Name]) -> bool:
    """Return whether `rival` has a name not in `claim`, of a missing name's kind."""
    own = normalise(claim)
    others = [n for n in names(rival) if normalise(n.text) not in own]
    return any(other.strict == name.strict for other in others for name in missing)


def misattributed(claim: str, lines: Sequence[str]) -> tuple[str, str, str] | None:
    """Return a value of `claim` that the evidence states of something else, or None.

    The result is the value, the line with it, and the claim's name for its subject ("" if unknown): beside that name,
    in a sentence that shares half of the claim's terms, stands another value of the same unit.
    """
    wanted = amounts(claim)
    if not wanted:
        return None
    found = [(line, name_index(line), amounts(line)) for line in lines]
    match = Match(without(claim, [(q.start, q.end) for q in wanted]), lines)
    for quantity in wanted:
        written = claim[quantity.start : quantity.end].strip()
        holds = [any(same(quantity, q, line) for q in there) for line, _index, there in found]
        with_value = [index for (_line, index, _there), holding in zip(found, holds, strict=True) if holding]
        if not with_value:
            continue
        rivals = [n for n, row in enumerate(found) if any(in_base(q)[1] == in_base(quantity)[1] for q in row[2])]
        if not any(holding and match.coverage((number,)) >= _HALF for number, holding in enumerate(holds)):
            # It stands in unlike sentences only, and one makes the claim's statement with another value.
            others = (n for n in rivals if not holds[n] and match.coverage((n,)) >= SAME_STATEMENT)
            if (other := next(others, None)) is not None:
                return written, found[other][0], ""
        for name in _beside(quantity, wanted, claim):
            if any(index.has(name) for index in with_value):
                continue
            for number in rivals:
                if found[number][1].has(name) and match.coverage((number,)) >= _HALF:
                    return written, found[number][0], name.text
    return None


def _beside(quantity: Quantity, wanted: Sequence[Quantity], claim: str) -> Sequence[Name]:
    """Return the names of the part of `claim` that a value stands in, or all."""
    if RESPECTIVELY.search(claim):
        return []  # which of them it is cannot be told by place
    found = names(claim)
    borders = [m.start() for m in _PART.finditer(claim)]
    start = max((b for b in borders if any(q.end <= b for q in wanted) and b <= quantity.start), default=0)
    end = min((b for b in borders if any(q.start >= b for q in wanted) and b > quantity.start), default=len(claim))
    return [n for n in found if start <= n.start < end] or found


def unknown_subject(claim: str, lines: Sequence[str], about: str) -> str:
    """Return a first word of `claim` if the evidence says only the rest of it, or ""."""
    subject = _SUBJECT.match(claim)
    if subject is None or is_ordinary(subject[1]) or ENDINGS.search(subject[1]):
        return ""
    if any(name.strict and name.start == subject.start(1) for name in names(claim)):
        return ""  # a code is a name wherever it stands, and was compared as one
    word = Name(subject[1], subject.start(1), subject.end(1), strict=False)
    there = "\n".join([about, *lines])
    if name_index(there).has(word) or set(content_terms(subject[1])) <= set(content_terms(there)):
        return ""
    return subject[1] if same_statement(claim, [(word.start, word.end)], lines) else ""
