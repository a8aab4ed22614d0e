"""The plan: an answer alone for a narrow question, else sections for what it names or for the best documents' headings."""

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
from deep_research.reasoners.extractive.answer_blocks import is_answered
from deep_research.reasoners.extractive.asked_words import is_common, says_each
from deep_research.reasoners.extractive.block_ranking import Candidate, ranked
from deep_research.reasoners.extractive.document_headings import heading_of, telling_headings
from deep_research.reasoners.extractive.document_names import announced_titles
from deep_research.reasoners.extractive.question_analysis import topic_of
from deep_research.reasoners.extractive.question_reading import Reading, read_around
from deep_research.reasoners.extractive.section_reviews import review
from deep_research.text.cleaning import plain_heading
from deep_research.text.question_parts import (
    answer_shape,
    asks_something,
    claimed_ending,
    question_parts,
    with_topics,
)
from deep_research.text.question_terms import Asked, asked_of, topic_words, without_furniture
from deep_research.text.tokens import content_terms
from deep_research.verification.drafts import parse_draft

MIN_SECTIONS, MAX_SECTIONS = 3, 7
_USED = 2
"""How often the documents must use a name before it is taken for one."""


def plan(
    question: Question,
    analysis: QueryAnalysis,
    decision: Decision,
    discovery: Discovery | None,
    first_hits: Sequence[Passage],
    library: Library,
) -> Brief:
    """Return a brief of at most seven sections; of one for a question that one answer settles."""
    text, language = decision.refined_question or question.text, question.language
    asked = asked_of(question.model_copy(update={"text": text}), analysis, first_hits)
    reading = read_around(text, language, first_hits, library)
    if analysis.query_type == "comparison" and len(analysis.subjects) >= 2:
        analysis = analysis.model_copy(update={"subjects": whole_names(analysis.subjects, first_hits)})
        sections = _comparison(asked, analysis, reading, language, library)
    elif discovery is not None and discovery.total_found >= 2 and is_answered(text, reading):
        sections = _per_entity(asked, analysis, discovery, language)
    else:
        sections = _answering(text, asked, analysis, reading, language, library)
        sections = _suggested(decision.suggested_focus, text, first_hits, language) or sections
    return Brief(
        title=_title(text, analysis, language),
        question=text,
        objective=phrase("objective", language, question=text),
        scope=phrase("default_scope", language),
        assumptions=decision.assumptions,
        language=language,
        output_format=analysis.output_format,
        sections=tuple(_distinct(sections)[:MAX_SECTIONS]),
    )


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


def _announced_on(facets: Sequence[str], reading: Reading, library: Library) -> list[str]:
    """Return what is to be searched for beyond the points that are compared: the pages that an introduction to one lists."""
    found: list[str] = []
    for facet in facets:
        wanted = reading.words(facet)
        for region in reading.regions:
            if says_each(wanted, region.title):
                name = plain_heading(region.title)
                found += [f"{name} {plain_heading(title)}" for title in announced_titles(region.source, library)[:2]]
    return list(dict.fromkeys(found))[:2]


def _spelled(facet: str) -> str:
    """Return a point of several words also as the one word that some documents write ("datatypes")."""
    return f"{facet} {facet.replace(' ', '')}" if " " in facet else facet


def _comparison(
    asked: Asked, analysis: QueryAnalysis, reading: Reading, language: str, library: Library
) -> list[Section]:
    topic = topic_of(asked.text)
    points = " ".join([topic.field, *topic.facets]).strip()
    further = _announced_on(topic.facets, reading, library)
    sections = [
        _about(
            s, [f"{s} {points}".strip(), s, *(f"{s} {_spelled(facet)}" for facet in topic.facets), *further], language
        )
        for s in analysis.subjects
    ]
    joined = " ".join(analysis.subjects)
    direct = Section(
        title=phrase("head_to_head", language),
        description=phrase("section_about", language, subject=", ".join(analysis.subjects)),
        queries=(asked.text, f"{joined} {points}".strip()),
    )
    return [*sections[: MAX_SECTIONS - 1], direct]


def _about(subject: str, queries: list[str], language: str) -> Section:
    return Section(
        title=subject,
        description=phrase("section_about", language, subject=subject),
        subject=subject,
        queries=tuple(dict.fromkeys(queries)),
    )


