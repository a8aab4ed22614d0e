"""Headings of documents as titles of sections: which tell by themselves what stands below them."""

import re
from collections import defaultdict
from collections.abc import Sequence

from deep_research.i18n.language import detect
from deep_research.i18n.lexicon import any_word
from deep_research.reasoners.extractive.asked_words import Word, is_identifier, terms_of
from deep_research.reasoners.extractive.block_ranking import Candidate, weigh
from deep_research.text.cleaning import plain_heading
from deep_research.text.tokens import STOP_WORDS, content_terms

MAX_HEADINGS = 6
_GENERIC = re.compile(f"(?:{any_word('headings.generic_patterns')})$", re.IGNORECASE)
_CODE_LIKE = re.compile(r"[(){}<>=_\\$|]|::|--")
_LONGEST, _SHORTEST = 80, 2
_BLOCKS, _OF_ONE = 60, 3
"""Blocks whose headings are looked at, and how many of one heading count."""
_DOCUMENTS = 3
_ALIKE, _SAYS = 0.6, 0.6


def is_telling(title: str) -> bool:
    """Return whether a heading says by itself what stands below it: no "Notes", no signature, no fragment."""
    if (
        not _SHORTEST <= len(title) <= _LONGEST
        or _GENERIC.match(title)
        or _CODE_LIKE.search(title)
        or is_identifier(title.split(maxsplit=1)[0])
    ):
        return False
    last = title.rsplit(maxsplit=1)[-1].casefold()
    return bool(content_terms(title)) and last not in STOP_WORDS | {"-", "—", "–"}


def telling_headings(best: Sequence[Candidate], words: Sequence[Word], language: str) -> list[str]:
    """Return the headings under which the best blocks for a question stand, as the best documents have them.

    A heading stands for the blocks below it; none says what another one or the question itself says.
    """
    scores: dict[str, float] = defaultdict(float)
    counted: dict[str, int] = defaultdict(int)
    documents: dict[str, float] = defaultdict(float)
    places: dict[str, tuple[str, int]] = {}
    most = max((weigh(words, c.said) for c in best[:_BLOCKS]), default=0.0)
    for candidate in best[:_BLOCKS]:
        label = heading_of(candidate)
        if counted[label] >= _OF_ONE or not is_telling(label) or weigh(words, candidate.said) < _SAYS * most:
            continue
        counted[label] += 1
        source = candidate.region.source
        scores[label] += candidate.score
        documents[source] += candidate.score
        at = candidate.region.passage(candidate.block.atoms[0]).start
        places[label] = min(places.get(label, (source, at)), (source, at))
    order = sorted(documents, key=lambda source: -documents[source])
    asked = frozenset(term for word in words for way in word.ways for term in way)
    chosen: dict[str, frozenset[str]] = {}
    for label in sorted(scores, key=lambda label: -scores[label]):
        own = terms_of(label) - asked
        alike = any(len(own & other) >= _ALIKE * min(len(own), len(other)) for other in chosen.values() if other)
        if own and not alike and places[label][0] in order[:_DOCUMENTS]:
            chosen[label] = own
    kept = _readable(list(chosen), language)[:MAX_HEADINGS]
    return sorted(kept, key=lambda label: (order.index(places[label][0]), places[label][1]))


def heading_of(candidate: Candidate) -> str:
    """Return the nearest heading of a block that tells something, or the title of its document."""
    path = [plain_heading(part) for part in candidate.heading.split(" > ")]
    return next((part for part in reversed(path) if is_telling(part)), plain_heading(candidate.region.title))


def _readable(labels: list[str], language: str) -> list[str]:
    """Those in the reader's language or English; others only where there are none of these."""
    read = [label for label in labels if detect(label, default=language) in (language, "en")]
    return read or labels


def says_all(words: Sequence[Word], text: str) -> bool:
    """Return whether a text names everything of `words` that is not said in every conversation."""
    terms = terms_of(text)
    named = [word for word in words if not word.light]
    return bool(named) and weigh(named, [word.share(terms) for word in named]) >= 0.9 * weigh(named, [1.0] * len(named))
