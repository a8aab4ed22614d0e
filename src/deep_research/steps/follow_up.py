"""A question about a finished report: first from what the run has read, by new searches where that says nothing."""

import asyncio

from deep_research.data import Action, Brief, Decision, FoundIn, Ledger, Question, Report, Section, Turn
from deep_research.i18n.catalog import phrase
from deep_research.run_context.context import RunContext
from deep_research.steps import search
from deep_research.steps.research import noted_passages
from deep_research.text.question_terms import is_answered, passage_terms, units_for, with_translations

_CONSIDERED = 16
"""Passages that may show that the library has an answer."""


async def understand(ctx: RunContext, question: Question, understood: str) -> Decision:
    """Return the decision to answer `question`, put so that it is understandable without the conversation.

    A model does that from the question's history; without one `understood` is what code made of it.
    """
    plain = Decision(next_action="START_RESEARCH", confidence=1.0, goal=understood, refined_question=understood)
    if ctx.reasoner.info.kind == "extractive":
        return plain
    judged = await ctx.reasoner.decide(question, rounds=0)
    if judged.next_action == "CANNOT_DO":
        return judged
    # Nothing is asked back: what is asked of a report can be looked for as it stands.
    return plain.model_copy(
        update={"refined_question": judged.refined_question or understood, "goal": judged.goal or understood}
    )


async def recall(ctx: RunContext, brief: Brief) -> list[Turn]:
    """Look into what the run has read; no place is searched."""
    queries = dict.fromkeys([with_translations(brief.title, brief.language), brief.title])
    actions = [Action(id=f"m{i}", name="recall", query=query) for i, query in enumerate(queries, 1)]
    seen = await search.perform(ctx, actions)
    return [Turn(actions=tuple(actions), observations=tuple(seen))]


async def is_known(ctx: RunContext, brief: Brief, turns: list[Turn]) -> bool:
    """Whether a passage that was recalled covers at least half of what is asked (`topic.is_answered`)."""
    return await asyncio.to_thread(_is_known, ctx, brief, turns)


def _is_known(ctx: RunContext, brief: Brief, turns: list[Turn]) -> bool:
    passages = noted_passages(turns, ctx.library, limit=_CONSIDERED)
    titles = {p.source: source.title for p in passages if (source := ctx.library.source(p.source)) is not None}
    said = [passage_terms(p, titles.get(p.source, "")) for p in passages]
    return bool(said) and is_answered(units_for(brief.title, brief.language, passages), said)


def section_of(question: str, language: str) -> Section:
    """Return the one section of an answer."""
    return Section(title=phrase("answer", language), description=question, queries=(question,), attempts=1)


def addressed(report: Report, *, found_in: FoundIn, known_sources: int) -> Report:
    """Return the report of a follow-up with a line that says where the answer comes from.

    `known_sources` had been read before; its ledger counts only the others.
    """
    language = report.language
    own = report.ledger.model_copy(update={"fetches": max(0, report.ledger.fetches - known_sources)})
    name = "from_library" if found_in == "library" else "from_research" if report.answered else "from_neither"
    note = phrase(name, language, searches=own.searches)
    head = f"**{phrase('question', language)}:**"
    lines = report.report.replace(_cost(report.ledger, language), _cost(own, language)).split("\n")
    place = next((i for i, line in enumerate(lines) if line.startswith(head)), 0)
    markdown = "\n".join([*lines[: place + 1], "", f"*{note}*", *lines[place + 1 :]])
    return report.model_copy(update={"ledger": own, "report": markdown})


def _cost(ledger: Ledger, language: str) -> str:
    return phrase(
        "cost",
        language,
        seconds=f"{ledger.seconds:.1f}",
        searches=ledger.searches,
        sources=ledger.fetches,
        calls=ledger.model_calls,
    )
