"""Repetition: what two sections say with the same words on the same passages stands in one of them.

Sections are written side by side, so none knows what the others say. A sentence stays where it belongs best (the
section whose title and task share most of its words; else the first), and only where the other section keeps enough.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from deep_research.data import Claim, Section
from deep_research.text.tokens import content_terms, normalise
from deep_research.verification.citations import CitedSentence, cite_ids, claim_text
from deep_research.verification.drafts import Draft, parse_draft
from deep_research.verification.names import names
from deep_research.verification.negation import conflict, negated
from deep_research.verification.numbers import quantities

_ALIKE = 0.9
"""Share of their words that two sentences have in common when one repeats the other."""
_KEPT = 2
"""Sentences that a section keeps in any case."""


class _Said(NamedTuple):
    """A sentence of a section: which section and place, its words, names and figures, its sources, and how well it
    belongs there."""

    section: int
    number: int
    text: str
    terms: frozenset[str]
    names: frozenset[str]
    figures: frozenset[str]
    sources: frozenset[str]
    belongs: float


def without_repetition(
    sections: Sequence[Section], claims: Mapping[str, Sequence[Claim]]
) -> tuple[list[Section], dict[str, list[Claim]]]:
    """Return the sections and their claims without what another section says as well; sections without any as they are."""
    drafts = [parse_draft(section.content) for section in sections]
    cut = _repeated(sections, drafts)
    shorter = [_without(s, d, cut[i]) if cut[i] else s for i, (s, d) in enumerate(zip(sections, drafts, strict=True))]
    left = {title: list(group) for title, group in claims.items()}
    for i, section in enumerate(sections):
        cited = (drafts[i].sentences[number] for number in cut[i])
        gone = {claim_text(sentence.text, sentence.context): _rests_on(sentence) for sentence in cited}
        if gone:
            left[section.title] = [
                c for c in left.get(section.title, []) if c.text not in gone or not {*c.passages} <= {*gone[c.text]}
            ]
    return shorter, left


def _rests_on(sentence: CitedSentence) -> tuple[str, ...]:
    """Return the passages of a sentence; those cited at the end of its stretch where it stands inside one."""
    return sentence.passages or (sentence.near if sentence.role == "fact" else ())


def _repeated(sections: Sequence[Section], drafts: Sequence[Draft]) -> list[set[int]]:
    """Return the numbers of the sentences to cut, by section."""
    cut: list[set[int]] = [set() for _ in sections]
    said = [one for i, section in enumerate(sections) for one in _said(i, section, drafts[i])]
    for place, one in enumerate(said):
        for other in said[:place]:
            if one.section == other.section or not _alike(one, other):
                continue
            gone = one if one.belongs <= other.belongs else other
            if len(drafts[gone.section].sentences) - len(cut[gone.section]) > _KEPT:
                cut[gone.section].add(gone.number)
    return cut


def _said(place: int, section: Section, draft: Draft) -> list[_Said]:
    task = frozenset(content_terms(f"{section.title} {section.subject} {section.description}"))
    found: list[_Said] = []
    for number, sentence in enumerate(draft.sentences):
        terms = frozenset(content_terms(sentence.text))
        if sentence.context or sentence.kind == "code" or not terms:
            continue
        figures = frozenset(str(q.value) for q in quantities(sentence.text))
        sources = frozenset(p.split("p")[0] for p in _rests_on(sentence))
        called = frozenset(normalise(name.text) for name in names(sentence.text))
        belongs = len(terms & task) / len(terms)
        found.append(_Said(place, number, sentence.text, terms, called, figures, sources, belongs))
    return found


def _alike(one: _Said, other: _Said) -> bool:
    # The cheap tests first: this is asked of every two sentences of a report.
    if len(one.terms & other.terms) < _ALIKE * len(one.terms | other.terms) or one.sources.isdisjoint(other.sources):
        return False
    if (one.names, one.figures) != (other.names, other.figures):
        return False
    negations = bool(negated(normalise(one.text))), bool(negated(normalise(other.text)))
    return negations[0] == negations[1] and not conflict(one.text, other.text)


def _without(section: Section, draft: Draft, cut: set[int]) -> Section:
    kept = {i: None if i in cut else (s.raw, s.passages) for i, s in enumerate(draft.sentences)}
    for number in cut:
        before = next((i for i in reversed(draft.paragraph_of(number)) if i < number and i not in cut), None)
        if before is not None and not draft.sentences[before].passages:
            # What was cut cited for it as well.
            kept[before] = (draft.sentences[before].raw, _rests_on(draft.sentences[before]))
    gone = {draft.sentences[i].text for i in cut}
    findings = [f for f in section.key_findings if not any(s.text in gone for s in parse_draft(f).sentences)]
    if section.key_findings and not findings:
        first = next(s for i, s in enumerate(draft.sentences) if i not in cut)
        findings = [f"{first.text} {cite_ids(_rests_on(first))}"]
    return section.model_copy(update={"content": draft.render(kept), "key_findings": tuple(findings)})
