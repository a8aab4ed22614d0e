"""Answers of a model as data nouns: what does not exist is left out."""

import re
from collections.abc import Mapping, Sequence

from deep_research.data import (
    Advice,
    AnsweredPart,
    Brief,
    Clarification,
    Composition,
    Computation,
    Contradiction,
    Decision,
    DiscoveredItem,
    Discovery,
    Limit,
    Operand,
    PlanEdit,
    QueryAnalysis,
    Question,
    Review,
    Section,
    SectionDraft,
    SectionReview,
    SectionText,
    Side,
)
from deep_research.i18n.catalog import phrase
from deep_research.ports import Library
from deep_research.reasoners.model.answer_schemas import (
    AnalyzeAnswer,
    ComposeAnswer,
    ComputationAnswer,
    DecideAnswer,
    EntitiesAnswer,
    PlanAnswer,
    PlanEditsAnswer,
    ReviewAnswer,
    RevisedPlanAnswer,
    SectionAnswer,
    SectionPlan,
    SectionReviewAnswer,
)
from deep_research.verification.titles import founded_title, plain_title

_HIGH = re.compile(r"^#{1,2}\s+(?=\S)")
"""A heading of the level of the report's own."""
_FRAME = re.compile(r"^[\s#*_]*(?:\d+(?:\.\d+)*[.)、．]?\s+)?|[\s*_:：#]+$")
_UNSURE = 0.4
_MAX_PARTS, _MAX_QUERIES, _MAX_COVERS, _MAX_TERMS, _MAX_MISSING, _MAX_ADVICE = 12, 4, 12, 12, 6, 12
_MAX_COMMANDS = 80


def decision_of(answer: DecideAnswer, question: Question) -> Decision:
    """Return what intake decided.

    Who asks and names no goal is sure of asking, not of the question: such an answer counts as unsure.
    """
    asks = bool(answer.question.strip())
    lost = answer.next_action == "NEED_CLARIFICATION" and asks and not answer.goal.strip()
    clarification = Clarification(
        question=answer.question.strip(), options=_distinct(answer.options), missing_info=answer.missing_info
    )
    return Decision(
        next_action=answer.next_action,
        confidence=min(answer.confidence, _UNSURE) if lost else answer.confidence,
        goal=answer.goal,
        research_focus=_distinct(answer.research_focus),
        unknown_terms=_distinct(answer.unknown_terms),
        refined_question=answer.refined_question.strip() or question.text,
        reasoning=answer.reasoning,
        verification=answer.verification,
        clarification=clarification if asks else None,
        assumptions=_distinct(answer.assumptions),
    )


def _distinct(texts: list[str]) -> tuple[str, ...]:
    """Each text once, on one line, without the empty ones."""
    return tuple(dict.fromkeys(line for text in texts if (line := " ".join(text.split()))))


def plan_edits_of(answer: PlanEditsAnswer, said: str) -> tuple[PlanEdit, ...]:
    """Return the changes that a model read out of what the user said."""
    return tuple(
        PlanEdit(
            change=edit.change,
            sections=tuple(edit.sections),
            to=edit.to,
            text=edit.text.strip(),
            detail=edit.detail.strip(),
            said=said,
        )
        for edit in answer.edits
    )


def analysis_of(answer: AnalyzeAnswer) -> QueryAnalysis:
    """Return what kind of question it is, with its parts."""
    return QueryAnalysis(
        **answer.model_dump(exclude={"subjects", "parts"}),
        subjects=tuple(answer.subjects),
        parts=_distinct(answer.parts)[:_MAX_PARTS],
    )


def discovery_of(answer: EntitiesAnswer, library: Library) -> Discovery:
    """Return the entities that a passage names."""
    items: list[DiscoveredItem] = []
    for entity in answer.entities:
        known = tuple(key for key in entity.passages if library.passage(key) is not None)
        if not known:
            continue  # an entity that no passage names was not found
        source = library.source(known[0].split("p")[0])
        items.append(
            DiscoveredItem(
                name=entity.name,
                category=entity.category,
                brief=entity.brief,
                source=source.title if source else "",
                urls=(source.url,) if source and source.url else (),
                priority=entity.priority,
                passages=known,
            )
        )
    return Discovery(
        entities=tuple(items),
        summary=answer.summary,
        categories=tuple(answer.categories),
        search_coverage=answer.search_coverage,
    )


