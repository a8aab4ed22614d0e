"""Writing a section by quoting: the best excerpts about it, in an order that reads."""

import re
from collections.abc import Sequence

from deep_research.data import Brief, Passage, Section, SectionDraft
from deep_research.ports import Library
from deep_research.reasoners.extractive.excerpts import (
    Excerpt,
    Wish,
    cited,
    excerpts,
    in_reading_order,
    name_pattern,
    pick,
    weigh,
)
from deep_research.text.language import detect
from deep_research.text.tokens import content_terms

_SENTENCES, _CHARS = 9, 2200
_TITLED, _BEGINNING = 4, 4
_ENOUGH, _LITTLE = 4, 2
"""With fewer sentences in the reader's language, sentences in English are quoted too, with very few in any language."""


_NEWS = re.compile(
    r"\b(?:new|news|latest|recent\w*|progress|changes?|changed|history|release\w*|versions?|migrat\w+|upgrad\w+|deprecat\w+)\b"
    r"|最新|进展|变化|历史|版本|新特性|최신|변경|변화|동향|버전|最近|変更",
    re.IGNORECASE,
)


def write_section(section: Section, brief: Brief, passages: Sequence[Passage], library: Library) -> SectionDraft:
    """Return the section as Markdown of verbatim sentences, each with the id of its passage."""
    wish = wish_of(section, brief)
    titles = {s.id: s.title for s in library.sources()}
    ranked = excerpts(with_neighbours(passages, library, wish), wish, titles=titles)
    own = [e for e in ranked if detect(e.text, default=brief.language) == brief.language]
    chosen = pick(own, limit=_SENTENCES, budget=_CHARS)
    said = sum(len(e.sentences) for e in chosen)
    # Most readers of other languages read English, few readers of English read the others.
    foreign = [e for e in ranked if e not in own and (said < _LITTLE or detect(e.text) == "en")]
    if said < _ENOUGH and foreign:
        chosen += pick(foreign, limit=_ENOUGH, budget=_CHARS // 2, taken=chosen)
    if not chosen:
        return SectionDraft(content="")
    # One strong sentence opens the section; the rest is grouped by source.
    lead, rest = chosen[0], chosen[1:]
    paragraphs = [[lead, *(e for e in rest if e.passage.source == lead.passage.source)]]
    paragraphs[0] = [lead, *sorted(paragraphs[0][1:], key=lambda e: (e.passage.start, e.start))]
    paragraphs += in_reading_order([e for e in rest if e.passage.source != lead.passage.source])
    content = "\n\n".join(_paragraph(group) for group in paragraphs)
    findings = tuple(cited(e) for e in chosen[:2] if len(e.sentences) == 1)
    return SectionDraft(content=content, key_findings=findings)


def wish_of(section: Section, brief: Brief) -> Wish:
    """Return what a section looks for: its subject in the sense of its first query, or the question itself."""
    own = frozenset(content_terms(section.subject))
    others = [s.subject for s in brief.sections if s.subject and s.title != section.title]
    siblings = tuple(frozenset(content_terms(subject)) - own for subject in others)
    context = frozenset(content_terms(section.queries[0])) - own if section.queries else frozenset[str]()
    asked = " ".join(section.queries)
    if section.subject:
        weights = weigh((brief.title, 0.6), (asked, 0.7), (section.title, 1.0), (section.subject, 1.4))
    else:
        weights = weigh((brief.title, 0.7), (asked, 0.8), (section.title, 1.2))
    advice = brief.output_format == "table"
    changes = bool(_NEWS.search(brief.title))
    return Wish(weights, own, context, siblings, brief.language, advice, changes, name_pattern(section.subject))


def with_neighbours(passages: Sequence[Passage], library: Library, wish: Wish) -> list[Passage]:
    """Add what the search may have missed: the beginnings of documents titled after the subject (where things
    are defined), and the passages beside the best ones under the same heading."""
    result: dict[str, Passage] = {}
    if wish.subject:
        titled = [s.id for s in library.sources() if wish.subject <= frozenset(content_terms(s.title))]
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


def _paragraph(group: Sequence[Excerpt]) -> str:
    return " ".join(cited(excerpt) for excerpt in group)
