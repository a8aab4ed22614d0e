"""The `loop` workflow (contract rows C1–C4).

plan → retrieve → read → reflect → (retrieve …) → report.

One researcher for the whole question, in one conversation that only grows: it searches for all sections, reads what
came back, says where it stands under the heading of each section, and goes on with what a reflection misses, until the
evidence suffices or `max_iterations` rounds are used up. Then it writes the report, with all before it that it has read.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from langgraph.graph import END, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from deep_research.data import Action, Brief, Section, Turn
from deep_research.events import SectionStarted, StageStarted
from deep_research.graph.final_report import final_report
from deep_research.graph.graph_state import AgentState
from deep_research.graph.plan_nodes import analyze_question, begin_graph, lay_out_plan
from deep_research.ports import Library
from deep_research.run_context.context import RunContext, section_position
from deep_research.run_context.steering import Interrupted
from deep_research.steps import research, review, search
from deep_research.steps.plan import needs_confirmation

_QUERIES_PER_ROUND, _QUERIES_PER_CALL = 15, 5
_HEADING = re.compile(r"#{1,4} ++(.*[^ #])[ #]*$")


def union(existing: list[str], updates: list[str]) -> list[str]:
    """Append what is new, in order: reducer of `gathered_info` and `visited_sources`."""
    return list(dict.fromkeys([*existing, *updates]))


class LoopState(AgentState):
    """The state of the loop; names as its design gives them.

    `gathered_info` holds the key findings with the ids of their passages, `visited_sources` the ids of all sources that
    something was read of, `current_queries` the searches of the round.
    """

    clarified_query: str
    is_clarified: bool
    gathered_info: Annotated[list[str], union]
    visited_sources: Annotated[list[str], union]
    iteration_count: int
    max_iterations: int
    current_queries: list[str]


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
    sections = _begun(ctx, [*brief.sections, *ctx.steering.now.added_to(brief.sections)])
    told = "\n".join(f"- {s.title}: {s.description}" for s in sections)
    return {
        "sections": sections,
        "clarified_query": state["question"].text,
        "is_clarified": True,
        "gathered_info": [],
        "visited_sources": [],
        "iteration_count": 0,
        "max_iterations": ctx.settings.max_iterations,
        "is_sufficient": False,
        "current_queries": _queries_of(sections),
        # All sections as the one that the researcher of a loop works at.
        "whole": Section(title=brief.title, description=told, attempts=1, is_whole=True),
    }


def _begun(ctx: RunContext, sections: Sequence[Section]) -> list[Section]:
    ctx.steering.begin(*(s.title for s in sections))
    for section in sections:
        ctx.emit(SectionStarted(section=section.title, attempt=1))
    return [s.model_copy(update={"status": "researching", "attempts": 1}) for s in sections]


def _queries_of(sections: Sequence[Section]) -> list[str]:
    named = (query for s in sections for query in (*s.focus, *(s.queries or (s.title,))))
    return list(dict.fromkeys(named))[:_QUERIES_PER_ROUND]


async def retrieve(state: LoopState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Make the searches of this round, side by side."""
    ctx, round_ = runtime.context, state["iteration_count"] + 1
    ctx.emit(StageStarted(stage="research"))
    queries = state["current_queries"]
    groups = [queries[n : n + _QUERIES_PER_CALL] for n in range(0, len(queries), _QUERIES_PER_CALL)]
    actions = [Action(id=f"q{round_}.{n}", name="search", query="\n".join(g)) for n, g in enumerate(groups, 1)]
    try:
        seen = await ctx.steering.unless_stopped("", search.perform(ctx, actions), finish_stops=round_ > 1)
    except Interrupted:
        return {"current_queries": [], "iteration_count": round_}
    turn = Turn(actions=tuple(actions), observations=tuple(seen))
    return {**_said(state, [*_turns(state), *([turn] if actions else [])]), "iteration_count": round_}