def brief_of(
    answer: PlanAnswer,
    question: Question,
    analysis: QueryAnalysis,
    decision: Decision,
    discovery: Discovery | None,
    max_sections: int,
) -> Brief:
    """Return the plan, each title once, at most `max_sections`."""
    names = {e.name.casefold(): e.name for e in discovery.entities} if discovery else {}
    return Brief(
        title=answer.title or question.text,
        objective=answer.objective,
        scope=answer.scope,
        assumptions=decision.assumptions,
        language=question.language,
        output_format=analysis.output_format,
        sections=_planned(answer.sections, names, max_sections),
        glossary=_distinct(answer.glossary)[:_MAX_TERMS],
        parts=analysis.parts,
    )


def _planned(plans: Sequence[SectionPlan], names: Mapping[str, str], most: int) -> tuple[Section, ...]:
    """Return planned sections, each title once, at most `most`; `names` are those of entities, by their lower case."""
    sections = [
        Section(
            title=" ".join(planned.title.split()),
            description=planned.description,
            queries=_distinct(planned.queries)[:_MAX_QUERIES],
            covers=_distinct(planned.covers)[:_MAX_COVERS],
            subject=names.get(planned.title.strip().casefold(), ""),
        )
        for planned in plans
    ]
    distinct = {s.title.casefold(): s for s in reversed(sections) if s.title}
    return tuple(list(distinct.values())[::-1][:most])


def revised_brief(answer: RevisedPlanAnswer, brief: Brief, found: Sequence[str], most: int) -> Brief:
    """Return a plan with the outline of an answer; its titles state no number that nothing found has named.

    `found` are the texts of what was found.
    """
    names = {section.subject.casefold(): section.subject for section in brief.sections if section.subject}
    revised = brief.model_copy(update={"sections": _planned(answer.sections, names, most)})
    question = Question(text=brief.question or brief.title, language=brief.language)
    titled = with_founded_titles(revised, question, [*found, *(s.title for s in brief.sections)], None)
    return titled.model_copy(update={"title": brief.title}) if titled.sections else brief


def with_founded_titles(brief: Brief, question: Question, found: Sequence[str], discovery: Discovery | None) -> Brief:
    """Return the plan with titles that state no number which neither the user nor a passage has named.

    Without an id or a mark, and short: a title is never verified later.
    """
    known = [question.text, *(turn.text for turn in question.history), *found]
    known += [f"{entity.name} {entity.brief}" for entity in discovery.entities] if discovery else []
    evidence = "\n".join(known)
    sections = [
        section.model_copy(
            update={
                "title": founded_title(
                    section.title, evidence, section.subject or phrase("section_number", brief.language, number=number)
                )
            }
        )
        for number, section in enumerate(brief.sections, 1)
    ]
    title = founded_title(brief.title, evidence, plain_title(question.text))
    return brief.model_copy(update={"title": title, "sections": tuple(sections)})


def section_draft_of(answer: SectionAnswer, title: str) -> SectionDraft:
    """Return a section as it was written."""
    return SectionDraft(
        content=below_title(answer.content, title),
        key_findings=tuple(answer.key_findings),
        computations=computations_of(answer.computations),
        missing=_distinct(answer.missing)[:_MAX_MISSING],
        dropped=_distinct(answer.dropped),
    )


def below_title(content: str, title: str) -> str:
    """Return the text of a section without a heading that only repeats its title; other headings below it."""
    lines = content.strip().split("\n")
    if _bare(lines[0]) == _bare(title):
        lines = lines[1:]
    in_code = False
    for number, line in enumerate(lines):
        in_code ^= line.lstrip().startswith("```")
        lines[number] = line if in_code else _HIGH.sub("### ", line)
    return "\n".join(lines).strip()


