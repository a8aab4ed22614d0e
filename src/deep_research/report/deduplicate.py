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
_TOLD = 0.6
"""Share of the words of "… is not in the sources read" that another such sentence has when it tells the same."""
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
        gone = {_claimed(drafts[i].sentences[number]) for number in cut[i]}
        if gone:
            left[section.title] = [c for c in left.get(section.title, []) if (c.text, c.passages) not in gone]
    return shorter, left


def without_named_repeats(
    sections: Sequence[Section], claims: Sequence[Claim], repeats: Sequence[str], open_elsewhere: Sequence[str] = ()
) -> tuple[list[Section], list[Claim]]:
    """Return the sections and claims without the sentences that `repeats` names, word for word, as said elsewhere too.

    A sentence goes only where what it rests on is still cited in another section, never out of code, a table or numbered
    steps, and only where its section keeps enough. One that says what was not found goes as well where most of its words
    stand in one of the texts `open_elsewhere`, which say so around the sections.
    """
    told = [frozenset(content_terms(text)) for text in open_elsewhere]
    drafts = [parse_draft(section.content) for section in sections]
    wanted = {_bare(text) for repeat in repeats for text in (repeat, *(s.text for s in parse_draft(repeat).sentences))}
    cited = [{p for s in draft.sentences for p in s.passages} for draft in drafts]
    shorter: list[Section] = []
    gone: set[tuple[str, str, tuple[str, ...]]] = set()
    for i, (section, draft) in enumerate(zip(sections, drafts, strict=True)):
        others = {p.split("p")[0] for j, ids in enumerate(cited) if j != i for p in ids}
        cut = {
            number
            for number, s in enumerate(draft.sentences)
            if s.kind in ("prose", "item") and not draft.is_step(number)
            if _bare(s.text) in wanted or (s.role == "limit" and _is_told(s.text, told))
            if s.role == "limit" or (s.passages and {p.split("p")[0] for p in s.passages} <= others)
        }
        if not cut or len(draft.sentences) - len(cut) < _KEPT:
            shorter.append(section)
            continue
        shorter.append(_without(section, draft, cut))
        gone |= {(section.title, *_claimed(draft.sentences[number])) for number in cut}
    return shorter, [c for c in claims if (c.section, c.text, c.passages) not in gone]


def _is_told(text: str, told: Sequence[frozenset[str]]) -> bool:
    terms = frozenset(content_terms(text))
    return any(len(terms & other) >= _TOLD * len(terms) for other in told if terms)


def _bare(text: str) -> str:
    return normalise(text).strip(" *_.。!?！？;；→")


def _claimed(sentence: CitedSentence) -> tuple[str, tuple[str, ...]]:
    return claim_text(sentence.text, sentence.context), tuple(sentence.passages)


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
        sources = frozenset(p.split("p")[0] for p in sentence.passages)
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
    gone = {draft.sentences[i].text for i in cut}
    findings = [f for f in section.key_findings if not any(s.text in gone for s in parse_draft(f).sentences)]
    if section.key_findings and not findings:
        first = next(s for i, s in enumerate(draft.sentences) if i not in cut)
        findings = [f"{first.text} {cite_ids(first.passages)}"]
    return section.model_copy(update={"content": draft.render(kept), "key_findings": tuple(findings)})
