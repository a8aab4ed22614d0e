"""Whether sentences of evidence support a claim, scored without a model.

Sentences are ranked by a linear mix of BM25 on the claim's terms, character n-grams (which see through
endings), the claim's numbers and dates, and the title of the claim (which stands for its pronouns); the
first three are chosen so that together they cover the claim. The score is a logistic regression on how
much of the claim is covered and how many of its names and numbers are missing.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from claimcheck.negation import conflict, denied_elsewhere
from claimcheck.numbers import same
from claimcheck.text.names import name_index, names
from claimcheck.text.quantities import quantities
from claimcheck.text.tokens import content_terms, normalise


class Support(NamedTuple):
    """How far evidence supports a claim.

    `score` estimates that all of the claim is supported, 0–1; `best` are the indices of the sentences that support it,
    best first; `covered` is the weighted share of the claim's terms in them; `opposing` is the index of a sentence that
    states the opposite, None without one.
    """

    score: float
    best: tuple[int, ...]
    covered: float
    opposing: int | None = None

    @property
    def supported(self) -> bool:
        """Whether the score reaches the threshold and nothing states the opposite."""
        return self.score >= SUPPORTED and self.opposing is None


SUPPORTED = 0.5
"""The threshold of `score`; the weights are fitted with balanced classes, so one half parts them."""
# Fitted on claims of Wikipedia with the pages they cite (the WiCE data set,
# Kamoi et al., EMNLP 2023; development part, 349 claims), logistic regression, L2, balanced classes.
_RANK = {"bm25": 32.0, "numbers": 3.2, "title": 1.3, "grams": 11.7}
_NEW_TERMS = 10.0
"""Weight of terms that the sentences chosen before do not have."""
_SCORE = {"covered": 1.3, "covered_by_best": 1.73, "pairs": 1.33, "numbers_missing": -0.85, "names_missing": -0.8}
_SCORE_INTERCEPT = -1.65

_BEST = 3
_REPEATED = 0.2
"""What a term is still worth once a chosen sentence has it: other sentences confirm it."""
_BACKGROUND = 50
"""Sentences assumed to exist beside the evidence, so that rarity means something in a single passage too."""
_K1, _B = 1.2, 0.5
_GRAM = 4
_SAME_STATEMENT = 0.5
"""Share of the claim's terms a sentence needs before its negation counts against the claim."""


def support(claim: str, evidence: Sequence[str], *, title: str = "") -> Support:
    """Score whether the sentences `evidence` support `claim`.

    `title` names what the claim's text is about; it helps to find the sentences when the claim says "it". Without
    evidence or without terms the score is 0.
    """
    if not any(s.strip() for s in evidence) or not content_terms(claim):
        return Support(0.0, (), 0.0)
    match = Match(claim, evidence, title)
    values = match.features()
    score = 1 / (1 + math.exp(-_SCORE_INTERCEPT - sum(weight * values[name] for name, weight in _SCORE.items())))
    alike = (i for i in match.best if match.coverage((i,)) >= _SAME_STATEMENT)
    opposing = next((i for i in alike if conflict(claim, evidence[i])), None)
    if opposing is not None and denied_elsewhere(claim, evidence):
        opposing = None
    return Support(score, match.best, values["covered_by_best"], opposing)


