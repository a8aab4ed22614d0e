"""The `quick` workflow (contract row B13): one ReAct turn, with the usual checks.

answer_plan → researcher (researcher_invoke ⇄ tools → compress_output) → final_report. No question back,
no plan, no review: for questions that one researcher answers.
"""

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from deep_research.data import Decision
from deep_research.events import Planned, StageStarted
from deep_research.graph.final_report import final_report
from deep_research.graph.graph_state import AgentState
from deep_research.graph.plan_nodes import one_section
from deep_research.graph.researcher import build_researcher, task_for
from deep_research.run_context.context import RunContext


async def answer_plan(state: AgentState, runtime: Runtime[RunContext]) -> Command[str]:
    """Send the question to one researcher as it stands."""
    ctx, question = runtime.context, state["question"]
    update = one_section(question.language, question.text, is_whole=True)
    (section,) = update["sections"]
    ctx.emit(StageStarted(stage="research"))
    ctx.emit(Planned(title=question.text, sections=(section.title,)))
    update |= {"whole": section, "decision": Decision(next_action="START_RESEARCH", confidence=1.0, goal=question.text)}
    return Command(goto=Send("researcher", task_for(section, update["brief"], ctx.settings)), update=update)


def build_quick() -> StateGraph[AgentState, RunContext, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = StateGraph(AgentState, context_schema=RunContext)
    graph.add_node("answer_plan", answer_plan, destinations=("researcher",))
    graph.add_sequence([("researcher", build_researcher()), final_report])
    graph.add_edge(START, "answer_plan")
    graph.add_edge("final_report", END)
    return graph
