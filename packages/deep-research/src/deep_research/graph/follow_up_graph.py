"""Answer a follow-up: understand → recall → research_again → final_report.

One researcher begins with what the run has read about the question, and searches only where that says too little.
"""

from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from deep_research.conversation.replies import read_remark
from deep_research.data import LIBRARY, Action, Decision, Turn
from deep_research.events import Planned, StageStarted
from deep_research.graph.final_report import final_report
from deep_research.graph.graph_state import AgentState
from deep_research.graph.plan_nodes import one_section
from deep_research.graph.researcher import build_researcher, task_for
from deep_research.i18n.catalog import phrase
from deep_research.run_context.context import RunContext
from deep_research.steps import search


async def understand(state: AgentState, runtime: Runtime[RunContext]) -> Command[str]:
    """Rewrite the question to name its topic and stand without the conversation."""
    ctx, asked, understood = runtime.context, state["question"], state["understood"]
    if not ctx.reasoner.reads_conversation and read_remark(asked.text) is not None:
        reason = phrase("remark_no_question", asked.language)
        judged = Decision(next_action="CANNOT_DO", confidence=1.0, goal=understood, reasoning=reason)
    else:
        judged = await ctx.reasoner.decide(asked.model_copy(update={"text": understood}), rounds=0)
    if judged.next_action == "CANNOT_DO":
        return Command(goto=END, update={"decision": judged, "final_report": judged.reasoning})
    text = judged.refined_question or understood
    # Nothing is asked back: what is asked of a report can be looked for as it stands.
    decision = Decision(
        next_action="START_RESEARCH",
        confidence=1.0,
        goal=judged.goal or understood,
        refined_question=text,
        assumptions=(*state["assumptions"], *judged.assumptions),
    )
    return Command(goto="recall", update={"decision": decision, **one_section(asked.language, text, subject=text)})


async def recall(state: AgentState, runtime: Runtime[RunContext]) -> Command[Literal["research_again"]]:
    """Pass recalled passages to a researcher, who searches only for what is missing."""
    ctx, brief = runtime.context, state["brief"]
    ctx.emit(StageStarted(stage="recall"))
    ctx.emit(Planned(title=brief.title, sections=tuple(s.title for s in brief.sections)))
    section = state["sections"][0]
    look = Action(id="m1", name="search", query=brief.title, source=LIBRARY)  # no place is searched
    turn = Turn(actions=(look,), observations=tuple(await search.perform(ctx, (look,))))
    return Command(goto=Send("research_again", task_for(section, brief, ctx.settings, [turn])))


async def answered(state: AgentState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Say where the answer was found: in what the run had read, or by new searches."""
    turns = [turn for turns in state.get("conversations", {}).values() for turn in turns]
    made = any(a.name == "search" and a.source != LIBRARY for turn in turns for a in turn.actions)
    return {"found_in": "research" if made else "library"}


def build_follow_up() -> StateGraph[Any, RunContext, Any, Any]:
    """Return the graph of a follow-up, not compiled."""
    graph = StateGraph(AgentState, context_schema=RunContext)
    graph.add_node("understand", understand, destinations=("recall", END))
    graph.add_node("recall", recall, destinations=("research_again",))
    graph.add_sequence([("research_again", build_researcher()), answered, final_report])
    graph.add_edge(START, "understand")
    graph.add_edge("final_report", END)
    return graph