class Match:
    """A claim laid over sentences: their ranking and the features of the score."""

    def __init__(self, claim: str, evidence: Sequence[str], title: str = "") -> None:
        self._claim, self._evidence = claim, evidence
        self._terms, self._sets, self._df, self._idf = _read(tuple(evidence))
        self._wanted = content_terms(claim)
        self._weights = _in_shares({term: self._idf[self._df[term]] for term in self._wanted})
        self._title = set(content_terms(title))

    @cached_property
    def best(self) -> tuple[int, ...]:
        """Return the indices of up to three jointly supporting sentences, best first."""
        shares = [sum(row) / len(row) if row else 0.0 for row in self._number_table]
        titled = [len(self._title & terms) / max(1, len(self._title)) for terms in self._sets]
        features = {"bm25": self._bm25(), "numbers": shares, "title": titled, "grams": self._grams()}
        scores = [sum(_RANK[name] * values[i] for name, values in features.items()) for i in range(len(shares))]
        left = dict(self._weights)
        chosen: list[int] = []
        while len(chosen) < min(_BEST, len(scores)):
            rest = (i for i in range(len(scores)) if i not in chosen)
            best = max(
                rest, key=lambda i: scores[i] + _NEW_TERMS * math.fsum(left[t] for t in self._sets[i] if t in left)
            )
            chosen.append(best)
            left = {t: w * _REPEATED if t in self._sets[best] else w for t, w in left.items()}
        return tuple(chosen)

    def _bm25(self) -> list[float]:
        average = sum(map(len, self._terms)) / len(self._terms) or 1.0
        scores = []
        for terms, present in zip(self._terms, self._sets, strict=True):
            damping = _K1 * (1 - _B + _B * len(terms) / average)
            counts = {t: terms.count(t) for t in present & self._weights.keys()}
            scores.append(math.fsum(self._weights[t] * count / (count + damping) for t, count in counts.items()))
        return scores

    @cached_property
    def _number_table(self) -> list[list[bool]]:
        """For each sentence, which quantities of the claim stand in it."""
        wanted = quantities(self._claim)
        return [[any(same(q, other, s) for other in quantities(s)) for q in wanted] for s in self._evidence]

    def _grams(self) -> list[float]:
        wanted = _grams(self._claim)
        there = [_grams(sentence) & wanted for sentence in self._evidence]
        df = Counter(gram for grams in there for gram in grams)
        weights = _in_shares({gram: self._idf[df[gram]] for gram in wanted})
        return [math.fsum(weights[gram] for gram in grams) for grams in there]

    def features(self) -> dict[str, float]:
        """Return the score's features: term and pair coverage, missing numbers and names."""
        everything = name_index("\n".join(self._evidence))
        pairs = _pairs(self._wanted, 2)
        found = set().union(*(_pairs(self._terms[i], 3) for i in self.best))
        return {
            "covered": self.coverage(range(len(self._evidence))),
            "covered_by_best": self.coverage(self.best),
            "pairs": sum((a, b) in found or (b, a) in found for a, b in pairs) / max(1, len(pairs)),
            "numbers_missing": float(sum(not any(column) for column in zip(*self._number_table, strict=True))),
            "names_missing": float(sum(not everything.has(name) for name in names(self._claim))),
        }

    def coverage(self, sentences: Sequence[int]) -> float:
        """Return the weighted share of the claim's terms that stand in these sentences."""
        there = set().union(*(self._sets[i] for i in sentences))
        return sum(weight for term, weight in self._weights.items() if term in there)


def _in_shares(weights: Mapping[str, float]) -> dict[str, float]:
    """Return weights as shares of their sum."""
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def _pairs(terms: Sequence[str], reach: int) -> set[tuple[str, str]]:
    return {pair for step in range(1, reach + 1) for pair in zip(terms, terms[step:], strict=False)}


@lru_cache(maxsize=256)
def _read(
    evidence: tuple[str, ...],
) -> tuple[list[tuple[str, ...]], list[frozenset[str]], Counter[str], list[float]]:
    """Return terms of sentences: lists, sets, numbers of sentences, weights by these."""
    terms = [tuple(content_terms(sentence)) for sentence in evidence]
    sets = [frozenset(each) for each in terms]
    count = len(evidence) + _BACKGROUND
    idf = [math.log(1 + (count - df + 0.5) / (df + 0.5)) for df in range(len(evidence) + 1)]
    return terms, sets, Counter(t for ts in sets for t in ts), idf


@lru_cache(maxsize=2048)
def _grams(text: str) -> frozenset[str]:
    padded = f" {' '.join(normalise(text).split())} "
    return frozenset(padded[i : i + _GRAM] for i in range(len(padded) - _GRAM + 1))
