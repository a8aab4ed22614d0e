"""The confirmation of a plan by the user, in every workflow that plans (contract row A6).

The planning node goes to `confirm_plan` with its brief in the state and no sections; `confirm_plan` shows it, comes
back to itself after each change, and returns to the planning node when it is confirmed, which then takes the brief
as it is. Each round has a checkpoint of its own.
"""

from collections.abc import Awaitable
from typing import Any, Protocol

from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from deep_research.conversation.plan_edits import PlanAnswer, read_plan_answer
from deep_research.conversation.replies import chosen
from deep_research.events import Planned, RunDeclined
from deep_research.graph.graph_state import AgentState
from deep_research.graph.run_graph import ask_user
from deep_research.i18n.catalog import phrase
from deep_research.run_context.context import RunContext
from deep_research.steps import plan
from deep_research.steps import plan as confirm


class _Node(Protocol):
    """A node, as LangGraph calls it."""

    def __call__(self, state: AgentState, runtime: Runtime[RunContext]) -> Awaitable[Command[str]]: ...


def confirm_plan_then(node: str) -> _Node:
    """Return the node that has a plan confirmed and goes (back) to `node` with it."""

    async def confirm_plan(state: AgentState, runtime: Runtime[RunContext]) -> Command[str]:
        """Show the plan; take a yes, a no, changes, or a wish to plan anew with."""
        ctx, brief, rounds = runtime.context, state["brief"], state.get("plan_rounds", 0)
        if rounds >= ctx.settings.max_plan_rounds:
            return _rejected(ctx, phrase("plan_unconfirmed", brief.language, rounds=rounds))
        asked = confirm.asked(brief, ctx.settings, state.get("plan_problems", ()))
        answer = chosen(ask_user(asked), asked.options)
        said = read_plan_answer(answer, brief, max_sections=ctx.settings.max_sections)
        if said.kind == "rejected":
            return _rejected(ctx, phrase("plan_rejected", brief.language))
        if said.kind == "confirmed":
            ctx.emit(Planned(title=brief.title, sections=tuple(s.title for s in brief.sections)))
            return Command(goto=node)
        changed = await _replanned(state, ctx, said) if said.kind == "wish" else _edited(said)
        return Command(goto="confirm_plan", update={**changed, "plan_rounds": rounds + 1})

    return confirm_plan


def _rejected(ctx: RunContext, reason: str) -> Command[str]:
    ctx.emit(RunDeclined(reason=reason, by="user"))
    return Command(goto=END, update={"final_report": reason, "declined_by": "user"})


def _edited(said: PlanAnswer) -> dict[str, Any]:
    return {"brief": said.brief, "research_brief": said.brief.objective, "plan_problems": list(said.problems)}


async def _replanned(state: AgentState, ctx: RunContext, said: PlanAnswer) -> dict[str, Any]:
    question, decision = confirm.wished(state["question"], state["decision"], state["brief"], said.wish)
    found, turns = state.get("discovery"), state.get("discovery_turns", [])
    brief = await plan.plan(ctx, question, state["analysis"], decision, found, turns)
    update = {"question": question, "decision": decision, "brief": brief, "research_brief": brief.objective}
    return {**update, "plan_problems": []}
