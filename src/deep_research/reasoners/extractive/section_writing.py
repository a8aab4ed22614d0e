"""Writing a section by quoting: the best excerpts about it, in an order that reads."""

import re
from collections.abc import Sequence

from deep_research.data import Brief, Gap, Passage, Section, SectionDraft
from deep_research.i18n.catalog import phrase
from deep_research.i18n.language import detect
from deep_research.i18n.message_codes import gap_of
from deep_research.ports import Library
from deep_research.reasoners.extractive.answer_blocks import PartAnswer, answer_parts
from deep_research.reasoners.extractive.definitions import begins_with, what_it_is
from deep_research.reasoners.extractive.document_names import called
from deep_research.reasoners.extractive.excerpts import (
    Excerpt,
    cited,
    excerpts,
    in_reading_order,
    own_page_first,
    paragraph,
    pick,
)
from deep_research.reasoners.extractive.quoting import quoted
from deep_research.reasoners.extractive.sentence_quality import defines
from deep_research.reasoners.extractive.sentence_scoring import Role, Wish, weigh
from deep_research.reasoners.extractive.topic_clusters import owner, theme_of
from deep_research.text.name_matching import Naming, named_among
from deep_research.text.question_terms import (
    Unit,
    coverage,
    is_answered,
    passage_terms,
    specific,
    units_for,
    without_furniture,
)
from deep_research.text.tokens import content_terms

_SENTENCES, _CHARS = 9, 2200
_ANSWER_CHARS, _SUPPORTING = 1200, 3
"""How long a quick answer may be, and how many blocks it may have beyond one for each part of the question."""
_TITLED, _BEGINNING, _UNDER = 4, 4, 8
_ENOUGH, _LITTLE = 4, 2
"""With fewer sentences in the reader's language, sentences in English are quoted too, with very few in any language."""
_SOME, _MOSTLY = 0.3, 0.7
_FINDINGS = 2
_INTRODUCES = 0.4
"""What says what a subject is opens its section, unless it is worth less than this share of the best sentence."""
_ON_TOPIC = 0.5
"""Passages that cover less than this share of what the best one covers are about something else."""
_NEWS = re.compile(
    r"\b(?:new|news|latest|recent\w*|progress|changes?|changed|history|release\w*|versions?|migrat\w+|upgrad\w+|deprecat\w+)\b"
    r"|最新|进展|变化|历史|版本|新特性|최신|변경|변화|동향|버전|最近|変更",
    re.IGNORECASE,
)
_FIGURES = re.compile(
    r"\bhow (?:much|many|fast|long|large|big|small|old|often|far|high|heavy|expensive|wide|deep|tall|slow)\b"
    r"|\bwhat (?:percentage|share|number|size|price|speed|rate)\b|多少|几个|多快|多大|多长|多高|多重|多久|比例"
    r"|얼마|몇|何(?:個|人|倍|年|キロ)|どのくらい|いくつ",
    re.IGNORECASE,
)


def write_section(section: Section, brief: Brief, passages: Sequence[Passage], library: Library) -> SectionDraft:
    """Return the section as Markdown of verbatim sentences, each with the id of its passage; "" where nothing answers."""
    if section.title == phrase("answer", brief.language):
        return answer(brief.title, brief.language, passages, library)
    wish = wish_of(section, brief)
    titles = {s.id: s.title for s in library.sources()}
    given = with_neighbours(passages, library, wish)
    if not section.subject and wish.role in ("theme", "survey"):
        given = _on_topic(_beneath(section, given, library, titles), section, brief, titles)
    ranked = own_page_first(excerpts(given, wish, titles=titles), called(brief.title, library.sources()))
    chosen = _choose(ranked, brief.language, limit=_SENTENCES)
    if not chosen:
        return SectionDraft(content="")
    if section.subject:
        chosen = _introduced(section.subject, wish, ranked, chosen, titles)
    # One strong sentence opens the section; the rest is grouped by source.
    lead, rest = chosen[0], chosen[1:]
    paragraphs = [[lead, *(e for e in rest if e.passage.source == lead.passage.source)]]
    paragraphs[0] = [lead, *sorted(paragraphs[0][1:], key=lambda e: (e.passage.start, e.start))]
    paragraphs += in_reading_order([e for e in rest if e.passage.source != lead.passage.source])
    content = "\n\n".join(paragraph(group) for group in paragraphs)
    plain = [e for e in chosen if len(e.sentences) == 1 and not e.text[:1].islower()]
    findings = tuple(cited(e) for e in plain[:_FINDINGS])
    return SectionDraft(content=content, key_findings=findings)


