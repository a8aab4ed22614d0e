"""The `loop` workflow (contract rows C1–C4): plan → retrieve → read → reflect → (retrieve …) → report.

One researcher for the whole question: it searches for all sections, reads what came back into findings
with their sources, reflects on what is missing, and searches again until the evidence suffices or
`max_iterations` rounds are used up.
"""

import operator
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from deep_research.concurrency import side_by_side
from deep_research.data import Action, Brief, Section, Turn
from deep_research.events import SectionStarted, StageStarted
from deep_research.graph.clarify import clarify_then
from deep_research.graph.final_report import final_report
from deep_research.graph.graph_state import AgentState, section_reducer
from deep_research.graph.planning import analyze_question, confirm_plan_then, lay_out_plan
from deep_research.run_context.context import RunContext
from deep_research.run_context.steering import Interrupted
from deep_research.steps import research, review, search
from deep_research.steps.plan import needs_confirmation

_QUERIES_PER_ROUND = 12


def union(existing: list[str], updates: list[str]) -> list[str]:
    """Append what is new, in order: reducer of `gathered_info` and `visited_sources`."""
    return list(dict.fromkeys([*existing, *updates]))


class LoopState(AgentState):
    """The state of the loop; names as its design gives them.

    `gathered_info` holds the findings with the ids of their passages, `current_queries` the searches of
    the round, each with the title of the section it serves.
    """

    clarified_query: str
    is_clarified: bool
    gathered_info: Annotated[list[str], union]
    visited_sources: Annotated[list[str], union]
    iteration_count: int
    max_iterations: int
    is_sufficient: bool
    current_queries: list[tuple[str, str]]
    turns: Annotated[list[tuple[str, Turn]], operator.add]


async def plan(state: LoopState, runtime: Runtime[RunContext]) -> Command[Literal["confirm_plan", "retrieve"]]:
    """Lay out 3–5 sections with the queries of the first round."""
    ctx = runtime.context
    if brief := state.get("brief"):  # as the user has confirmed it
        return Command(goto="retrieve", update=_begin(ctx, brief, state))
    update = await analyze_question(state, ctx)
    update |= await lay_out_plan(state, ctx, update["analysis"])
    if needs_confirmation(ctx.settings, state["decision"]):
        return Command(goto="confirm_plan", update=update)
    return Command(goto="retrieve", update={**update, **_begin(ctx, update["brief"], state)})


def _begin(ctx: RunContext, brief: Brief, state: LoopState) -> dict[str, Any]:
    """Return the first round of a plan."""
    sections = _begin_sections(ctx, brief.sections)
    return {
        "sections": sections,
        "clarified_query": state["question"].text,
        "is_clarified": True,
        "iteration_count": 0,
        "max_iterations": ctx.settings.max_iterations,
        "current_queries": _first_queries(sections)[:_QUERIES_PER_ROUND],
    }


def _begin_sections(ctx: RunContext, sections: Sequence[Section]) -> list[Section]:
    """Return the sections in their first round."""
    for section in sections:
        ctx.emit(SectionStarted(section=section.title, attempt=1))
    return [s.model_copy(update={"attempts": 1}) for s in sections]


def _first_queries(sections: Sequence[Section]) -> list[tuple[str, str]]:
    return [(s.title, q) for s in sections for q in (s.queries or (s.title,))]


