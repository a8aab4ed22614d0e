"""claimcheck: a claim against a text, by quotations, numbers, names and words.

>>> from claimcheck import check
>>> check("The bridge was built in 1894.", "The bridge was built in 1893 by the city.").kind
'contradicted'
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from claimcheck.verdict import Verdict

__version__ = "0.1.0+unpublished"
__all__ = ["check"]


def check(claim: str, text: str, *, about: str = "") -> "Verdict":
    """Judge a claim against a text; `about` (title and headings) helps with names.

    The work grows with the product of both lengths at worst: hold a claim of up to 4,000 characters against parts of
    a long text rather than the whole, and texts of strangers in a process that may be ended.
    """
    from claimcheck.claim_verdicts import Evidence, verify  # noqa: PLC0415 - what only reads words stays light

    return verify(claim.strip(), [Evidence(text, about)])
