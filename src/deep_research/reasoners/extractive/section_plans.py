"""Plan sections without a model: by the kind of question, the entities found, the themes of the first hits."""

from collections.abc import Sequence

from deep_research.data import (
    Action,
    Brief,
    Claim,
    Decision,
    Discovery,
    Passage,
    QueryAnalysis,
    Question,
    Section,
    Turn,
    Verdict,
)
from deep_research.i18n.catalog import phrase
from deep_research.ports import Library
from deep_research.reasoners.extractive import question_analysis as questions
from deep_research.reasoners.extractive.document_names import called
from deep_research.reasoners.extractive.section_reviews import review
from deep_research.reasoners.extractive.topic_clusters import themes
from deep_research.text.question_terms import Asked, asked_of, is_answered, passage_terms, units_for, without_furniture
from deep_research.text.tokens import content_terms
from deep_research.verification.drafts import parse_draft

MIN_SECTIONS, MAX_SECTIONS = 3, 7
_OWN_PAGE = 60
"""Passages of a document that the question calls by its name that themes are taken from."""
_USED = 2
"""How often the documents must use a name before it is taken for one."""
_WHEN_WORDS = {
    "en": "when to use suited for advantages limitations recommended",
    "zh": "适合 适用场景 优点 缺点 局限 建议",
    "ko": "적합 사용 장점 단점 한계 권장",
    "ja": "適する 用途 利点 欠点 限界 推奨",
}


def plan(
    question: Question,
    analysis: QueryAnalysis,
    decision: Decision,
    discovery: Discovery | None,
    first_hits: Sequence[Passage],
    library: Library,
) -> Brief:
    """Return a brief with 3–7 sections; fewer only when the first hits show fewer themes."""
    text, language = decision.refined_question or question.text, question.language
    asked = asked_of(question.model_copy(update={"text": text}), analysis, first_hits)
    if analysis.query_type == "comparison" and len(analysis.subjects) >= 2:
        analysis = analysis.model_copy(update={"subjects": whole_names(analysis.subjects, first_hits)})
        sections = _comparison(asked, analysis, language)
    elif discovery is not None and discovery.total_found >= 2 and _answers(text, language, first_hits, library):
        sections = _per_entity(asked, analysis, discovery, language)
    else:
        sections = _themes(asked, first_hits, library, text, language)
        sections = _suggested(decision.suggested_focus, text, first_hits, language) or sections
    return Brief(
        title=_title(text, analysis, language),
        objective=phrase("objective", language, question=text),
        scope=phrase("default_scope", language),
        assumptions=decision.assumptions,
        language=language,
        output_format=analysis.output_format,
        sections=tuple(_distinct(sections)[:MAX_SECTIONS]),
    )


def _answers(text: str, language: str, hits: Sequence[Passage], library: Library) -> bool:
    titles = {s.id: s.title for s in library.sources()}
    said = [passage_terms(p, titles.get(p.source, "")) for p in hits]
    return is_answered(units_for(text, language, hits), said)


def _title(text: str, analysis: QueryAnalysis, language: str) -> str:
    if analysis.query_type == "comparison" and len(analysis.subjects) >= 2:
        return phrase("comparison_of", language, subjects=", ".join(analysis.subjects))
    line = " ".join(text.split())
    line = line.rstrip("?？。.!！ ") if len(line) <= 110 else line[:107].rstrip() + "…"
    return line[:1].upper() + line[1:]


def whole_names(subjects: Sequence[str], hits: Sequence[Passage]) -> tuple[str, ...]:
    """Return `subjects` with the noun they share given to each, where the documents use it so.

    "logical and streaming replication" is about logical replication; "Rust and Go modules" is not about
    Rust modules, unless the documents have them.
    """
    _, _, shared = subjects[-1].partition(" ")
    if not shared or not subjects[-1].isascii():
        return tuple(subjects)
    text = " ".join(" ".join(p.text.split()) for p in hits).casefold()
    fuller = {s: f"{s} {shared}" for s in subjects[:-1] if not s.casefold().endswith(shared.casefold())}
    used = {s: full for s, full in fuller.items() if text.count(full.casefold()) >= _USED}
    return tuple(used.get(s, s) for s in subjects)


def _comparison(asked: Asked, analysis: QueryAnalysis, language: str) -> list[Section]:
    field = questions.subjects(asked.text).context
    when = _WHEN_WORDS.get(asked.language, _WHEN_WORDS["en"])
    sections = [_about(s, [f"{s} {field}".strip(), f"{s} {when}"], language) for s in analysis.subjects]
    joined = " ".join(analysis.subjects)
    direct = Section(
        title=phrase("head_to_head", language),
        description=phrase("section_about", language, subject=", ".join(analysis.subjects)),
        queries=(asked.text, f"{joined} {field}".strip()),
    )
    choosing = Section(
        title=phrase("choosing", language),
        description=phrase("section_about", language, subject=phrase("when_to_use", language)),
        queries=(f"{when} {joined}",),
    )
    return [*sections[: MAX_SECTIONS - 2], direct, choosing]


