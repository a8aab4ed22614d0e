"""Abstract, conclusion and table from sentences that were checked before: nothing new is said here."""

import re
from collections.abc import Sequence

from deep_research.data import Brief, Claim, Composition, QueryAnalysis, Section
from deep_research.ports import Library
from deep_research.reasoners.extractive.excerpts import About, Excerpt, cited, defines, leans, pick, rate
from deep_research.reasoners.extractive.writing import wish_of
from deep_research.text.phrases import phrase
from deep_research.text.tokens import content_terms

_ABSTRACT_CHARS, _CONCLUSION_CHARS, _CELL_CHARS = 1150, 800, 230
_ADVICE = re.compile(
    r"\b(?:should|recommend\w*|best|prefer\w*|suitable|suited|choose|when|only if|limitation|however|although|disadvantage|drawback|cannot"
    r"|advantage|trade-?off|unless|useful|future|remains?|overall|cost|expensive)\b"
    r"|适合|适用|建议|应|局限|缺点|优点|优势|限制|未来|但|不足|代价|권장|적합|한계|단점|장점|향후|필요|제한|適|限界|利点|欠点",
    re.IGNORECASE,
)


def compose(
    analysis: QueryAnalysis, brief: Brief, sections: Sequence[Section], claims: Sequence[Claim], library: Library
) -> Composition:
    """Return the composed parts, each sentence taken from the sections' supported claims."""
    best = {s.title: _rated(s, brief, claims, library) for s in sections}
    abstract = _abstract(best, sections)
    conclusion = _conclusion([e for rated in best.values() for e in rated], abstract)
    table = _table(sections, best, brief) if analysis.output_format in ("table", "list") else ""
    return Composition(
        abstract=" ".join(cited(e) for e in abstract),
        conclusion=" ".join(cited(e) for e in conclusion),
        table=table,
    )


def _rated(section: Section, brief: Brief, claims: Sequence[Claim], library: Library) -> list[Excerpt]:
    """The section's supported claims that can stand alone, best for the section first."""
    wish = wish_of(section, brief)
    rated: list[Excerpt] = []
    for claim in claims:
        if claim.section != section.title or not claim.stands or leans(claim.text) or not claim.passages:
            continue
        passage = library.passage(claim.passages[0])
        if passage is None:
            continue
        source = library.source(passage.source)
        terms = frozenset(content_terms(claim.text))
        score = rate((claim.text,), terms, wish, wish.weights, About.of(passage, source.title if source else ""))
        rated.append(Excerpt((claim.text,), passage, 0, terms, score + 0.01))
    return sorted(rated, key=lambda e: -e.score)


def _abstract(best: dict[str, list[Excerpt]], sections: Sequence[Section]) -> list[Excerpt]:
    """The best sentence of each section, in the order of the sections, as far as an abstract reaches."""
    chosen: list[Excerpt] = []
    used = 0
    for section in sections:
        picked = pick(best[section.title], limit=1, budget=420, taken=chosen)
        if picked and used + picked[0].length <= _ABSTRACT_CHARS:
            chosen.extend(picked)
            used += picked[0].length
    return chosen


def _conclusion(pool: list[Excerpt], taken: list[Excerpt]) -> list[Excerpt]:
    """Sentences that advise, limit or weigh, not those of the abstract; without any, the best that are left."""
    left = {e.text: e for e in pool if e not in taken}
    ranked = sorted(left.values(), key=lambda e: -e.score)
    advice = [e for e in ranked if _ADVICE.search(e.text)]
    chosen = pick(advice, limit=4, budget=_CONCLUSION_CHARS, taken=taken, per_source=2)
    return chosen or pick(ranked, limit=2, budget=_CONCLUSION_CHARS, taken=taken, per_source=2)


def _table(sections: Sequence[Section], best: dict[str, list[Excerpt]], brief: Brief) -> str:
    """One row per section with a subject: what it is, and its use or limits, both quoted."""
    rows: list[str] = []
    language = brief.language
    for section in sections:
        own = [e for e in best[section.title] if _fits_cell(e.text)]
        if not section.subject or not own:
            continue
        what = next((e for e in own[:4] if defines(section.subject, e.text)), own[0])
        use = next((e for e in own if e is not what and _ADVICE.search(e.text)), None)
        rows.append(f"| {section.subject} | {cited(what)} | {cited(use) if use else '—'} |")
    if len(rows) < 2:
        return ""
    head = [phrase(name, language) for name in ("subject", "what_it_is", "when_to_use")]
    return "\n".join([f"| {' | '.join(head)} |", "|---|---|---|", *rows])


def _fits_cell(text: str) -> bool:
    """Whether a sentence is short and plain enough for a table cell."""
    return len(text) <= _CELL_CHARS and "|" not in text