def _on(heading: str, queries: list[str], language: str) -> Section:
    """Return a section on what stands under a heading: it has no subject of its own."""
    return _about(heading, queries, language).model_copy(update={"subject": ""})


def _per_entity(asked: Asked, analysis: QueryAnalysis, discovery: Discovery, language: str) -> list[Section]:
    names = [e.name for e in discovery.entities]
    listed = _answer(asked.text, language, f"{asked.target} {' '.join(names)}")
    return [listed, *(_about(name, [f"{name} {asked.target}", name], language) for name in names[: MAX_SECTIONS - 1])]


def _answer(text: str, language: str, *more: str) -> Section:
    """Return the section that answers the question itself."""
    topics = with_topics(question_parts(text, language))
    # A part by itself says nothing to a search engine where it names nothing: "what else should we change".
    parts = [f"{part} {topic}".strip() for part, topic in topics.items() if topic or not _is_plain(part)]
    queries = [text, *more, *(parts if len(topics) > 1 else ())]
    return Section(
        title=phrase("answer", language),
        description=phrase("section_about", language, subject=text),
        queries=tuple(dict.fromkeys(queries)),
    )


def _is_plain(part: str) -> bool:
    """Return whether a part of a question has only words of every conversation."""
    return all(is_common(word.casefold()) for word in topic_words(part).split())


def _answering(
    text: str, asked: Asked, analysis: QueryAnalysis, reading: Reading, language: str, library: Library
) -> list[Section]:
    """Return the answer alone for a narrow question, else a section for each heading the best blocks stand under."""
    answer = _answer(text, language, without_furniture(asked.text))
    if _is_narrow(text, analysis) or not is_answered(text, reading):
        return [answer]
    words = reading.words(text)
    best = ranked(reading.regions, words, dated=any(sign.isdigit() for sign in text))
    is_topic = not asks_something(text)
    # What stands under a heading that names a topic is about it; what only mentions it says little of it.
    named = [block for block in best if says_each(words, heading_of(block))] if is_topic else []
    labels = telling_headings(named or best, words, language)
    introduction = next((b for b in named if says_each(words, b.region.title) and _announces(b, library)), None)
    if introduction is None and is_topic and best and _announces(best[0], library):
        introduction = best[0]
    if introduction is not None:
        # What an introduction announces is told on the pages that it lists.
        labels = [
            heading_of(introduction),
            *map(plain_heading, announced_titles(introduction.region.source, library)),
        ]
    sections = [_on(label, [f"{label} {without_furniture(asked.text)}", label], language) for label in labels]
    return sections if is_topic and (len(sections) >= MIN_SECTIONS or named) and sections else [answer, *sections]


def _announces(block: Candidate, library: Library) -> bool:
    return bool(announced_titles(block.region.source, library))


def _is_narrow(text: str, analysis: QueryAnalysis) -> bool:
    """Return whether a question asks for a fact, a yes or no, a definition or a procedure."""
    if not asks_something(text):
        return False
    shape = answer_shape(text)
    return analysis.query_type == "general" or shape in ("steps", "definition") or claimed_ending(text) is not None


def _suggested(points: Sequence[str], topic: str, hits: Sequence[Passage], language: str) -> list[Section]:
    """Return sections on the points of a template that the first hits speak of; none when they speak of less than two."""
    said = {term for passage in hits for term in content_terms(passage.text)}
    spoken = [point for point in points if said & set(content_terms(point))]
    return [_on(point, [f"{topic} {point}"], language) for point in spoken] if len(spoken) >= 2 else []


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
    """Return the sections that its review sends back, with what is missing."""
    begun = [s for s in sections if s.attempts]
    judged = review(brief, begun, [claim for s in begun for claim in _claims(s)], library)
    notes = {row.title: row.notes for row in judged.section_coverage}
    return {title: notes[title] or title for title in judged.sections_to_retry}


def _claims(section: Section) -> list[Claim]:
    """Return a finished section holds checked sentences only: those that cite are its supported claims."""
    checked = Verdict(kind="supported", reason="")
    return [
        Claim(id=f"c{i}", section=section.title, text=said.text, passages=said.passages, verdict=checked)
        for i, said in enumerate(parse_draft(section.content).sentences)
        if said.passages
    ]
