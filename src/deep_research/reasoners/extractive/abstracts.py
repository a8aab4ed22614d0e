"""Abstract, conclusion and table from sentences that were checked before: nothing new is said here."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from deep_research.data import Brief, Claim, Composition, QueryAnalysis, Section
from deep_research.i18n.catalog import phrase
from deep_research.i18n.language import detect
from deep_research.ports import Library
from deep_research.reasoners.extractive.definitions import what_it_is
from deep_research.reasoners.extractive.document_names import called
from deep_research.reasoners.extractive.excerpts import Excerpt, cited, own_page_first, paragraph, pick
from deep_research.reasoners.extractive.section_writing import wish_of
from deep_research.reasoners.extractive.sentence_quality import advises, is_quotable, leans, recommends
from deep_research.reasoners.extractive.sentence_scoring import About, Wish, rate
from deep_research.text.tokens import content_terms

_ABSTRACT_CHARS, _CONCLUSION_CHARS, _CELL_CHARS = 1150, 800, 230
_GOOD = 0.45
"""A sentence with less than this share of what the best one of its section is worth concludes nothing."""
_SEVERAL, _CONCLUDING = 3, 4
_SENTENCE_CHARS, _SHORT_ABSTRACT, _ROUNDS = 420, 620, 3


def compose(
    analysis: QueryAnalysis, brief: Brief, sections: Sequence[Section], claims: Sequence[Claim], library: Library
) -> Composition:
    """Return the composed parts, each sentence taken from the sections' supported claims."""
    parts = [_part(s, brief, claims, library) for s in sections]
    titles = {s.id: s.title for s in library.sources()}
    abstract = _abstract(parts, brief, titles)
    conclusion = _conclusion(parts, abstract, brief.language)
    table = _table(parts, brief, titles) if analysis.output_format in ("table", "list") else ""
    return Composition(
        abstract=paragraph(abstract),
        conclusion=paragraph(conclusion),
        table=table,
    )


class _Part(NamedTuple):
    """A section with what it looks for and its supported claims that can stand alone, best first."""

    section: Section
    wish: Wish
    rated: list[Excerpt]


def _part(section: Section, brief: Brief, claims: Sequence[Claim], library: Library) -> _Part:
    wish = wish_of(section, brief)
    own_pages = called(brief.title, library.sources())
    return _Part(section, wish, _rated(section, wish, claims, library, own_pages))


def _rated(
    section: Section, wish: Wish, claims: Sequence[Claim], library: Library, own_pages: frozenset[str]
) -> list[Excerpt]:
    rated: list[Excerpt] = []
    for claim in claims:
        if claim.section != section.title or not claim.stands or not claim.passages:
            continue
        if leans(claim.text) or not is_quotable(claim.text):
            continue
        passage = library.passage(claim.passages[0])
        if passage is None:
            continue
        source = library.source(passage.source)
        terms = frozenset(content_terms(claim.text))
        score = rate((claim.text,), terms, wish, wish.weights, About.of(passage, source.title if source else ""))
        rated.append(Excerpt((claim.text,), passage, 0, terms, score + 0.01))
    return own_page_first(rated, own_pages)


def _abstract(parts: Sequence[_Part], brief: Brief, titles: Mapping[str, str]) -> list[Excerpt]:
    """The best sentence of each section, in the order of the sections; a second one where there are few.

    What helps to choose is kept for the conclusion, and a survey that names no two subjects comes last.
    """
    telling = [p for p in parts if p.wish.role != "choosing"]
    chosen: list[tuple[int, Excerpt]] = []
    used = 0
    for _ in range(_ROUNDS):
        for place, part in enumerate(telling if len(telling) > 1 else parts):
            taken = [e for _, e in chosen]
            left = [e for e in part.rated if e not in taken]
            if part.section.subject and not any(p == place for p, _ in chosen):
                what = what_it_is(part.section.subject, part.wish.subject, left, titles, brief.language)
                left = [what] if what is not None and what.length <= _SENTENCE_CHARS else left
            picked = pick(left, limit=1, budget=_SENTENCE_CHARS, taken=taken)
            if picked and used + picked[0].length <= _ABSTRACT_CHARS:
                last = part.wish.role == "survey" and not _names_several(picked[0], part.wish)
                chosen.append((place + last * len(parts), picked[0]))
                used += picked[0].length
        if used >= _SHORT_ABSTRACT:
            break
    return [e for _, e in sorted(chosen, key=lambda found: found[0])]


def _names_several(excerpt: Excerpt, wish: Wish) -> bool:
    return sum(name.within(excerpt.text) for name in wish.siblings) > 1


def _conclusion(parts: Sequence[_Part], abstract: list[Excerpt], language: str) -> list[Excerpt]:
    """Sentences that help to choose, that limit or weigh, one of each section in its order, none of the abstract
    but what the section about choosing says; without any, the best that are left in the reader's language."""
    said = {e.text for e in abstract}
    chosen: list[Excerpt] = []
    for part in sorted(parts, key=lambda p: p.wish.role != "choosing"):
        taken = [] if part.wish.role == "choosing" else abstract
        left = [e for e in part.rated if e not in taken and e.score >= _GOOD * part.rated[0].score]
        left = [e for e in left if not taken or e.text not in said]
        # What recommends or weighs concludes best; what merely says when something applies, next.
        advice = [e for e in left if recommends(e.text)] or [e for e in left if advises(e.text)]
        several = _SEVERAL if part.wish.role == "choosing" else 1
        room = _CONCLUSION_CHARS - sum(e.length for e in chosen)
        chosen += pick(advice, limit=several, budget=max(room, 1), taken=[*taken, *chosen]) if room > 0 else []
    if chosen:
        return chosen[:_CONCLUDING]
    ranked = sorted((e for part in parts for e in part.rated if e.text not in said), key=lambda e: -e.score)
    native = [e for e in ranked if detect(e.text, default=language) == language]
    return pick(native or ranked, limit=2, budget=_CONCLUSION_CHARS, taken=abstract, per_source=2)


def _table(parts: Sequence[_Part], brief: Brief, titles: Mapping[str, str]) -> str:
    """One row per section with a subject: what it is, and its use or limits, both quoted."""
    rows: list[str] = []
    language = brief.language
    for section, wish, rated in parts:
        own = [e for e in rated if _fits_cell(e.text)]
        what = what_it_is(section.subject, wish.subject, own, titles, language) if section.subject else None
        if what is None:
            continue
        use = next((e for e in own if e is not what and (advises(e.text) or recommends(e.text))), None)
        rows.append(f"| {section.subject} | {cited(what)} | {cited(use) if use else '—'} |")
    if len(rows) < 2:
        return ""
    head = [phrase(name, language) for name in ("subject", "what_it_is", "when_to_use")]
    return "\n".join([f"| {' | '.join(head)} |", "|---|---|---|", *rows])


def _fits_cell(text: str) -> bool:
    """Whether a sentence is short and plain enough for a table cell."""
    return len(text) <= _CELL_CHARS and "|" not in text
