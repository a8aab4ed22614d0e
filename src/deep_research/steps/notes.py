"""What a researcher keeps from its searches: passages, fused across searches, best first."""

from collections import defaultdict
from collections.abc import Sequence

from deep_research.data import Passage, Turn
from deep_research.ports import Library

_RRF = 10.0


def noted_passages(turns: Sequence[Turn], library: Library, *, limit: int) -> list[Passage]:
    """Return at most `limit` passages, best first: those a researcher named when it was done, then the found ones.

    Rankings of the single searches are fused by reciprocal rank (Cormack, Clarke and Büttcher,
    "Reciprocal Rank Fusion", SIGIR 2009).
    """
    scores: dict[str, float] = defaultdict(float)
    for turn in turns:
        for seen in turn.observations:
            for rank, passage in enumerate(seen.passages):
                scores[passage] += 1.0 / (_RRF + rank)
    named = [p for turn in turns for a in turn.actions if a.name == "research_complete" for p in a.query.split()]
    best = list(dict.fromkeys([*named, *sorted(scores, key=lambda p: -scores[p])]))[:limit]
    return [found for p in best if (found := library.passage(p)) is not None]
