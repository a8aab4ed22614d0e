"""Which of the documents found are really about the question: by how much of its words they cover."""

import re
from collections.abc import Sequence

from deep_research.data import Passage
from deep_research.ports import Library
from deep_research.text.tokens import content_terms

_NAME_LIKE = re.compile(r"(?<!^)\b\w*[A-Z0-9]\w*(?:-\w+)*")
_KEEP = 0.55
_TITLE_BONUS = 0.3


def term_worth(text: str) -> dict[str, float]:
    """Return the index terms of a question with their worth: names and identifiers count double."""
    worth = dict.fromkeys(content_terms(text), 1.0)
    for name in _NAME_LIKE.findall(text):
        worth.update(dict.fromkeys(content_terms(name), 2.0))
    return worth


def coverage(worth: dict[str, float], terms: frozenset[str]) -> float:
    """Return the share (0–1) of the worth that `terms` cover."""
    total = sum(worth.values())
    return sum(w for t, w in worth.items() if t in terms) / total if total else 0.0


def relevant_sources(text: str, passages: Sequence[Passage], library: Library) -> dict[str, float]:
    """Return the ids of the sources that cover at least about half of what the best one covers, best first."""
    worth = term_worth(text)
    said: dict[str, set[str]] = {}
    for passage in passages:
        said.setdefault(passage.source, set()).update(content_terms(f"{passage.heading} {passage.text}"))
    scores: dict[str, float] = {}
    for key, terms in said.items():
        source = library.source(key)
        title = frozenset(content_terms(source.title)) if source else frozenset[str]()
        scores[key] = coverage(worth, frozenset(terms) | title) + _TITLE_BONUS * coverage(worth, title)
    best = max(scores.values(), default=0.0)
    kept = {key: score for key, score in scores.items() if score >= _KEEP * best and score > 0}
    return dict(sorted(kept.items(), key=lambda item: -item[1]))
