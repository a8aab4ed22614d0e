"""Negation and direction: sentences of opposite meaning with the same words."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from claimcheck.alignment import tokens_of
from claimcheck.language import CJK, HAN, HANGUL, detect, is_cjk
from claimcheck.lexicon import any_of, any_word, compile_on_use, groups
from claimcheck.text.tokens import content_terms, normalise

_NEGATION = re.compile(any_word("negation.patterns"))
_DENIAL = re.compile(any_word("negation.denial_patterns"))
_BEHIND = compile_on_use(f"(?P<short>{any_word('negation.short_patterns')})|{any_word('negation.following_patterns')}")
"""Negations of Korean and Japanese: a short one stands before its word, the others behind it."""
_STEM_BEHIND = compile_on_use(
    rf"(?P<hangul>[{HANGUL}]+)\s*$|(?P<sign>[{HAN}\u3005]+|[\u30a1-\u30fc]+)[\u3041-\u309f]{{0,6}}$"
)
"""The end of a text that a negation follows: a Korean word, or the stem of a Japanese one with its endings."""
_MOST = 20
"""Negations looked at in one sentence; more is no sentence."""
_SHARED = 0.5
"""Share of a clause's terms that makes a clause of the evidence its counterpart."""
_NAME_WEIGHT = 3
_ELLIPTIC = re.compile(any_word("negation.elliptic_patterns"))
_CLAUSE = re.compile(rf"[,;:，；：、]\s*|{any_word('negation.clause_patterns')}")