async def read(state: LoopState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Continue the conversation to its notes, written under each section's heading."""
    ctx, brief, whole, turns = runtime.context, state["brief"], state["whole"], _turns(state)
    sections = ctx.steering.now.kept(state["sections"])
    section_position.set((whole.title, str(state["iteration_count"])))
    notes = ""
    while not ctx.steering.now.finishing:
        turns = ctx.steering.now.add_remarks(turns)
        move = await research.next_move(ctx, whole, brief, turns)
        if not move.actions:
            notes = move.text
            break
        seen = await search.perform(ctx, move.actions)
        turns.append(Turn(actions=move.actions, observations=tuple(seen)))
        if research.is_complete(move.actions):
            break
    written = await research.write_notes(ctx, whole, brief, turns, notes=notes)
    done = _shared_out(written, sections, ctx.library)
    return {
        "sections": done,
        **_said(state, [*turns, Turn(said=written.content)] if written.content else turns),
        "gathered_info": [finding for section in done for finding in section.key_findings],
        "visited_sources": list(dict.fromkeys(key.partition("p")[0] for key in written.passages)),
    }


def _turns(state: LoopState) -> list[Turn]:
    return list(state.get("conversations", {}).get(state["whole"].title, ()))


def _said(state: LoopState, turns: list[Turn]) -> dict[str, Any]:
    return {"conversations": {state["whole"].title: turns}}


def _shared_out(whole: Section, sections: Sequence[Section], library: Library) -> list[Section]:
    """Add notes to the sections by their headings; the rest goes to the first one."""
    titles = {s.title.casefold(): s.title for s in sections}
    notes: dict[str, list[str]] = {s.title: [] for s in sections}
    at = sections[0].title if sections else ""
    for line in whole.content.split("\n"):
        if heading := _HEADING.match(line):
            at = titles.get(heading[1].casefold(), at)
        notes.get(at, []).append(line)
    shared = whole.model_dump(include={"sources", "searched", "tool_calls", "failed", "passages", "status"})
    done: list[Section] = []
    for section in sections:
        own = "\n".join(notes[section.title]).strip()
        findings = tuple(dict.fromkeys([*section.key_findings, *research.key_findings(own, library)]))
        content = "\n\n".join(filter(None, (section.content, own)))
        done.append(section.model_copy(update={**shared, "content": content, "key_findings": findings}))
    return done


async def reflect(state: LoopState, runtime: Runtime[RunContext]) -> Command[Literal["retrieve", "final_report"]]:
    """Judge whether the evidence suffices; if not, name the gaps and next searches.

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
    judged = await review.review(ctx, state["brief"], sections, 0, limit=state["max_iterations"])
    weak = review.send_back(sections, judged)
    made, rows = {query for s in sections for query in s.searched}, judged.section_coverage
    new, of_rows = ([query for one in some for query in one.queries if query not in made] for some in (weak, rows))
    queries = list(dict.fromkeys(new or of_rows))[:_QUERIES_PER_ROUND]
    # Gaps alone the researcher is told, and searches for in its own words; where it did not, nothing is left to look for.
    looked = next((bool(turn.actions) for turn in reversed(_turns(state)) if turn.actions or turn.remarks), False)
    goes_on = not judged.is_sufficient and (queries or (judged.gaps and looked))
    ends = not goes_on or state["iteration_count"] >= state["max_iterations"]
    again = () if ends else {s.title for s in weak}
    reviews = {row.title: row.model_copy(update={"retry": row.title in again}) for row in rows}
    found = {"section_reviews": reviews, "overall_score": judged.overall_score, "is_sufficient": judged.is_sufficient}
    if ends:
        review.report_gaps(ctx, judged.gaps)
        return Command(goto="final_report", update={**found, "current_queries": []})
    missed = weak or [Section(title=state["brief"].title, missing=judged.gaps, queries=tuple(queries))]
    remark = Turn(remarks=tuple(f"{s.title}: {review.remark_of(s)}" for s in missed))
    begun = [s.model_copy(update={"status": "researching", "attempts": s.attempts + 1}) for s in weak]
    update = {**found, "sections": begun, **_said(state, [*_turns(state), remark]), "current_queries": queries}
    return Command(goto="retrieve", update=update)


def _wanted(state: LoopState, ctx: RunContext) -> dict[str, Any] | None:
    """Return a round for the user's new sections and remarks, or None without any."""
    added = _begun(ctx, ctx.steering.now.added_to(state["sections"]))
    before = _turns(state)
    turns = ctx.steering.now.add_remarks(before)
    heard = [remark for turn in turns[len(before) :] for remark in turn.remarks]
    if not added and not heard:
        return None
    if added:
        turns.append(Turn(remarks=tuple(f"{s.title}: {s.description}" for s in added)))
    queries = [*_queries_of(added), *heard]
    return {"sections": added, **_said(state, turns), "current_queries": queries, "is_sufficient": False}


def build_loop() -> StateGraph[LoopState, RunContext, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = begin_graph(LoopState, "plan")
    graph.add_node("plan", plan, destinations=("confirm_plan", "retrieve"))
    graph.add_sequence([retrieve, read])
    graph.add_node("reflect", reflect, destinations=("retrieve", "final_report"))
    graph.add_node("final_report", final_report)
    graph.add_edge("read", "reflect")
    graph.add_edge("final_report", END)
    return graph
