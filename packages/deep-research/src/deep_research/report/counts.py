"""How many statements of a report have which verdict: counted here for its method note, the page and every export."""

from collections import Counter

from deep_research.data import Report, Verification
from deep_research.data.noun import Noun


class VerdictCounts(Noun):
    """All statements, and how many of them have each verdict; `own` cite nothing and are the author's."""

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
