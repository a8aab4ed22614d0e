"""The numbers of statements by verdict, for method note, page and every export."""

from collections import Counter

from deep_research.data import Report, Verification
from deep_research.data.noun import Noun


class VerdictCounts(Noun):
    """The number of statements, in all and by verdict; `own` are uncited ones."""

    total: int = 0
    supported: int = 0
    misleading: int = 0
    contradicted: int = 0
    unverified: int = 0
    own: int = 0

    @property
    def cited(self) -> int:
        """How many statements cite something, and so could be checked."""
        return self.total - self.own


def verdict_counts(text: Report | Verification) -> VerdictCounts:
    """Return how many statements of a report or verification have which verdict."""
    counted = Counter(claim.verdict.kind for claim in text.claims)
    return VerdictCounts(total=len(text.claims), **counted)
