"""A question about a finished report: first from what the run has read, by new searches where that says nothing."""

import asyncio

from deep_research.conversation.remarks import read_remark
from deep_research.data import Action, Brief, Decision, Question, Section, Turn
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
    if not ctx.reasoner.reads_conversation:
        remark = read_remark(question.text)
        if remark is None or remark.kind == "section":
            return plain
        return plain.model_copy(
            update={"next_action": "CANNOT_DO", "reasoning": phrase("remark_no_question", question.language)}
        )
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
    """Return whether a passage that was recalled covers at least half of what is asked (`question_terms.is_answered`)."""
    return await asyncio.to_thread(_is_known, ctx, brief, turns)


def _is_known(ctx: RunContext, brief: Brief, turns: list[Turn]) -> bool:
    passages = noted_passages(turns, ctx.library, limit=_CONSIDERED)
    titles = {p.source: source.title for p in passages if (source := ctx.library.source(p.source)) is not None}
    said = [passage_terms(p, titles.get(p.source, "")) for p in passages]
    return bool(said) and is_answered(units_for(brief.title, brief.language, passages), said)


def section_of(question: str, language: str) -> Section:
    """Return the one section of an answer."""
    return Section(title=phrase("answer", language), description=question, queries=(question,), attempts=1)
