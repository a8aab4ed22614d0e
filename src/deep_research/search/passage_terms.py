"""What of a passage is indexed: the terms of its text, headings and title, its names, its title as a whole."""

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from deep_research.search.title_names import names, title_keys
from deep_research.text.tokens import index_terms

VERSION = "4"
"""Changes whenever the same passage would give other terms, or be stored in another way; stores rebuild an index of another version."""
TITLE_WEIGHT = 3
HEADING_WEIGHT = 1
# No term of a text holds a colon, so names and titles share the posting lists with the terms.
NAME = "name:"
TITLE = "title:"


class Analysed(NamedTuple):
    """The weighted frequencies of a passage's terms, and its length in terms."""

    frequencies: dict[str, int]
    length: int


def analyse(text: str, *, title: str = "", heading: str = "") -> Analysed:
    """Return what is indexed of a passage.

    A term of the title counts as `TITLE_WEIGHT` occurrences in the text, a term of the headings as
    `HEADING_WEIGHT` (the simple BM25F of Robertson, Zaragoza & Taylor, 2004).
    """
    body = index_terms(text)
    frequencies = dict(Counter(body))
    for part, weight in ((title, TITLE_WEIGHT), (heading, HEADING_WEIGHT)):
        for term in _terms(part):
            frequencies[term] = frequencies.get(term, 0) + weight
    keys = title_keys(title)
    frequencies.update(dict.fromkeys((NAME + k for k in names(text) | keys), 1))
    frequencies.update(dict.fromkeys((TITLE + k for k in keys), 1))
    return Analysed(frequencies, len(body))


@lru_cache(maxsize=500)
def _terms(part: str) -> frozenset[str]:
    """The terms of a title or heading, which many passages share."""
    return frozenset(index_terms(part))