def _any_of_side(listed: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern of the words of one side; Latin ones must stand alone."""
    words = [word for text in listed for word in text.split()]
    latin, other = [w for w in words if w.isascii()], [w for w in words if not w.isascii()]
    return compile_on_use(rf"\b(?<!non-){any_of(latin)}\b|{any_of(other)}")


_DIRECTIONS = [tuple(_any_of_side(side) for side in zip(*pairs, strict=True)) for pairs in groups("opposites").values()]
_ANY_DIRECTION = _any_of_side([side for pairs in groups("opposites").values() for pair in pairs for side in pair])


def conflict(claim: str, sentence: str) -> bool:
    """Return whether `sentence` contradicts `claim` where both have the same subject.

    Only signs are compared: a term negated in one and plain in the other, or opposite words of direction.
    """
    a, b = _signs_of(claim), _signs_of(sentence)
    agree = _agree_by_clause(a.text, b.text)
    for one, other in ((a, b), (b, a)):
        for terms in one.negated[:_MOST]:
            if not agree and terms and _has(other, terms[0]) and not other.hidden & set(terms):
                return True
        if other.has_denial and not one.negated:
            return True
    # A passage may negate something else beside; a claim that negates what the passage does not is its own.
    return agree is False or len(a.negated) > len(b.negated) or _has_opposite_direction(a.text, b.text)


def _agree_by_clause(claim: str, sentence: str) -> bool | None:
    """Tell whether claim clauses are negated like the most similar; None if unsure."""
    there: list[tuple[frozenset[str], bool, bool]] = []
    verb = frozenset[str]()
    for part in _clauses(sentence):
        own, goes_on = _told_by(part), _ELLIPTIC.match(part) is not None
        there.append((own | verb if goes_on else own, bool(negated(part)), not goes_on))
        verb = own
    if len({sign for _, sign, _ in there}) < 2:
        return None
    weigh = _weight_foreign if is_cjk(detect(claim)) else len
    for part in _clauses(claim):
        terms = _told_by(part)
        # What a clause takes over from the one before it is said first by that one.
        most = max((weigh(terms & own), is_whole) for own, _, is_whole in there)
        signs = {sign for own, sign, is_whole in there if (weigh(terms & own), is_whole) == most}
        if most[0] < 2 or len(signs) > 1:
            return None
        if signs != {bool(negated(part))}:
            return False
    return True


def _weight_foreign(terms: frozenset[str]) -> int:
    """Return the number of terms, a Latin one in a CJK text weighted as a whole name."""
    return sum(_NAME_WEIGHT if term.isascii() else 1 for term in terms)


def _told_by(text: str) -> frozenset[str]:
    return frozenset(token.key for token in tokens_of(text) if token.is_content)


class _Signs(NamedTuple):
    """A text in normal form with its negations; `hidden` are all negated terms."""

    text: str
    negated: list[list[str]]
    hidden: frozenset[str]
    terms: frozenset[str]
    has_denial: bool


def _has(signs: _Signs, term: str) -> bool:
    """Tell whether a text has a term; a lone character is found anywhere in the text."""
    return term in signs.terms or (len(term) == 1 and term in signs.text)


@lru_cache(maxsize=4096)
def _signs_of(text: str) -> _Signs:
    """Return the negation signs of a text, cached for passages cited repeatedly."""
    plain = normalise(text)
    found = negated(plain)
    hidden = frozenset(term for scope in found for term in scope)
    return _Signs(plain, found, hidden, frozenset(content_terms(plain)), _DENIAL.search(plain) is not None)


def denied_elsewhere(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether each clause of `claim` agrees in sign with some other sentence."""
    there = [(part, set(content_terms(part)), n) for n, s in enumerate(sentences) for part in _clauses(normalise(s))]
    used: set[int] = set()
    parts = _clauses(normalise(claim))
    for part in parts if there else []:
        terms, signs = set(content_terms(part)), len(negated(part))
        most, alike, nearest, sentence = max(
            (len(terms & own), len(negated(other)) == signs, other, n) for other, own, n in there
        )
        if most < 2 or most < len(terms) * _SHARED or not alike:
            return False
        if _DENIAL.search(nearest) or _has_opposite_direction(part, nearest):
            return False
        used.add(sentence)
    return len(used) > 1


def _clauses(text: str) -> list[str]:
    """Return the clauses of a sentence; one of under two terms joins the one before."""
    found: list[str] = []
    for part in _CLAUSE.split(text):
        if found and len(content_terms(part)) < 2:
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
    return [part for part in found if len(content_terms(part)) > 1]


def _has_opposite_direction(claim: str, sentence: str) -> bool:
    """Tell whether a claim clause and its closest counterpart oppose in direction."""
    if not _ANY_DIRECTION.search(sentence):
        return False
    clauses = [(part, set(content_terms(part))) for part in _CLAUSE.split(sentence)]
    for part in _CLAUSE.split(claim):
        terms = set(content_terms(part))
        if not _ANY_DIRECTION.search(part) or negated(part):
            continue
        nearest, shared = max(clauses, key=lambda c: len(c[1] & terms))
        if len(shared & terms) < 2 or negated(nearest):
            continue
        for up, down in _DIRECTIONS:
            for side, opposite in ((up, down), (down, up)):
                said, against = side.search(part), opposite.search(nearest)
                if not said or not against or side.search(nearest) or opposite.search(part):
                    continue
                before = set(content_terms(part[: said.start()]))
                # "A is slower than B" says what "B is faster than A" says.
                if not before or not before <= set(content_terms(nearest[against.end() :])):
                    return True
    return False


def negated(text: str) -> list[list[str]]:
    """Return for each negation in `text` its content terms, nearest first."""
    found = []
    for match in _NEGATION.finditer(text):
        scope = re.split(r"[.,;:!?，。；：！？、]", text[match.end() : match.end() + 60], maxsplit=1)[0]
        cjk = re.match(rf"\s*[{CJK}]", scope)
        found.append(content_terms(scope[:3] if cjk else scope)[: 2 if not cjk else 1])
    for match in _BEHIND.finditer(text):
        if match["short"]:
            found.append(content_terms(text[match.end() : match.end() + 3])[:1])
        else:
            word = _STEM_BEHIND.search(text, match.start() - 12, match.start())
            found.append(content_terms(word["hangul"][:2] if word["hangul"] else word["sign"][-2:]) if word else [])
    return found
