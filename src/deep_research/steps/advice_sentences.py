"""What a step of the advice says with a source, sentence by sentence: a reader takes it for what that source says.

Whether the step follows from its premises is judged as a whole (`check_advice`). A sentence that cites is judged as a fact
besides, and general knowledge is looked for in the passages of the run.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from deep_research.data import Advice, Claim, Verdict
from deep_research.i18n.catalog import join_sentences
from deep_research.ports import Library
from deep_research.steps.check_sentences import CheckedSentence, cited_ids, claim_id
from deep_research.steps.sourced_knowledge import as_facts, first_supported
from deep_research.verification.citations import cite_ids
from deep_research.verification.conclusions import FOLLOWS
from deep_research.verification.drafts import parse_draft, settle_marks


class Said(NamedTuple):
    """A sentence of a step: in which text of it (`why`, `condition`, `fallback`, or the number of a point of `how`), what it
    cites, and the facts that the judge is asked about for it."""

    place: str | int
    text: str
    passages: tuple[str, ...]
    facts: tuple[CheckedSentence, ...]

    @property
    def cited(self) -> str:
        """The sentence with what it cites."""
        return f"{self.text} {cite_ids(self.passages)}".strip()


def sentences_of(advice: Advice, library: Library) -> list[Said]:
    """Return the sentences of a step in order, with the facts in them."""
    texts: dict[str | int, str] = {"why": advice.why, "condition": advice.condition, "fallback": advice.fallback}
    found: list[Said] = []
    for place, text in (texts | dict(enumerate(advice.how))).items():
        for sentence in parse_draft(settle_marks(text)).sentences:
            ids = cited_ids(sentence._replace(near=()), library)
            facts: list[CheckedSentence] = []
            if sentence.role == "background":
                facts = as_facts(sentence.text, library)
            elif ids:
                facts = [CheckedSentence(sentence.text, ids, FOLLOWS, kind="fact")]
            found.append(Said(place, sentence.text, ids, tuple(facts)))
    return found


def as_judged(
    advice: Advice, said: list[Said], verdicts: Iterator[Verdict], language: str
) -> tuple[Advice, list[Claim]]:
    """Return a step by what the judge says of its facts, and the claims that these are.

    What its source does not carry loses the citation, as a part of our advice; what the source speaks against goes; general
    knowledge that a passage says cites it.
    """
    kept: dict[str | int, list[str]] = {}
    claims: list[Claim] = []
    for sentence in said:
        told = list(islice(verdicts, len(sentence.facts)))
        text = sentence.cited
        if sentence.passages and told:
            if told[0].kind == "unverified":
                text = sentence.text
            else:
                claims.append(_claim(sentence.facts[0], told[0]))
                text = text if told[0].kind == "supported" else ""
        elif (fact := first_supported(sentence.facts, told)) is not None:
            claims.append(_claim(fact, fact.verdict))
            text = f"{fact.text} {cite_ids(fact.passages)}"
        kept.setdefault(sentence.place, []).extend([text] * bool(text))
    changed = {name: join_sentences(kept.get(name, ()), language) for name in ("why", "condition", "fallback")}
    points = (join_sentences(kept.get(number, ()), language) for number in range(len(advice.how)))
    return advice.model_copy(update={**changed, "how": tuple(point for point in points if point)}), claims


def _claim(fact: CheckedSentence, verdict: Verdict) -> Claim:
    passages = ",".join(fact.passages)
    claim = fact.as_claim(claim_id(f"advice\0{fact.text}\0{passages}"), "")
    return claim.model_copy(update={"verdict": verdict})
