"""The front door of every workflow: the question is understood, or the user is asked one thing at a time."""

from collections.abc import Awaitable
from typing import Protocol

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from deep_research.data import Asked
from deep_research.events import StageStarted
from deep_research.graph.driving import ask_user
from deep_research.graph.state import AgentState
from deep_research.steps import intake
from deep_research.steps.context import RunContext
from deep_research.text.answers import wants_to_skip


class _Node(Protocol):
    """A node, as LangGraph calls it."""

    def __call__(self, state: AgentState, runtime: Runtime[RunContext]) -> Awaitable[Command[str]]: ...


def clarify_then(node: str) -> _Node:
    """Return the clarify node of a graph that goes on at `node`."""

    async def clarify(state: AgentState, runtime: Runtime[RunContext]) -> Command[str]:
        """Decide whether the question is understood; ask the user one thing at a time until it is."""
        ctx, question = runtime.context, state["question"]
        ctx.emit(StageStarted(stage="clarify"))
        decision = await intake.decide(ctx, question)
        while decision.next_action == "NEED_CLARIFICATION" and decision.clarification is not None:
            asked = decision.clarification
            answer = ask_user(Asked(question=asked.question, options=asked.options, missing_info=asked.missing_info))
            question = intake.answered(question, asked.question, answer)
            if wants_to_skip(answer):
                decision = intake.start_anyway(decision, question)
            else:
                decision = await intake.decide(ctx, question)
        update = {
            "question": question.model_copy(update={"text": decision.refined_question or question.text}),
            "decision": decision,
            "messages": [_message(m.role, m.text) for m in question.history],
        }
        if decision.next_action == "CANNOT_DO":
            return Command(goto=END, update={**update, "final_report": decision.reasoning})
        return Command(goto=node, update=update)

    return clarify


def _message(role: str, text: str) -> AIMessage | HumanMessage:
    return AIMessage(content=text) if role == "assistant" else HumanMessage(content=text)
