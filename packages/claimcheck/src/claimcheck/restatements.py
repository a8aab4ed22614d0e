"""Whether a Chinese, Japanese or Korean line says in other words or order what a claim says.

Pairs of characters, by which support is measured, break wherever the order of words does. Here single signs are
compared: almost all of a claim must stand in one line, what does not must be ordinary words, and nothing may differ
in number, name, sign, direction or order of names.
"""

from collections.abc import Sequence

from claimcheck.alignment import Token, tokens_of
from claimcheck.alterations import contrasts, covered, is_limited, name_tokens
from claimcheck.language import detect, is_cjk
from claimcheck.negation import conflict
from claimcheck.numbers import missing_numbers
from claimcheck.text.names import missing_names

_MOST = 0.75
"""Share of a claim's signs that must stand in the line."""
_LEAST = 5
"""Signs of a claim below which there is too little to compare."""


def is_restated(claim: str, lines: Sequence[str], about: str = "") -> bool:
    """Return whether one of `lines` says what `claim` says; `about` (titles, headings) may give what it is about."""
    language = detect(claim)
    if not is_cjk(language):
        return False
    wanted = [t for t in tokens_of(claim) if t.is_content]
    return len(wanted) >= _LEAST and any(_says(claim, wanted, line, about, language) for line in lines)


def _says(claim: str, wanted: Sequence[Token], line: str, about: str, language: str) -> bool:
    there = f"{line}\n{about}"
    missing = [t for t in wanted if t.key[:2] not in there]
    if len(missing) > (1 - _MOST) * len(wanted) or {t.start for t in missing} - covered(claim):
        return False
    if missing_numbers(claim, there) or missing_names(claim, there) or conflict(claim, line):
        return False
    if is_limited(line, language) and not is_limited(claim, language):
        return False
    # What may be names, and numbers, follow each other in the line as in the claim.
    found = [line.find(claim[t.start : t.end]) for t in name_tokens(claim)]
    places = [place for place in found if place >= 0]
    return not _differs_in_direction(claim, line, language) and places == sorted(places)


def _differs_in_direction(claim: str, line: str, language: str) -> bool:
    """Tell whether claim and line have different words of a row that exclude each other."""
    for sides in contrasts(language):
        mine, others = ([any(word in text for word in side) for side in sides] for text in (claim, line))
        if any(mine) and any(others) and mine != others:
            return True
    return False
