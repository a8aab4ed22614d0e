"""Laying out sections without a model: by the kind of question, the entities found, the themes of the first hits."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from deep_research.data import Brief, Decision, Discovery, Passage, QueryAnalysis, Question, Section
from deep_research.ports import Library
from deep_research.reasoners.extractive import questions
from deep_research.reasoners.extractive.crossing import Asked, asked_of
from deep_research.reasoners.extractive.relevance import relevant_sources
from deep_research.text.language import detect
from deep_research.text.phrases import phrase
from deep_research.text.tokens import content_terms

MIN_SECTIONS, MAX_SECTIONS = 3, 7
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|appendix|part)\s+)?(?:\d+(?:\.\d+)*\.?|[A-Z]\.\d+(?:\.\d+)*\.?|[IVX]+\.)\s+", re.IGNORECASE
)
_GENERIC = re.compile(
    r"^(?:introduction|overview|summary|conclusions?|references|abstract|background|results?(?: (?:on|in|of|for|with) .*)?|evaluation.*|experiments?.*|discussion|methods?|notes?|see also|examples?|description"
    r"|parameters|usage|syntax|compatibility|contents|details|limitations?|key (?:points|findings|results|facts|ideas?)|why it matters|how it works|what it is"
    r"|glossary|index|changelog|release .*|what.s new.*|new features|source|the idea|evidence|design|history|acknowledge?ments?|further reading|outputs?|motivation"
    r"|概述|简介|引言|总结|结论|参考文献|背景|结果|方法|局限.*|要点|原理|意义|核心.*|主要.*|实验.*|应用.*|개요|소개|결론|요약|배경|결과|방법|한계.*|핵심.*|의의|주요.*|원리)$",
    re.IGNORECASE,
)
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
        sections = _comparison(asked, analysis, language)
    elif discovery is not None and discovery.total_found >= 2:
        sections = _per_entity(asked, analysis, discovery, language)
    else:
        sections = _themes(asked, first_hits, library, language, deep=analysis.query_type == "deep_dive")
    return Brief(
        title=_title(text, analysis, language),
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


def _themes(asked: Asked, hits: Sequence[Passage], library: Library, language: str, *, deep: bool) -> list[Section]:
    """Sections from what the first hits are titled and headed, different from each other."""
    labels = _labels(asked, hits, library, deep=deep)
    sections = [_on(label, [f"{label} {asked.text}", label], language) for label in labels]
    if len(sections) < MIN_SECTIONS:
        about = phrase("section_about", language, subject=asked.text)
        sections = [Section(title=phrase("overview", language), description=about, queries=(asked.text,)), *sections]
    return sections


def _labels(asked: Asked, hits: Sequence[Passage], library: Library, *, deep: bool) -> list[str]:
    """Titles of the documents about the question where there are enough of them, else (or in depth) their headings."""
    sources = relevant_sources(asked.text, hits, library)
    titles = _plain_titles(sources, library)
    scores: dict[str, float] = defaultdict(float)
    if len(titles) > MIN_SECTIONS and not deep:
        for key, title in titles.items():
            scores[title] += sources[key]
    else:
        for key, score in sources.items():
            for rank, name in enumerate(_headings(key, library)):
                scores[name] += score / (1 + 0.05 * rank)
    for label in scores:
        if detect(label, default=asked.language) != asked.language:
            scores[label] *= 0.5
    return _unlike(scores, frozenset(content_terms(asked.text)))


def _unlike(scores: dict[str, float], asked: frozenset[str]) -> list[str]:
    """The best labels, none that says again what another says."""
    chosen: dict[str, frozenset[str]] = {}
    best = max(scores.values(), default=0.0)
    for label, score in sorted(scores.items(), key=lambda item: -item[1]):
        terms = frozenset(content_terms(label))
        own = terms - asked or terms
        alike = any(len(own & other) / min(len(own), len(other)) >= 0.6 for other in chosen.values() if own and other)
        if own and not alike and score >= 0.45 * best and 2 <= len(label) <= 90:
            chosen[label] = own
        if len(chosen) >= MAX_SECTIONS - 1:
            break
    return list(chosen)


def _headings(key: str, library: Library) -> list[str]:
    """The second-level headings of a document (the first below its title), without numbers and generic ones."""
    snapshot, source = library.snapshot(key), library.source(key)
    if snapshot is None or source is None:
        return []
    levels = sorted({h.level for h in snapshot.headings if h.title != source.title})
    names = [_NUMBERING.sub("", h.title).strip() for h in snapshot.headings if levels and h.level == levels[0]]
    return [name for name in names if name and not _GENERIC.match(name) and name != source.title]


def _plain_titles(sources: Iterable[str], library: Library) -> dict[str, str]:
    """Titles by source id, without numbering and without the suffix that all of a manual's pages share."""
    found = {key: source.title for key in sources if (source := library.source(key)) is not None}
    tails = Counter(re.split(r"\s+[—–|-]\s+", title)[-1] for title in found.values() if re.search(r"\s[—–|-]\s", title))
    plain: dict[str, str] = {}
    for key, title in found.items():
        parts = re.split(r"(\s+[—–|-]\s+)", title)
        if len(parts) > 2 and tails[parts[-1]] >= 2:
            parts = parts[:-2]
        name = _NUMBERING.sub("", "".join(parts)).strip()
        if name and not _GENERIC.match(name):
            plain[key] = name
    return plain


def _distinct(sections: list[Section]) -> list[Section]:
    return list({section.title.casefold(): section for section in reversed(sections)}.values())[::-1]