async def retrieve(state: LoopState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Make the searches of the round side by side; those of the first round also when the user wants the report."""
    ctx, round_ = runtime.context, state["iteration_count"] + 1
    ctx.emit(StageStarted(stage="research"))
    asked = [(title, query) for title, query in state["current_queries"] if title not in ctx.steering.now.dropped]
    actions = [Action(id=f"r{round_}q{i}", name="search", query=query) for i, (_, query) in enumerate(asked, 1)]
    try:
        seen = await ctx.steering.unless_stopped("", search.perform(ctx, actions), finish_stops=round_ > 1)
    except Interrupted:
        return {"current_queries": [], "iteration_count": round_}
    turns = [
        (title, Turn(actions=(action,), observations=(observation,)))
        for (title, _), action, observation in zip(asked, actions, seen, strict=True)
    ]
    return {"turns": turns, "iteration_count": round_}


async def read(state: LoopState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Read what was found into checked findings with their sources, for the sections that got something new."""
    touched = {title for title, _ in state["current_queries"]}
    pending = [s for s in runtime.context.steering.now.kept(state["sections"]) if s.title in touched]
    written = await side_by_side(_read_for(section, state, runtime.context) for section in pending)
    claims = {w.section.title: list(w.claims) for w in written}
    supported = [c for w in written for c in w.claims if c.stands]
    return {
        "sections": section_reducer(state["sections"], [w.section for w in written]),
        "claims": claims,
        "gathered_info": [f"{c.text} {''.join(f'[{p}]' for p in c.passages)}" for c in supported],
        "visited_sources": [source for w in written for source in w.section.sources],
    }


async def _read_for(section: Section, state: LoopState, ctx: RunContext) -> research.Written:
    turns = [turn for title, turn in state["turns"] if title == section.title]
    settled = state.get("claims", {}).get(section.title, [])
    is_note = research.sections_are_notes(ctx)
    return await research.write_or_fail(ctx, section, state["brief"], turns, settled=settled, is_note=is_note)


async def reflect(state: LoopState, runtime: Runtime[RunContext]) -> Command[Literal["retrieve", "final_report"]]:
    """Judge whether the evidence suffices; if not, name the gaps and the next searches.

    What the user has added or remarked is searched for in any case; who wants the report now gets it.
    """
    ctx = runtime.context
    ctx.steering.refresh()
    if not ctx.steering.now.finishing and (wanted := _wanted(state, ctx)) is not None:
        return Command(goto="retrieve", update=wanted)
    try:
        return await ctx.steering.unless_stopped("", _reflected(state, ctx))
    except Interrupted:
        return Command(goto="final_report", update={"is_sufficient": False, "current_queries": []})


async def _reflected(state: LoopState, ctx: RunContext) -> Command[Literal["retrieve", "final_report"]]:
    ctx.emit(StageStarted(stage="review"))
    sections = ctx.steering.now.kept(state["sections"])
    claims = [c for s in sections for c in state["claims"].get(s.title, [])]
    judged = await review.review(ctx, state["brief"], sections, claims, 0)
    weak = review.send_back(sections, judged)
    sufficient = judged.is_sufficient or not weak
    if sufficient or state["iteration_count"] >= state["max_iterations"]:
        return Command(goto="final_report", update={"is_sufficient": sufficient, "current_queries": []})
    again = [_searched(s, state).model_copy(update={"attempts": s.attempts + 1}) for s in weak]
    queries = [(s.title, query) for s in again for query in await _next_queries(s, state, ctx)]
    if not queries:
        return Command(goto="final_report", update={"is_sufficient": False, "current_queries": []})
    return Command(
        goto="retrieve",
        update={"sections": again, "current_queries": queries[:_QUERIES_PER_ROUND], "is_sufficient": False},
    )


def _wanted(state: LoopState, ctx: RunContext) -> dict[str, Any] | None:
    """Return a round for what the user has said since the last one: searches for added sections and remarks, or None."""
    added = _begin_sections(ctx, ctx.steering.now.added_to(state["sections"]))
    known = [turn for _, turn in state["turns"]]
    heard = ctx.steering.now.add_remarks(known)[len(known) :]
    remarked = [
        (s.title, remark) for s in ctx.steering.now.kept(state["sections"]) for turn in heard for remark in turn.remarks
    ]
    if not added and not remarked:
        return None
    return {
        "sections": added,
        "turns": [("", turn) for turn in heard],
        "current_queries": [*_first_queries(added), *remarked],
        "is_sufficient": False,
    }


def _made(section: Section, state: LoopState) -> list[str]:
    return [a.query for title, turn in state["turns"] if title == section.title for a in turn.actions]


def _searched(section: Section, state: LoopState) -> Section:
    """Return the section with every search made for it so far, so that the next ones differ."""
    return section.model_copy(update={"searched": tuple(dict.fromkeys([*section.searched, *_made(section, state)]))})


async def _next_queries(section: Section, state: LoopState, ctx: RunContext) -> list[str]:
    """Return new searches for a weak section; those made before are not made again."""
    made = _made(section, state)
    actions = await research.next_actions(ctx, section, state["brief"], ctx.steering.now.add_remarks([]))
    return [a.query for a in actions if a.name == "search" and a.query not in made]


def build_loop() -> StateGraph[LoopState, RunContext, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = StateGraph(LoopState, context_schema=RunContext)
    graph.add_node("clarify", clarify_then("plan"), destinations=("plan", END))
    graph.add_node("plan", plan, destinations=("confirm_plan", "retrieve"))
    graph.add_node("confirm_plan", confirm_plan_then("plan"), destinations=("plan", "confirm_plan", END))
    graph.add_node("retrieve", retrieve)
    graph.add_node("read", read)
    graph.add_node("reflect", reflect, destinations=("retrieve", "final_report"))
    graph.add_node("final_report", final_report)
    graph.add_edge(START, "clarify")
    graph.add_edge("retrieve", "read")
    graph.add_edge("read", "reflect")
    graph.add_edge("final_report", END)
    return graph