def _about(subject: str, queries: list[str], language: str) -> Section:
    return Section(
        title=subject,
        description=phrase("section_about", language, subject=subject),
        subject=subject,
        queries=tuple(dict.fromkeys(queries)),
    )


def _on(theme: str, queries: list[str], language: str) -> Section:
    """A section on a theme: it prefers what is said about it but, having no subject, excludes nothing."""
    return _about(theme, queries, language).model_copy(update={"subject": ""})


def _per_entity(asked: Asked, analysis: QueryAnalysis, discovery: Discovery, language: str) -> list[Section]:
    when = _WHEN_WORDS.get(asked.language, _WHEN_WORDS["en"])
    asks_when = analysis.output_format == "table"
    names = [e.name for e in discovery.entities]
    overview = Section(
        title=phrase("overview", language),
        description=phrase("section_about", language, subject=analysis.discovery_target),
        queries=(asked.text, f"{asked.target} {' '.join(names)}"),
    )
    entities = [
        _about(name, [f"{name} {asked.target}", *([f"{name} {when}"] if asks_when else [])], language)
        for name in names[: MAX_SECTIONS - 1]
    ]
    return [overview, *entities]


def _themes(asked: Asked, hits: Sequence[Passage], library: Library, text: str, language: str) -> list[Section]:
    """Sections on what the best first hits stand under; one survey where they do not answer the question."""
    titles = {s.id: s.title for s in library.sources()}
    wanted = units_for(text, language, hits)
    about = phrase("section_about", language, subject=asked.text)
    survey = Section(title=phrase("overview", language), description=about, queries=_queries(text, asked))
    if not _answers(text, language, hits, library):
        return [survey]
    own_pages = called(f"{text} {asked.text}", library.sources())
    found = {p.id: p for p in [*hits, *(p for key in sorted(own_pages) for p in library.passages(key)[:_OWN_PAGE])]}
    labels = themes(wanted, [*found.values()], titles, asked.text, language=asked.language, called=own_pages)
    sections = [_on(label, [f"{label} {without_furniture(asked.text)}", label], language) for label in labels]
    return sections if len(sections) >= MIN_SECTIONS else [survey, *sections]


def _suggested(points: Sequence[str], topic: str, hits: Sequence[Passage], language: str) -> list[Section]:
    """Sections on the points of a template that the first hits speak of; none when they speak of less than two."""
    said = {term for passage in hits for term in content_terms(passage.text)}
    spoken = [point for point in points if said & set(content_terms(point))]
    return [_on(point, [f"{topic} {point}"], language) for point in spoken] if len(spoken) >= 2 else []


def _queries(text: str, asked: Asked) -> tuple[str, ...]:
    return tuple(dict.fromkeys([without_furniture(asked.text), without_furniture(text)]))


def _distinct(sections: list[Section]) -> list[Section]:
    return list({section.title.casefold(): section for section in reversed(sections)}.values())[::-1]


def delegate(brief: Brief, sections: Sequence[Section], turns: Sequence[Turn], library: Library) -> list[Action]:
    """Return the delegations of the next round; research_complete when nothing is pending or weak."""
    topics = {s.title: s.title for s in sections if s.status == "pending"} or _weak(brief, sections, library)
    prefix = f"r{len(turns) + 1}"
    if not topics:
        return [Action(id=f"{prefix}done", name="research_complete")]
    return [
        Action(id=f"{prefix}d{i}", name="conduct_research", query=topic, source=title)
        for i, (title, topic) in enumerate(topics.items(), 1)
    ]


def _weak(brief: Brief, sections: Sequence[Section], library: Library) -> dict[str, str]:
    """The sections that its review sends back, with what is missing."""
    begun = [s for s in sections if s.attempts]
    judged = review(brief, begun, [claim for s in begun for claim in _claims(s)], library)
    notes = {row.title: row.notes for row in judged.section_coverage}
    return {title: notes[title] or title for title in judged.sections_to_retry}


def _claims(section: Section) -> list[Claim]:
    """A finished section holds checked sentences only: those that cite are its supported claims."""
    checked = Verdict(kind="supported", reason="")
    return [
        Claim(id=f"c{i}", section=section.title, text=said.text, passages=said.passages, verdict=checked)
        for i, said in enumerate(parse_draft(section.content).sentences)
        if said.passages
    ]
