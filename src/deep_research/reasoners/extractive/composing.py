"""Abstract, conclusion and table from sentences that were checked before: nothing new is said here."""

import re
from collections.abc import Sequence

from deep_research.data import Brief, Claim, Composition, Passage, QueryAnalysis, Section
from deep_research.ports import Library
from deep_research.reasoners.extractive.excerpts import Excerpt, Wish, cited, leans, pick
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
    text: str,
    analysis: QueryAnalysis,
    brief: Brief,
    sections: Sequence[Section],
    claims: Sequence[Claim],
    library: Library,
) -> Composition:
    """Return the composed parts, each sentence taken from the sections' supported claims."""
    wish = Wish.of(text, title=brief.title, extra=analysis.discovery_target, language=brief.language)
    pool = [e for c in claims if (e := _excerpt(c, wish, library)) is not None]
    abstract = _abstract(pool, sections, claims)
    conclusion = _conclusion(pool, abstract)
    table = _table(sections, claims, library, brief) if analysis.output_format in ("table", "list") else ""
    return Composition(
        abstract=" ".join(cited(e) for e in abstract),
        conclusion=" ".join(cited(e) for e in conclusion),
        table=table,
    )


def _excerpt(claim: Claim, wish: Wish, library: Library) -> Excerpt | None:
    passage = _passage(claim, library)
    if passage is None or not claim.stands:
        return None
    terms = frozenset(content_terms(claim.text))
    score = 0.1 + sum(w for t, w in wish.weights.items() if t in terms) / (3 + len(terms) ** 0.5)
    return Excerpt((claim.text,), passage, 0, terms, score)


def _passage(claim: Claim, library: Library) -> Passage | None:
    return library.passage(claim.passages[0]) if claim.passages else None


def _abstract(pool: list[Excerpt], sections: Sequence[Section], claims: Sequence[Claim]) -> list[Excerpt]:
    """The best sentence of each section, in the order of the sections, as far as an abstract reaches."""
    section_of = {c.text: c.section for c in claims}
    chosen: list[Excerpt] = []
    used = 0
    for section in sections:
        own = [e for e in pool if section_of.get(e.text) == section.title and not leans(e.text)]
        picked = pick(sorted(own, key=lambda e: -e.score), limit=1, budget=420, taken=chosen)
        if picked and used + picked[0].length <= _ABSTRACT_CHARS:
            chosen.extend(picked)
            used += picked[0].length
    return chosen


def _conclusion(pool: list[Excerpt], taken: list[Excerpt]) -> list[Excerpt]:
    """Sentences that advise, limit or weigh, not those of the abstract."""
    advice = [e for e in pool if _ADVICE.search(e.text) and not leans(e.text) and e not in taken]
    return pick(sorted(advice, key=lambda e: -e.score), limit=4, budget=_CONCLUSION_CHARS, taken=taken, per_source=2)


def _table(sections: Sequence[Section], claims: Sequence[Claim], library: Library, brief: Brief) -> str:
    """One row per section with a subject: what it is, and its use or limits, both quoted."""
    rows: list[str] = []
    language = brief.language
    for section in sections:
        own = [c for c in claims if c.section == section.title and c.stands and _fits_cell(c.text)]
        if not section.subject or not own:
            continue
        what = own[0]
        use = next((c for c in own if c is not what and _ADVICE.search(c.text)), None)
        rows.append(f"| {section.subject} | {_cell(what)} | {_cell(use) if use else '—'} |")
    if len(rows) < 2:
        return ""
    head = [phrase(name, language) for name in ("subject", "what_it_is", "when_to_use")]
    return "\n".join([f"| {' | '.join(head)} |", "|---|---|---|", *rows])


def _fits_cell(text: str) -> bool:
    """Whether a sentence is short and plain enough for a table cell."""
    return len(text) <= _CELL_CHARS and "|" not in text and not leans(text)


def _cell(claim: Claim) -> str:
    return f"{claim.text} [{claim.passages[0]}]"
