"""Put the places that a search brought in order, by few plain features.

The weights were set once, on development questions; single cases move none of them.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from claimcheck.lexicon import any_word
from deep_research.data import Passage
from deep_research.finding.text_units import Section, Span, Texts, Unit
from deep_research.finding.words import Word, coverage, terms_of
from deep_research.text.contents_lists import is_contents_line, is_contents_list

SCORE, COVERED, HEADED = 2.0, 1.5, 0.6
"""Weights of a passage: its score in the search (as a share of the best), words that it has, words in its heading."""
IN_UNIT, IN_PART, FITS, OPENS = 1.0, 1.0, 0.25, 1.0
"""Weights of a unit: words that it has, words that one sentence or row of it has, being of the kind that is asked for,
being the first under a heading that the question names where it asks what something is."""
LONG = 300
"""Characters of a sentence or row beyond which its words are worth less: a long one has many by chance."""
HEADING_ONLY = 0.6
"""What a word is worth that only the heading above has, or the title."""
CONTEXT = 0.5
"""What a word is worth that the part before has."""
LAST = 0.45
"""What a passage keeps that belongs to a contents list, a change log, a bibliography or a licence."""
ABOUT_ITSELF = 0.75
"""What a paragraph without a sentence keeps before the first sub-heading: a document's lines about itself."""
_OLD = re.compile(any_word("finding.not_current_patterns"), re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?。！？…][\"'”’」』）)\]]*(?:\s|$)")
_ENTRY = re.compile(
    r"^[^\S\n]*+(?:[-*•][^\S\n]++)?(?:\[\w{1,12}\]|\d{1,3}[.)])?[^\n]{3,200}?\(?\b(?:19|20)\d\d[a-z]?\)?[.,:]\s",
    re.MULTILINE,
)


class Candidate(NamedTuple):
    """A passage found by a search, with its own terms, the terms above and its worth.

    `above` are the terms of its heading and title.

    `kept` is the share of its worth that a passage keeps by its kind, and each of its units with it.
    """

    passage: Passage
    title: str
    terms: frozenset[str]
    above: frozenset[str]
    worth: float
    kept: float = 1.0


class Best(NamedTuple):
    """The unit of a section that answers best, with its best part and its worth."""

    candidate: Candidate
    section: Section
    unit: Unit
    part: Span | None
    worth: float

    @property
    def terms(self) -> frozenset[str]:
        """Return the terms of the unit with those above it."""
        return self.candidate.above.union(*(span.terms for span in (*self.unit.lead, *self.unit.parts)))


@cache
def _above(title: str, heading: str) -> frozenset[str]:
    return terms_of(f"{title}\n{heading}")


def is_last(passage: Passage, title: str) -> bool:
    """Return whether a passage ranks last, such as contents, change logs, licences."""
    lines = sum(1 for line in passage.text.splitlines() if line.strip())
    is_bibliography = lines > 2 and len(_ENTRY.findall(passage.text)) > 0.6 * lines
    return bool(_OLD.search(f"{title} > {passage.heading}")) or is_contents_list(passage.text) or is_bibliography


def judge_passage(
    passage: Passage, title: str, share: float, words: Sequence[Word], context: Sequence[Word]
) -> Candidate:
    """Score a passage; `share` is its search score divided by the best one's."""
    terms, above = terms_of(passage.text), _above(title, passage.heading)
    last = _above("", passage.heading.rsplit(" > ", 1)[-1]) or above
    covered = coverage(words, terms, above, HEADING_ONLY) + CONTEXT * coverage(context, terms | above)
    worth = SCORE * share + COVERED * covered + HEADED * coverage(words, last, above, 0.5)
    kept = LAST if is_last(passage, title) else 1.0
    return Candidate(passage, title, terms, above, worth * kept, kept)


def best_unit(
    candidate: Candidate, texts: Texts, words: Sequence[Word], context: Sequence[Word], wanted: str
) -> Best | None:
    """Return the unit of a passage that answers best; for `wanted` see `kind_wanted`."""
    section = texts.section(candidate.passage)
    found: Best | None = None
    for number, unit in enumerate(section.units):
        if unit.end <= candidate.passage.start or unit.start >= candidate.passage.end:
            continue
        if not any(map(str.isalnum, section.text[unit.start : unit.end])):
            continue  # nothing but signs
        lead = frozenset[str]().union(*(span.terms for span in unit.lead))
        above = candidate.above | lead
        whole = lead.union(*(span.terms for span in unit.parts))
        of_parts = [
            (
                coverage(words, part.terms, above, HEADING_ONLY)
                * min(1.0, LONG / max(1, part.end - part.start)) ** 0.25,
                part,
            )
            for part in unit.parts
        ]
        best, part = max(of_parts, key=lambda pair: pair[0], default=(0.0, None))
        worth = IN_UNIT * coverage(words, whole, above, HEADING_ONLY) + IN_PART * best
        worth += 0.5 * CONTEXT * coverage(context, whole | above)
        worth += FITS * _fits(section.text, unit, wanted)
        if wanted == "meaning" and number == 0 and unit.kind == "prose":
            worth += OPENS * coverage(
                words, _above("", candidate.passage.heading.rsplit(" > ", 1)[-1]) or candidate.above
            )
        if is_contents_line(section.text[unit.start : unit.end]):
            worth *= LAST
        worth = worth * candidate.kept + candidate.worth
        is_head = " > " not in section.where and not _SENTENCE_END.search(section.text, unit.start, unit.end)
        if unit.kind == "prose" and is_head:
            worth *= ABOUT_ITSELF
        if found is None or worth > found.worth:
            found = Best(candidate, section, unit, part, worth)
    return found


_NUMBER = re.compile(r"\d")


def kind_wanted(question: str, words: Sequence[Word]) -> str:
    """Return the answer kind asked for: "number", "steps", "meaning", or "" for any."""
    for kind in ("number", "steps", "meaning"):
        if re.search(any_word(f"finding.{kind}_patterns"), question, re.IGNORECASE):
            return kind
    return "meaning" if len(words) <= 2 and len(question.split()) <= 3 else ""  # a name alone


def _fits(text: str, unit: Unit, wanted: str) -> bool:
    if wanted == "number":
        return _NUMBER.search(text, unit.start, min(unit.end, unit.start + 3_000)) is not None
    return wanted == "steps" and (unit.kind in ("item", "code") or "```" in text[unit.start : unit.end])
