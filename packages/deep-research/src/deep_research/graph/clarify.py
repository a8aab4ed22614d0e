"""Start every workflow: understand the question, or ask one thing at a time.

Each question to the user is a round of the node with a checkpoint of its own, so that a run that waits for days
repeats nothing but the last judgement, which the journal holds.
"""

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from deep_research.concurrency import side_by_side
from deep_research.conversation.replies import pick_options
from deep_research.data import Asked, Decision, Question, Turn
from deep_research.events import RunDeclined, StageStarted, Understood
from deep_research.graph.graph_state import AgentState, Node
from deep_research.graph.run_graph import ask_user
from deep_research.i18n.catalog import phrase
from deep_research.run_context.context import RunContext
from deep_research.steps import intake, plan


def clarify_then(node: str) -> Node[AgentState]:
    """Return a clarify node that leads to `node` and repeats after each answer."""

    async def clarify(state: AgentState, runtime: Runtime[RunContext]) -> Command[str]:
        """Decide whether the question is understood; if not, ask one thing at a time."""
        ctx, question, rounds = runtime.context, state["question"], state.get("clarification_rounds", 0)
        if state.get("brief"):  # taken over from an earlier run
            return Command(goto=node)
        if not state.get("pending_question"):
            ctx.emit(StageStarted(stage="clarify"))
        decision, looked = await _judged(ctx, question, rounds, looks=not (rounds or state.get("pending_question")))
        asked = decision.clarification
        if decision.next_action != "NEED_CLARIFICATION" or asked is None:
            update = {"discovery_turns": looked} if looked else {}
            return _settle(ctx, question, decision, node, state["messages"], **update)
        if state.get("pending_question") != asked.question:  # on disk before the user is asked
            return Command(goto="clarify", update={"pending_question": asked.question})
        said = ask_user(Asked(question=asked.question, options=asked.options, missing_info=asked.missing_info))
        answer = pick_options(said, asked.options)
        question = intake.answered(question, asked.question, answer)
        if intake.refuses(ctx, answer, question):
            decision = intake.start_anyway(decision, question, places=ctx.places_named(question.language))
            return _settle(ctx, question, decision, node, state["messages"])
        answered = {"question": question, "clarification_rounds": rounds + 1, "pending_question": ""}
        return Command(goto="clarify", update=answered)

    return clarify


async def _judged(ctx: RunContext, question: Question, rounds: int, *, looks: bool) -> tuple[Decision, list[Turn]]:
    """Return the decision and the turns of a first look made at the same time.

    The look is made only where a language model judges.
    """
    if not (looks and ctx.reasoner.info.is_language_model) or question.history:
        return await intake.decide(ctx, question, rounds=rounds), []
    decision, looked = await side_by_side(
        (intake.decide(ctx, question, rounds=rounds), plan.look_around(ctx, question))
    )
    return cast("Decision", decision), cast("list[Turn]", looked)


def _settle(
    ctx: RunContext, question: Question, decision: Decision, node: str, said: Sequence[AnyMessage], **more: Any
) -> Command[str]:
    known = {(message.type, message.text) for message in said}
    kinds = {"assistant": AIMessage, "user": HumanMessage}
    history = [kinds[m.role](content=m.text) for m in question.history]
    refined = question.model_copy(update={"text": decision.refined_question or question.text})
    update: dict[str, Any] = {
        "question": refined,
        # Where nobody was asked and nothing was said before, the user's own words are what is analysed.
        "asked": refined if question.history else question,
        "decision": decision,
        "pending_question": "",
        "messages": [message for message in history if (message.type, message.text) not in known],
        **more,
    }
    if decision.next_action == "CANNOT_DO":
        reason = decision.reasoning.strip() or phrase("cannot_do", question.language)
        ctx.emit(RunDeclined(reason=reason, by="program"))
        update["messages"].append(AIMessage(content=reason))
        return Command(goto=END, update={**update, "final_report": reason})
    ctx.emit(
        Understood(
            question=decision.refined_question,
            verification=decision.verification,
            assumptions=decision.assumptions,
            confidence=decision.confidence,
        )
    )
    update["messages"].append(AIMessage(content=decision.verification))
    return Command(goto=node, update=update)
