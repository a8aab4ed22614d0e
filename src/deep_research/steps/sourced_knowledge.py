"""General knowledge (†) that a passage of the run says after all: the judge is asked, and it becomes a fact with its source."""

from collections.abc import Sequence

from deep_research.data import Verdict
from deep_research.i18n.language import detect
from deep_research.ports import Library
from deep_research.steps.check_sentences import CheckedSentence
from deep_research.verification.conclusions import BACKGROUND
from deep_research.verification.verify import Evidence, may_be_supported, terms_shared

_TRIED = 8
"""How many passages are looked at for one sentence; the judge is asked about the first that fits."""
_LEAST, _LEAST_NAMES, _SHARE = 2, 3, 0.75
"""How many terms of the sentence a passage must have, and which share of them; in another language all of its names and code,
which have to be a few: two names of the question's own stand everywhere."""


def as_facts(text: str, library: Library) -> list[CheckedSentence]:
    """Return a sentence of general knowledge as a fact that rests on the first passage that may say it, without its mark."""
    said = without_mark(text)
    language = detect(said)
    for hit in library.search(said, limit=_TRIED):
        passage = hit.passage
        is_same = detect(passage.text) == language
        evidence = Evidence(passage.text, passage.heading)
        shared, wanted = terms_shared(said, evidence)
        is_near = shared >= (max(_LEAST, _SHARE * wanted) if is_same else max(_LEAST_NAMES, wanted))
        if is_near and may_be_supported(said, evidence):
            return [CheckedSentence(said, (passage.id,), BACKGROUND, kind="fact", repair="passage")]
    return []


def without_mark(text: str) -> str:
    """Return a sentence without the mark of general knowledge."""
    return text.replace(" †", "").replace("†", "")


def first_supported(facts: Sequence[CheckedSentence], verdicts: Sequence[Verdict]) -> CheckedSentence | None:
    """Return the first of the facts that the judge finds supported, with its verdict; None where there is none."""
    for fact, verdict in zip(facts, verdicts, strict=True):
        if verdict.kind == "supported":
            return CheckedSentence(fact.text, fact.passages, verdict, kind="fact", repair="passage")
    return None
