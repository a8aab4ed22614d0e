"""Abstract, conclusion and table from sentences that were checked before: nothing new is said here."""

from collections.abc import Mapping, Sequence

from deep_research.data import Brief, Claim, Composition, QueryAnalysis, Section
from deep_research.ports import Library
from deep_research.reasoners.extractive.excerpts import Excerpt, cited, pick
from deep_research.reasoners.extractive.naming import Naming, naming
from deep_research.reasoners.extractive.quotable import advises, defines, leans, recommends
from deep_research.reasoners.extractive.rating import About, rate
from deep_research.reasoners.extractive.writing import wish_of
from deep_research.text.phrases import phrase
from deep_research.text.tokens import content_terms

_ABSTRACT_CHARS, _CONCLUSION_CHARS, _CELL_CHARS = 1150, 800, 230
_FIRST_CHARS, _BESIDE_NAME = 700, 2
_SENTENCE_CHARS, _SHORT_ABSTRACT, _ROUNDS = 420, 620, 3


def compose(
    analysis: QueryAnalysis, brief: Brief, sections: Sequence[Section], claims: Sequence[Claim], library: Library
) -> Composition:
    """Return the composed parts, each sentence taken from the sections' supported claims."""
    best = {s.title: _rated(s, brief, claims, library) for s in sections}
    titles = {s.id: s.title for s in library.sources()}
    abstract = _abstract(best, sections, titles)
    conclusion = _conclusion([e for rated in best.values() for e in rated], abstract)
    table = _table(sections, best, brief, titles) if analysis.output_format in ("table", "list") else ""
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


def _abstract(best: dict[str, list[Excerpt]], sections: Sequence[Section], titles: Mapping[str, str]) -> list[Excerpt]:
    """The best sentence of each section, in the order of the sections; a second one where there are few."""
    chosen: list[tuple[int, Excerpt]] = []
    used = 0
    for _ in range(_ROUNDS):
        for place, section in enumerate(sections):
            taken = [e for _, e in chosen]
            left = [e for e in best[section.title] if e not in taken]
            if section.subject and not any(p == place for p, _ in chosen):
                what = _what_it_is(section.subject, left, titles)
                left = [what] if what is not None and what.length <= _SENTENCE_CHARS else left
            picked = pick(left, limit=1, budget=_SENTENCE_CHARS, taken=taken)
            if picked and used + picked[0].length <= _ABSTRACT_CHARS:
                chosen.append((place, picked[0]))
                used += picked[0].length
        if used >= _SHORT_ABSTRACT:
            break
    return [e for _, e in sorted(chosen, key=lambda found: found[0])]


def _conclusion(pool: list[Excerpt], taken: list[Excerpt]) -> list[Excerpt]:
    """Sentences that advise, limit or weigh, not those of the abstract; without any, the best that are left."""
    left = {e.text: e for e in pool if e not in taken}
    ranked = sorted(left.values(), key=lambda e: -e.score)
    # What recommends or weighs concludes best; what merely says when something applies, next.
    advice = [e for e in ranked if recommends(e.text)] or [e for e in ranked if advises(e.text)]
    chosen = pick(advice, limit=4, budget=_CONCLUSION_CHARS, taken=taken, per_source=2)
    return chosen or pick(ranked, limit=2, budget=_CONCLUSION_CHARS, taken=taken, per_source=2)


def _table(sections: Sequence[Section], best: dict[str, list[Excerpt]], brief: Brief, titles: Mapping[str, str]) -> str:
    """One row per section with a subject: what it is, and its use or limits, both quoted."""
    rows: list[str] = []
    language = brief.language
    for section in sections:
        own = [e for e in best[section.title] if _fits_cell(e.text)]
        if not section.subject or not own:
            continue
        what = _what_it_is(section.subject, own, titles)
        if what is None:
            continue
        use = next((e for e in own if e is not what and (advises(e.text) or recommends(e.text))), None)
        rows.append(f"| {section.subject} | {cited(what)} | {cited(use) if use else '—'} |")
    if len(rows) < 2:
        return ""
    head = [phrase(name, language) for name in ("subject", "what_it_is", "when_to_use")]
    return "\n".join([f"| {' | '.join(head)} |", "|---|---|---|", *rows])


def _what_it_is(subject: str, rated: Sequence[Excerpt], titles: Mapping[str, str]) -> Excerpt | None:
    """The sentence that says what a subject is: one that defines it, else the first of the opening of its own
    document, else the best one that names it; None where no sentence does."""
    name = naming(subject)
    if defining := next((e for e in rated if defines(subject, e.text)), None):
        return defining
    own = [e for e in rated if e.passage.start < _FIRST_CHARS and _is_titled(titles.get(e.passage.source, ""), name)]
    first = min(own, key=lambda e: (e.passage.start, e.passage.text.find(e.text)), default=None)
    opened = (e for e in rated if name.within(" ".join(e.text.split()[:3])))
    return first or next(opened, None) or next((e for e in rated if name.within(e.text)), None)


def _is_titled(title: str, name: Naming) -> bool:
    """Whether a title is the name and little else ("git-merge(1)", "Hash Indexes")."""
    terms = frozenset(content_terms(title))
    return name.heads(terms) and len(terms - name.terms) <= _BESIDE_NAME


def _fits_cell(text: str) -> bool:
    """Whether a sentence is short and plain enough for a table cell."""
    return len(text) <= _CELL_CHARS and "|" not in text
