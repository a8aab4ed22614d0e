"""General knowledge (†) that a passage of the run says after all: the judge is asked, and it becomes a fact with its source."""

from collections.abc import Sequence

from deep_research.data import Verdict
from deep_research.i18n.language import detect
from deep_research.ports import Library
from deep_research.steps.check_sentences import CheckedSentence
from deep_research.text.tokens import content_terms
from deep_research.verification.conclusions import BACKGROUND
from deep_research.verification.verify import Evidence, may_be_supported

_TRIED, _OFFERED = 8, 2
"""How many passages are looked at for one sentence, and for how many the judge is asked."""
_LEAST, _SHARE = 2, 0.65
"""How many terms of the sentence a passage must have, and which share of them; in another language, of its names and code."""


def as_facts(text: str, library: Library) -> list[CheckedSentence]:
    """Return a sentence of general knowledge as a fact that rests on each of the passages that may say it, without its mark."""
    said = without_mark(text)
    all_terms, language = set(content_terms(said)), detect(said)
    plain_terms = {term for term in all_terms if term.isascii()}
    found: list[CheckedSentence] = []
    for hit in library.search(said, limit=_TRIED):
        passage = hit.passage
        terms = all_terms if detect(passage.text) == language else plain_terms
        shared = terms & set(content_terms(f"{passage.heading} {passage.text}"))
        is_near = len(shared) >= max(_LEAST, _SHARE * len(terms))
        if is_near and may_be_supported(said, Evidence(passage.text, passage.heading)):
            found.append(CheckedSentence(said, (passage.id,), BACKGROUND, kind="fact", repair="passage"))
    return found[:_OFFERED]


def without_mark(text: str) -> str:
    """Return a sentence without the mark of general knowledge."""
    return text.replace(" †", "").replace("†", "")


def first_supported(facts: Sequence[CheckedSentence], verdicts: Sequence[Verdict]) -> CheckedSentence | None:
    """Return the first of the facts that the judge finds supported, with its verdict; None where there is none."""
    for fact, verdict in zip(facts, verdicts, strict=True):
        if verdict.kind == "supported":
            return CheckedSentence(fact.text, fact.passages, verdict, kind="fact", repair="passage")
    return None
