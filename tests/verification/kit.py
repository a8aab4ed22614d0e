"""What several tests of verification need."""

from collections.abc import Sequence

from claimcheck.claim_verdicts import Evidence
from deep_research.verification.statement_flags import Flag, flags_of


def flagged(claim: str, evidence: Sequence[Evidence]) -> Flag | None:
    """Return the first flag of a claim that cites one passage, None where nothing is missing."""
    texts = {f"s{number}p1": f"{one.about}\n{one.text}" for number, one in enumerate(evidence, 1)}
    return next(iter(flags_of(claim, texts)), None)