def computations_of(answers: list[ComputationAnswer]) -> tuple[Computation, ...]:
    """Return the arithmetic that a writer asks for; a name that is used twice counts once."""
    made = {
        answer.name.strip("{} "): Computation(
            name=answer.name.strip("{} "),
            expression=answer.expression,
            operands=tuple(
                Operand(name=o.name.strip(), value=o.value, passage=o.passage.strip("[] ")) for o in answer.operands
            ),
            unit=answer.unit,
            decimals=answer.decimals,
        )
        for answer in reversed(answers)
    }
    return tuple(reversed(made.values()))


def _bare(line: str) -> str:
    """A heading without its marks and its number, for comparison."""
    return _FRAME.sub("", line).casefold()


def review_of(answer: ReviewAnswer) -> Review:
    """Return the review; a section that it names to be retried is covered in part at most."""
    retry = () if answer.is_sufficient else tuple(answer.sections_to_retry)
    return Review(
        is_sufficient=answer.is_sufficient,
        overall_score=answer.overall_score,
        section_coverage=tuple(
            SectionReview(
                title=row.title,
                status=row.status,
                notes=row.notes,
                retry=row.title in retry,
                queries=_distinct(row.queries)[:_MAX_QUERIES] if row.title in retry else (),
            )
            for row in answer.section_coverage
        ),
        gaps=tuple(answer.gaps),
        sections_to_retry=retry,
        contradictions=tuple(
            Contradiction(
                topic=found.topic,
                prevails=" ".join(found.prevails.split()),
                sides=tuple(
                    Side(statement=s.statement, passages=tuple(key.strip("[] ") for key in s.passages))
                    for s in found.sides
                ),
            )
            for found in answer.contradictions
        ),
        reasoning=answer.reasoning,
    )


def section_review_of(answer: SectionReviewAnswer, title: str) -> SectionReview:
    """Return how a section is covered; it goes out again where a new query is named for what is missing, or where the
    text itself is at fault."""
    missing, queries = _distinct(answer.missing)[:_MAX_QUERIES], _distinct(answer.queries)[:_MAX_QUERIES]
    faults = _distinct(answer.faults)[:_MAX_QUERIES]
    return SectionReview(
        title=title,
        status=answer.status,
        notes="; ".join(missing),
        score=answer.score,
        retry=bool(faults) or (answer.status != "sufficient" and bool(missing and queries)),
        missing=missing,
        queries=queries if missing else (),
        faults=faults,
    )


def _lines_to_type(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of what a step types, without the fence or marks around them; those of a script keep their indent."""
    lines = [line.rstrip() for text in texts for line in text.strip("\n").splitlines() if not line.startswith("```")]
    shown = [line.strip("`") if line.startswith("`") and line.endswith("`") else line for line in lines]
    while shown and not shown[-1]:
        shown.pop()
    return tuple(shown[:_MAX_COMMANDS])


def composition_of(answer: ComposeAnswer) -> Composition:
    """Return the report as it was written; advice without an action is left out."""
    return Composition(
        abstract=answer.answer,
        conclusion=answer.conclusion,
        table=answer.table,
        parts=tuple(AnsweredPart(text=p.text, answered=p.answered, where=_distinct(p.where)) for p in answer.parts),
        advice=tuple(
            Advice(
                case=a.case.strip(),
                action=a.action.strip(),
                why=a.why.strip(),
                how=_distinct(a.how),
                condition=a.condition.strip(),
                fallback=a.fallback.strip(),
                commands=_lines_to_type(a.commands),
                premises=tuple(dict.fromkeys(key.strip("[] ") for key in a.premises)),
            )
            for a in answer.advice[:_MAX_ADVICE]
            if a.action.strip()
        ),
        sections=tuple(
            SectionText(title=plain_title(s.title), content=below_title(s.content, s.title), notes=_distinct(s.notes))
            for s in answer.sections
            if s.title.strip()
        ),
        advice_after=plain_title(answer.advice_after),
        limits=tuple(
            Limit(text=x.text.strip(), searched=_distinct(x.searched)) for x in answer.limits if x.text.strip()
        ),
        computations=computations_of(answer.computations),
    )
