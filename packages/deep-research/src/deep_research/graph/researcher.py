"""The researcher subgraph (contract row B6).

researcher_invoke → tools → … → compress_output → review_section.

The research is one conversation that only grows; its last turn are the notes. A section is reviewed in its own branch,
as soon as it has notes, and taken up again at once where it is weak (contract row B14): a superstep of the graph above
would wait for the slowest of its siblings. For the same reason a branch that is done takes up a section that the user
has added meanwhile. A researcher that fails hands back a failed section and a gap; it never ends the run.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import wraps
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from deep_research.data import Brief, Section, Turn, since_notes
from deep_research.events import SectionStarted
from deep_research.graph.graph_state import Node, ResearcherOutput, ResearcherState
from deep_research.graph.run_graph import recompiled
from deep_research.run_context.context import RunContext, section_position
from deep_research.run_context.steering import Interrupted
from deep_research.settings import Settings
from deep_research.steps import research, review, search


def _contained(
    finish_stops: Callable[[ResearcherState], bool],
) -> Callable[[Node[ResearcherState]], Node[ResearcherState]]:
    """Decorate a node so that what ends it costs only its own section.

    A failure becomes a gap; a full disk or a request to stop ends the run. A section that the user drops ends without
    a gap. Where `finish_stops`, the node ends when the user wants the report now.
    """

    def decorate(node: Node[ResearcherState]) -> Node[ResearcherState]:
        @wraps(node)
        async def contained(state: ResearcherState, runtime: Runtime[RunContext]) -> Any:
            title, ctx = state["section"].title, runtime.context
            section_position.set((title, f"{state['section'].attempts}.{len(state.get('turns', []))}"))
            try:
                return await ctx.steering.unless_stopped(title, node(state, runtime), finish_stops=finish_stops(state))
            except Interrupted:
                is_dropped = title in ctx.steering.now.dropped
                return _free(state, ctx, _conversation(state)) if is_dropped else _finish(state, ctx)
            except Exception as error:  # noqa: BLE001 - a defect in one branch must not take its siblings along
                ctx.report_failure(title, error)
            # Notes of an earlier attempt stay.
            status = "completed" if state["section"].content else "failed"
            failed = state["section"].model_copy(update={"status": status})
            return _free(state, ctx, {"sections": [failed], **_conversation(state)})

        return contained

    return decorate


def _finish(state: ResearcherState, ctx: RunContext) -> Command[str]:
    """Write up what was seen, or keep the notes that the section has already."""
    if state["is_complete"]:  # they are written; only their review is left
        return _free(state, ctx, {})
    if state.get("turns"):
        return Command(goto="compress_output", update={"is_complete": True})
    return _free(state, ctx, {"sections": [state["section"].model_copy(update={"status": "completed"})]})


def _may_finish(state: ResearcherState) -> bool:
    """Return whether there is something to write up, so that research may end now."""
    return bool(research.seen_passages(state.get("turns", []))) or bool(state["section"].content)


def _free(state: ResearcherState, ctx: RunContext, update: dict[str, Any]) -> Command[str]:
    """End the branch, or continue it with an unassigned section added by the user."""
    added = ctx.steering.take_added() if ctx.steering.now.added else None
    if added is None:
        return Command(goto=END, update=update)
    section = added.model_copy(update={"status": "researching", "attempts": 1})
    task = task_for(section, state["brief"], ctx.settings, reviews=state.get("max_review_iterations", 0))
    return Command(goto="researcher_invoke", update={**update, **task})


def _conversation(state: ResearcherState) -> dict[str, Any]:
    return {"conversations": {state["section"].title: state.get("turns", [])}}


@_contained(finish_stops=_may_finish)
async def researcher_invoke(
    state: ResearcherState, runtime: Runtime[RunContext]
) -> Command[Literal["tools", "compress_output"]]:
    """Choose the next actions; notes, or no action, end the research."""
    ctx, section, turns = runtime.context, state["section"], state.get("turns", [])
    if not state.get("tool_call_iterations"):
        ctx.steering.begin(section.title)
        ctx.emit(SectionStarted(section=section.title, attempt=section.attempts))
    turns = ctx.steering.now.add_remarks(turns) if ctx.steering.now.remarks else turns
    move = await research.next_move(ctx, section, state["brief"], turns)
    if not move.actions:
        return Command(goto="compress_output", update={"turns": turns, "notes": move.text, "is_complete": True})
    return Command(goto="tools", update={"turns": [*turns, Turn(actions=move.actions)]})


@_contained(finish_stops=_may_finish)
async def tools(
    state: ResearcherState, runtime: Runtime[RunContext]
) -> Command[Literal["researcher_invoke", "compress_output"]]:
    """Run the last turn's actions concurrently; research_complete ends the research."""
    ctx, turn = runtime.context, state["turns"][-1]
    seen = await search.perform(ctx, turn.actions)
    complete = research.is_complete(turn.actions)
    update = {
        "turns": [*state["turns"][:-1], turn.model_copy(update={"observations": tuple(seen)})],
        "tool_call_iterations": state.get("tool_call_iterations", 0) + len(turn.actions),
        "is_complete": complete,
    }
    return Command(goto="compress_output" if complete else "researcher_invoke", update=update)