def answer(question: str, language: str, passages: Sequence[Passage], library: Library) -> SectionDraft:
    """Return the blocks that answer a question, part by part, and a gap for each part that none answers."""
    parts = answer_parts(question, language, passages, library, chars=_ANSWER_CHARS, most=_SUPPORTING)
    blocks = [block for part in parts for block in part.blocks]
    gaps = tuple(_not_found(part) for part in parts if not part.answered)
    return SectionDraft(content=quoted(blocks), gaps=gaps)


def _not_found(part: PartAnswer) -> Gap:
    if part.closest is None:
        return gap_of(part.text, "part_absent")
    closest = part.closest.region
    return gap_of(
        part.text, "part_not_found", title=closest.title, passage=closest.passage(part.closest.block.atoms[0]).id
    )


def _choose(ranked: list[Excerpt], language: str, *, limit: int) -> list[Excerpt]:
    """The best excerpts in the reader's language, filled up with others where there are few."""
    own = [e for e in ranked if detect(e.text, default=language) == language]
    chosen = pick(own, limit=limit, budget=_CHARS)
    said = sum(len(e.sentences) for e in chosen)
    # Most readers of other languages read English, few readers of English read the others.
    english = [e for e in ranked if e not in own and detect(e.text) == "en"]
    foreign = english or ([e for e in ranked if e not in own] if said < _LITTLE else [])
    if said < _ENOUGH and foreign:
        most, budget = (_ENOUGH, _CHARS // 2) if chosen else (limit, _CHARS)
        chosen += pick(foreign, limit=most, budget=budget, taken=chosen)
    return chosen


def _introduced(
    subject: str, wish: Wish, ranked: list[Excerpt], chosen: list[Excerpt], titles: dict[str, str]
) -> list[Excerpt]:
    """Begin with the sentence that says what the subject is, where a good one does."""
    good = [e for e in ranked if e.score >= _INTRODUCES * ranked[0].score and len(e.sentences) == 1]
    what = what_it_is(subject, wish.subject, good, titles, wish.language)
    if what is None or not (defines(subject, what.text) or begins_with(wish.subject, what.text)):
        return chosen
    if detect(what.text, default=wish.language) != wish.language and detect(chosen[0].text) == wish.language:
        return chosen
    return [what, *(e for e in chosen if what.text not in e.sentences)]


def role_of(section: Section, brief: Brief) -> Role:
    """Return what a section is for, by its subject and its place in the brief."""
    if section.subject:
        return "subject"
    if section.title == phrase("head_to_head", brief.language):
        return "direct"
    if section.title == phrase("choosing", brief.language):
        return "choosing"
    return "survey" if any(s.subject for s in brief.sections) else "theme"


def wish_of(section: Section, brief: Brief) -> Wish:
    """Return what a section looks for: its subject in the sense of its first query, or the question itself."""
    subjects = [s.subject for s in brief.sections if s.subject]
    own = named_among(section.subject, subjects) if section.subject else Naming()
    others = [s.subject for s in brief.sections if s.subject and s.title != section.title]
    context = frozenset(content_terms(section.queries[0])) - own.terms if section.queries else frozenset[str]()
    question, asked = without_furniture(brief.title), without_furniture(" ".join(section.queries))
    if section.subject:
        weights = weigh((question, 0.6), (asked, 0.7), (section.title, 1.0), (section.subject, 1.4))
        weights |= dict.fromkeys((term for way in own.ways for term in way.terms), 1.4)
    else:
        weights = weigh((question, 0.7), (asked, 0.8), (section.title, 1.2))
    role = role_of(section, brief)
    return Wish(
        weights=weights,
        subject=own,
        context=context if section.subject else frozenset(),
        siblings=tuple(named_among(subject, subjects) for subject in others),
        language=brief.language,
        advice=brief.output_format == "table",
        changes=bool(_NEWS.search(brief.title)),
        figures=bool(_FIGURES.search(brief.title)),
        role=role,
        compared=any(role_of(s, brief) == "direct" for s in brief.sections),
    )


def with_neighbours(passages: Sequence[Passage], library: Library, wish: Wish) -> list[Passage]:
    """Add what the search may have missed: the beginnings of documents titled after the subject (where things
    are defined), and the passages beside the best ones under the same heading."""
    result: dict[str, Passage] = {}
    names = [wish.subject] if wish.role == "subject" else wish.siblings if wish.role in ("direct", "choosing") else []
    for name in names:
        titled = [s.id for s in library.sources() if name.heads(frozenset(content_terms(s.title)))]
        for key in titled[:_TITLED]:
            result.update({p.id: p for p in library.passages(key)[:_BEGINNING]})
    result |= {p.id: p for p in passages}
    for passage in passages[:6]:
        beside = library.passages(passage.source)
        place = next((i for i, p in enumerate(beside) if p.id == passage.id), 0)
        for near in beside[max(0, place - 1) : place + 2]:
            if near.heading == passage.heading:
                result.setdefault(near.id, near)
    return list(result.values())


def _beneath(section: Section, passages: list[Passage], library: Library, titles: dict[str, str]) -> list[Passage]:
    """Put first what stands under the heading that the section is named after, also what no search returned."""
    under: dict[str, Passage] = {}
    for key in dict.fromkeys(p.source for p in passages):
        below = [p for p in library.passages(key) if theme_of(p, titles.get(key, "")) == section.title]
        under.update({p.id: p for p in below[:_UNDER]})
    return [*under.values(), *(p for p in passages if p.id not in under)]


def _on_topic(passages: list[Passage], section: Section, brief: Brief, titles: dict[str, str]) -> list[Passage]:
    """The passages that are the section's own and about the question; none where they do not answer it."""
    asked = units_for(brief.title, brief.language, passages)
    said = {p.id: passage_terms(p, titles.get(p.source, "")) for p in passages}
    if not is_answered(asked, list(said.values())):
        return []
    passages = _telling(passages, asked, said)
    asked = specific(asked, list(said.values()))
    covered = {key: coverage(asked, terms) for key, terms in said.items()}
    best = max(covered.values())
    names = [s.title for s in brief.sections if not s.subject]
    question = frozenset(content_terms(brief.title))
    return [
        p
        for p in passages
        if covered[p.id] >= _ON_TOPIC * best and owner(p, titles.get(p.source, ""), names, question) == section.title
    ]


def _telling(passages: list[Passage], asked: Sequence[Unit], said: dict[str, frozenset[str]]) -> list[Passage]:
    """Without the passages that have only what every passage has (the name of the product), where others have more
    of what is asked."""
    shares = [(unit, sum(1 for p in passages if unit.share(said[p.id])) / len(passages)) for unit in asked]
    product = max((share for unit, share in shares if unit.worth > 1.0), default=0.0)
    telling = [unit for unit, share in shares if unit.worth >= 1.0 and _SOME <= share < product]
    if not telling or product < _MOSTLY:
        return passages
    return [p for p in passages if any(unit.share(said[p.id]) for unit in telling)]
