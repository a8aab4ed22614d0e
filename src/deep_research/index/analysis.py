"""What of a passage is indexed: the terms of its text, of its headings and of its document's title."""

from collections import Counter
from typing import NamedTuple

from deep_research.text.tokens import content_terms

VERSION = "1"
"""Changes whenever the same passage would give other terms; stores rebuild an index of another version."""
TITLE_WEIGHT = 2
HEADING_WEIGHT = 1


class Analysed(NamedTuple):
    """The weighted frequencies of a passage's terms, and its length in terms."""

    frequencies: dict[str, int]
    length: int


def analyse(text: str, *, title: str = "", heading: str = "") -> Analysed:
    """Return the terms of a passage. A term of the title counts as `TITLE_WEIGHT` in the text (BM25F)."""
    body = content_terms(text)
    counts = Counter(body)
    for part, weight in ((title, TITLE_WEIGHT), (heading, HEADING_WEIGHT)):
        for term in set(content_terms(part)):
            counts[term] += weight
    return Analysed(counts, len(body))
