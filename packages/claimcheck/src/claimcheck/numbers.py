"""Check that each quantity of a claim stands in a text, with its unit."""

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from claimcheck.lexicon import any_of, groups
from claimcheck.text.measures import CALENDAR, KINDS, Quantity, in_base, is_same_size, same_date
from claimcheck.text.quantities import find_others, quantities

_TOLERANCE = Decimal("0.05")
"""How far a number may be off, relatively, where the claim says "about"."""
REACH = Decimal("1.5")
"""Up to which multiple "more than 1,000" is a fair account of the number in the evidence."""

_OFTEN = {
    unit: re.compile(rf"\s{any_of(listed, literal=False)}", re.IGNORECASE) for unit, listed in groups("often").items()
}


def missing_numbers(claim: str, evidence: str, wanted: Sequence[Quantity] | None = None) -> list[Quantity]:
    """Return quantities of `claim` (or `wanted`) not in `evidence` with their units."""
    wanted = quantities(claim) if wanted is None else wanted
    there = quantities(evidence) if wanted else []
    return [
        q
        for q in wanted
        if not any(same(q, other, evidence) for other in there)
        and not (
            not (q.unit or _NOUN_BEHIND.match(claim, q.end))  # "The budget is 36,000." leaves out of what
            and any(q.value == other.value and other.unit not in KINDS for other in there)
        )
        and not _is_version(claim, q, evidence)
    ]


_NOUN_BEHIND = re.compile(r"[ -]?[^\W\d_]")


def _is_version(claim: str, quantity: Quantity, evidence: str) -> bool:
    """Tell whether the evidence has a number as a version, or in it ("bugs/581186")."""
    number = claim[quantity.start : quantity.end].strip()
    if re.fullmatch(r"\d+\.\d+|\d{4,}", number) is None:
        return False
    written = re.compile(rf"(?<![\d.]){re.escape(number)}(?!\d)")
    return any(written.search(found[0]) for found in find_others(evidence))


def same(claim: Quantity, there: Quantity, evidence: str) -> bool:
    """Return whether `there`, a quantity of `evidence`, agrees with that of `claim`."""
    if claim.unit in CALENDAR and there.unit in (*CALENDAR, ""):
        return same_date(claim, there)
    claim_value, claim_unit = in_base(claim)
    there_value, there_unit = in_base(there)
    if is_same_size(claim, there):
        return True
    if claim_unit != there_unit:
        if not _is_compatible(claim, there, evidence):
            return False
        claim_value, there_value = claim.value, there.value
    if claim_value == there_value or (claim_value > 0 and claim_value == -there_value):
        return {claim.bound, there.bound} != {"<", ">"}
    # Two rounded values or limits must be equal.
    return claim.bound != there.bound and is_within(claim.bound, claim_value, there_value)


def _is_compatible(claim: Quantity, there: Quantity, evidence: str) -> bool:
    pair = {claim.unit, there.unit}
    of, _, per = claim.unit.rpartition("/")
    if of == there.unit and per in _OFTEN and _OFTEN[per].match(evidence, there.end):
        return True
    if of and there.unit.startswith(f"{claim.unit}/"):
        return True  # "5 mg/kg" of 5 mg/kg/day: the time of a dose by weight may be left out
    # A count may carry its unit in the noun: grade 9 (9th grade).
    if pair <= {"", "year"} or pair == {"", "ordinal"} or ("¥" in pair and pair <= {"¥", "cny", "jpy"}):
        return True
    return there.unit == "" and _is_header_unit(claim.unit, evidence)


@lru_cache(maxsize=512)
def _is_header_unit(unit: str, text: str) -> bool:
    """Tell whether a unit stands in the header of a table: | accuracy (%) |."""
    return re.search(rf"\({re.escape(unit)}(?![a-z0-9])", text, re.IGNORECASE) is not None


def is_within(bound: str, said: Decimal, there: Decimal, reach: Decimal = REACH) -> bool:
    """Return whether "about" ("~"), ">" or "<" `said` is a fair statement of `there`."""
    if bound == "~":
        return abs(said - there) <= abs(there) * _TOLERANCE
    return said <= there <= said * reach if bound == ">" else bound == "<" and said / reach <= there <= said


def as_written_in(evidence: str, claim: str) -> str:
    """Return a claim with its amounts and dates rewritten as in the evidence.

    256 MB becomes 256 megabytes, 12 November 2026 becomes 2026-11-12, so that only words differ in a comparison.
    """
    found = (q for q in quantities(evidence) if q.unit and (q.unit not in KINDS or q.unit == "date"))
    there = [q for q in found if not evidence[q.start : q.end].isdigit()]
    for quantity in reversed(quantities(claim)):
        written = claim[quantity.start : quantity.end]
        twin = next((q for q in there if quantity.unit and _is_twin(quantity, q)), None)
        if twin is not None and written not in evidence:
            claim = claim[: quantity.start] + evidence[twin.start : twin.end] + claim[quantity.end :]
    return claim


def _is_twin(quantity: Quantity, other: Quantity) -> bool:
    """Tell whether two quantities are one amount or day, written in two ways."""
    if "date" in (quantity.unit, other.unit):
        return quantity.unit == other.unit and quantity.value == other.value
    return is_same_size(quantity, other) or in_base(quantity) == in_base(other)