@_contained(finish_stops=lambda _state: False)
async def compress_output(state: ResearcherState, runtime: Runtime[RunContext]) -> Command[Any]:
    """Take the researcher's notes, and pass them to review if it may send them back."""
    ctx, section = runtime.context, state["section"]
    turns = [turn for turn in state.get("turns", []) if turn.observations or turn.remarks or turn.said]
    written = await research.write_notes(ctx, section, state["brief"], turns, notes=state.get("notes", ""))
    if section.content and not written.content:
        written = section.model_copy(update={"status": "completed"})
    said = [*turns, Turn(said=written.content)] if written.content else turns
    update = {
        "section": written,
        "turns": said,
        "notes": "",
        "researcher_messages": [HumanMessage(state["research_topic"]), *messages_of(turns)],
        "compressed_research": research.handed_back(written, ctx.library),
        "sections": [written],
        "raw_notes": [*state.get("raw_notes", []), *filter(None, [raw_notes_of(turns)])],
        "conversations": {section.title: said},
    }
    reviewed = section.attempts <= state.get("max_review_iterations", 0) and not ctx.steering.now.finishing
    if reviewed and written.content != section.content:
        return Command(goto="review_section", update=update)
    return _free(state, ctx, update)


@_contained(finish_stops=lambda _state: True)
async def review_section(state: ResearcherState, runtime: Runtime[RunContext]) -> Command[Any]:
    """Judge the notes alone; continue a weak section with what the review misses."""
    ctx, section = runtime.context, state["section"]
    judged = await review.review_section(ctx, section, state["brief"])
    reviews = {section.title: judged}
    if not judged.retry:
        return _free(state, ctx, {"section_reviews": reviews})
    taken_up = review.again(section, judged)
    return Command(
        goto="researcher_invoke",
        update={
            **_attempt([*state["turns"], Turn(remarks=(review.remark_of(taken_up),))]),
            "section": taken_up,
            "section_reviews": reviews,
        },
    )


def _attempt(turns: Sequence[Turn]) -> dict[str, Any]:
    """Return the initial state of an attempt that continues the conversation `turns`."""
    return {"turns": list(turns), "notes": "", "tool_call_iterations": 0, "is_complete": False}


def messages_of(turns: Sequence[Turn]) -> list[AnyMessage]:
    """Convert turns to messages: each turn's calls, and each result by passage ids."""
    found: list[AnyMessage] = []
    for turn in turns:
        if turn.said:
            found.append(AIMessage(content=turn.said))
        found += [HumanMessage(content=remark) for remark in turn.remarks]
        if not turn.actions:
            continue
        calls = [ToolCall(name=a.tool, args=a.arguments, id=a.id) for a in turn.actions]
        found.append(AIMessage(content="", tool_calls=calls))
        tools = {a.id: a.tool for a in turn.actions}
        thoughts = {a.id: f"Reflection recorded: {a.query}" for a in turn.actions if a.name == "think"}
        found += [ToolMessage(said, name="think", tool_call_id=key) for key, said in thoughts.items()]
        found += [
            ToolMessage(o.failure or o.text or " ".join(o.passages), name=tools.get(o.action), tool_call_id=o.action)
            for o in turn.observations
            if o.action not in thoughts
        ]
    return found


def raw_notes_of(turns: Sequence[Turn]) -> str:
    """Return a line for each call since the last notes: failure or all passage ids."""
    return "\n".join(
        f"{a.name}: {a.query or a.source} → {' '.join(filter(None, (o.failure, o.text, *o.passages)))}"
        for turn in since_notes(turns)
        for a, o in zip(turn.actions, turn.observations, strict=False)
    )


def task_for(
    section: Section, brief: Brief, settings: Settings, turns: Sequence[Turn] = (), *, reviews: int = 0
) -> dict[str, Any]:
    """Return a researcher's initial state; `turns` are those of an earlier attempt.

    `reviews` is how often the section may be found weak by its own review and be researched again.
    """
    again = [Turn(remarks=(review.remark_of(section),))] if section.attempts > 1 and turns else []
    return {
        "section": section,
        "brief": brief,
        "research_brief": brief.research_brief,
        "research_topic": f"{section.title}: {section.description}",
        "max_tool_calls": settings.max_tool_calls_per_researcher,
        "max_review_iterations": reviews,
        **_attempt([*turns, *again]),
    }


def build_researcher() -> CompiledStateGraph[Any, RunContext, Any, Any]:
    """Return the compiled researcher."""
    graph = StateGraph(ResearcherState, context_schema=RunContext, output_schema=ResearcherOutput)
    graph.add_node("researcher_invoke", researcher_invoke, destinations=("tools", "compress_output"))
    graph.add_node("tools", tools, destinations=("researcher_invoke", "compress_output"))
    graph.add_node("compress_output", compress_output, destinations=("review_section", "researcher_invoke", END))
    graph.add_node("review_section", review_section, destinations=("researcher_invoke", END))
    graph.add_edge(START, "researcher_invoke")
    return recompiled(_OutputOnly, graph.compile())


class _OutputOnly(CompiledStateGraph[Any, Any, Any, Any]):
    """A graph that returns only its output, also where LangGraph streams its nodes.

    Otherwise astream_events makes it return the whole state, of which parallel researchers would write the same
    keys.
    """

    async def astream(
        self,
        input: Any,  # noqa: A002 - LangGraph's name
        config: RunnableConfig | None = None,
        *,
        output_keys: Any = None,
        **options: Any,
    ) -> AsyncIterator[Any]:
        stream = super().astream(input, config, output_keys=output_keys or self.output_channels, **options)
        async for part in stream:
            yield part
