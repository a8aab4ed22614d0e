"""A question about a finished report: first from what the run has read, by new searches where that says nothing."""

from deep_research.conversation.replies import read_remark
from deep_research.data import Decision, Question
from deep_research.i18n.catalog import phrase
from deep_research.run_context.context import RunContext


async def understand(ctx: RunContext, question: Question, understood: str) -> Decision:
    """Return the decision to answer `question`, put so that it is understandable without the conversation.

    `understood` is how it was put so far. The reasoner reads the conversation.
    """
    language = question.language
    remark = None if ctx.reasoner.reads_conversation else read_remark(question.text)
    if remark is not None:
        reason = phrase("remark_no_question", language)
        return Decision(next_action="CANNOT_DO", confidence=1.0, goal=understood, reasoning=reason)
    judged = await ctx.reasoner.decide(question.model_copy(update={"text": understood}), rounds=0)
    if judged.next_action == "CANNOT_DO":
        return judged
    # Nothing is asked back: what is asked of a report can be looked for as it stands.
    return Decision(
        next_action="START_RESEARCH",
        confidence=1.0,
        goal=judged.goal or understood,
        refined_question=judged.refined_question or understood,
        assumptions=judged.assumptions,
    )
