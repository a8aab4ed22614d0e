"""The researcher subgraph: researcher_invoke → tools → … → compress_output → review_section (contract row B6).

A section is reviewed in its own branch, as soon as it is written, and taken up again at once where it is weak
(contract row B14): a superstep of the graph above would wait for the slowest of its siblings. For the same reason
a branch that is done takes up a section that the user has added meanwhile. A researcher that fails hands back a failed section and a gap; it never ends the run or its siblings.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import wraps
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from deep_research.data import Brief, Claim, Section, SectionReview, Turn
from deep_research.events import SectionStarted
from deep_research.graph.graph_state import Node, ResearcherOutput, ResearcherState
from deep_research.graph.run_graph import recompiled
from deep_research.run_context.context import RunContext, section_position
from deep_research.run_context.steering import Interrupted
from deep_research.settings import Settings
from deep_research.steps import research, review


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
                in_turn = _seated(node, state, runtime)
                return await ctx.steering.unless_stopped(title, in_turn, finish_stops=finish_stops(state))
            except Interrupted:
                return _drop(state, ctx) if title in ctx.steering.now.dropped else _finish(state, ctx)
            except Exception as error:  # noqa: BLE001 - a defect in one branch must not take its siblings along
                ctx.report_failure(title, error)
            return _free(state, ctx, _failed(state))

        return contained

    return decorate


async def _seated(node: Node[ResearcherState], state: ResearcherState, runtime: Runtime[RunContext]) -> Any:
    """Run a node when its section may be researched: LangGraph's own limit would hold back the checkpoints as well."""
    await runtime.context.researchers.take(state["section"].title)
    return await node(state, runtime)


def _drop(state: ResearcherState, ctx: RunContext) -> Command[str]:
    """End the section without a result; only what was seen is handed on."""
    return _free(state, ctx, {"raw_notes": _raw_notes(state)})


def _finish(state: ResearcherState, ctx: RunContext) -> Command[str]:
    """Write up what was seen, or keep the text that the section has already."""
    if state["is_complete"]:  # it is written; only its review is left
        return _free(state, ctx, {})
    if _has_seen(state):
        seen = [turn for turn in state["turns"] if turn.observations]
        return Command(goto="compress_output", update={"turns": seen, "is_complete": True})
    return _free(state, ctx, {"sections": [state["section"].model_copy(update={"status": "completed"})]})


def _has_seen(state: ResearcherState) -> bool:
    return any(turn.observations for turn in state.get("turns", []))


def _may_finish(state: ResearcherState) -> bool:
    """Return whether there is something to write up, so that a wish for the report ends the research at once."""
    return _has_seen(state) or bool(state.get("previous_claims"))


def _free(state: ResearcherState, ctx: RunContext, update: dict[str, Any]) -> Command[str]:
    """End the branch; where the user has added a section that nobody works at, the branch takes it up."""
    ctx.deadlines.finish(state["section"].title, ctx.elapsed())
    ctx.researchers.give_back(state["section"].title)
    added = ctx.steering.take_added() if ctx.steering.now.added else None
    if added is None:
        return Command(goto=END, update=update)
    section = added.model_copy(update={"status": "researching", "attempts": 1})
    reviews = state.get("max_review_iterations", 0)
    task = task_for(section, state["brief"], ctx.settings, reviews=reviews)
    return Command(goto="researcher_invoke", update={**update, **task})


def _failed(state: ResearcherState) -> dict[str, Any]:
    """Mark the section as failed; where an earlier attempt has brought something, that stays."""
    has_text = any(claim.stands for claim in state.get("previous_claims", []))
    section = state["section"].model_copy(update={"status": "completed" if has_text else "failed"})
    return {"sections": [section], "raw_notes": _raw_notes(state)}


def _raw_notes(state: ResearcherState) -> list[list[str]]:
    """Return the ids of all passages that the researcher saw in each attempt, whether cited or not."""
    seen = _seen(state.get("turns", []))
    return [*state.get("raw_notes", []), *([seen] if seen else [])]


def _seen(turns: Sequence[Turn]) -> list[str]:
    return list(dict.fromkeys(p for turn in turns for o in turn.observations for p in o.passages))


def _closed(state: ResearcherState, ctx: RunContext, **update: Any) -> Command[Any]:
    """End the research of a section that takes too long: what was noted is written up."""
    research.close_slow(ctx, state["section"].title)
    return Command(goto="compress_output", update={**update, "is_complete": True, "is_closed": True})


def _has_notes(state: ResearcherState) -> bool:
    """Return whether there is something to write up, or a text of an earlier attempt."""
    return bool(_seen(state.get("turns", [])) or state.get("previous_claims"))


@_contained(finish_stops=_may_finish)
async def researcher_invoke(
    state: ResearcherState, runtime: Runtime[RunContext]
) -> Command[Literal["tools", "compress_output"]]:
    """Choose the next actions; without any, research is complete. The user's remarks are taken in here."""
    ctx, section, turns = runtime.context, state["section"], state.get("turns", [])
    if not turns:
        ctx.steering.begin(section.title)
        ctx.emit(SectionStarted(section=section.title, attempt=section.attempts))
        ctx.deadlines.start(section.title, ctx.elapsed())
    turns = ctx.steering.now.add_remarks(turns) if ctx.steering.now.remarks else turns
    choosing = research.next_actions(ctx, section, state["brief"], turns)
    (actions,) = await ctx.deadlines.within(section.title, [choosing], ctx.elapsed, has_notes=_has_notes(state))
    if actions is None:
        return _closed(state, ctx)
    if not actions:
        return Command(goto="compress_output", update={"turns": turns, "is_complete": True})
    return Command(goto="tools", update={"turns": [*turns, Turn(actions=tuple(actions))]})


@_contained(finish_stops=_may_finish)
async def tools(
    state: ResearcherState, runtime: Runtime[RunContext]
) -> Command[Literal["researcher_invoke", "compress_output"]]:
    """Carry out the actions of the last turn, side by side; research_complete among them ends the research."""
    ctx, section, turn = runtime.context, state["section"], state["turns"][-1]
    complete = research.is_complete(turn.actions)
    acting = [research.act(ctx, section, state["brief"], action) for action in turn.actions]
    seen = await ctx.deadlines.within(section.title, acting, ctx.elapsed, has_notes=_has_notes(state))
    done = turn.model_copy(update={"observations": tuple(o for o in seen if o is not None)})
    update = {
        "turns": [*state["turns"][:-1], done],
        "tool_call_iterations": state.get("tool_call_iterations", 0) + len(turn.actions),
        "is_complete": complete,
    }
    if None in seen:
        return _closed(state, ctx, **update)
    return Command(goto="compress_output" if complete else "researcher_invoke", update=update)


@_contained(finish_stops=lambda _state: False)
async def compress_output(state: ResearcherState, runtime: Runtime[RunContext]) -> Command[Any]:
    """Write the section from what was noted, and check it; keep the earlier text when it was better.

    It is reviewed where the review may still send it out again; a model reviews the draft while it is checked.
    """
    ctx, section, previous = runtime.context, state["section"], state.get("previous_claims", [])
    turns, closed = state.get("turns", []), state.get("is_closed", False)
    if closed and previous and not _seen(turns):
        return _free(state, ctx, {"sections": [section.model_copy(update={"status": "completed"})]})
    before = {key for keys in state.get("raw_notes", []) for key in keys}
    is_note = research.sections_are_notes(ctx)
    mends = section.faults and not is_note  # of notes what is wrong is put right by the writer of the report
    if previous and not mends and not research.brings_new(section, turns, before, ctx.library):
        # Another text of the same passages would be no better.
        searched = research.queries_made(section, turns)
        done = section.model_copy(update={"status": "completed", "searched": searched, "gained": False})
        return _free(state, ctx, {"sections": [done], "raw_notes": _raw_notes(state), **_last_review(state)})
    finishing = ctx.steering.now.finishing
    reviews = section.attempts <= state.get("max_review_iterations", 0) and not closed and not finishing
    written = await research.write(
        ctx, section, state["brief"], turns, reviews=reviews, settled=previous, is_note=is_note
    )
    kept, claims = written.section, list(written.claims)
    if previous and not review.better(section, written.section, previous, claims):
        kept, claims = section.model_copy(update={"status": "completed", "gained": False}), previous
    # Where a further attempt has brought nothing, another one would bring the same.
    reviews = reviews and kept.content != section.content and written.adds
    update = {
        "section": kept,
        "researcher_messages": messages_of(turns),
        "compressed_research": kept.content,
        "previous_claims": claims,
        "sections": [kept],
        "claims": {section.title: claims},
        "raw_notes": _raw_notes(state),
        "draft_review": written.review,
        **(_last_review(state) if kept.content == section.content else {}),
    }
    if reviews:
        return Command(goto="review_section", update=update)
    last = state.get("section_reviews", {}).get(section.title)
    if last is not None and last.faults and not finishing:
        is_same = kept.content == section.content
        last = last.model_copy(update={"retry": False}) if is_same else review.without_mended(last, kept)
        update |= _reviewed(kept, last)
    return _free(state, ctx, update)


@_contained(finish_stops=lambda _state: True)
async def review_section(state: ResearcherState, runtime: Runtime[RunContext]) -> Command[Any]:
    """Judge the section by itself; a weak one is researched again at once, with the review's notes."""
    ctx, section = runtime.context, state["section"]
    claims, draft = state["previous_claims"], state.get("draft_review")
    judged = await review.review_section(ctx, section, state["brief"], claims, draft)
    reviews = {section.title: judged}
    if not judged.retry:
        return _free(state, ctx, _reviewed(section, judged))
    begun = {"turns": [], "tool_call_iterations": 0, "is_complete": False}
    return Command(
        goto="researcher_invoke",
        update={**begun, "section": review.again(section, judged), "section_reviews": reviews},
    )


def _reviewed(section: Section, judged: SectionReview) -> dict[str, Any]:
    """Return what a branch ends with: its last review, whose faults are for the writer of the report."""
    done = section.model_copy(update={"faults": judged.faults})
    return {"sections": [done], "section_reviews": {section.title: judged}}


def _last_review(state: ResearcherState) -> dict[str, dict[str, SectionReview]]:
    """Return the review of a text that a further attempt has not changed, as the last word on its section."""
    row = state.get("section_reviews", {}).get(state["section"].title)
    return {"section_reviews": {row.title: row.model_copy(update={"retry": False})}} if row is not None else {}


def messages_of(turns: Sequence[Turn]) -> list[AnyMessage]:
    """Return turns as messages: the calls of each, and what every call brought, by the ids of its passages."""
    found: list[AnyMessage] = []
    for turn in turns:
        calls = [
            ToolCall(name=a.name, args={"query": a.query, **({"source": a.source} if a.source else {})}, id=a.id)
            for a in turn.actions
        ]
        found.append(AIMessage(content="", tool_calls=calls))
        found += [
            ToolMessage(content=o.failure or o.text or " ".join(o.passages), tool_call_id=o.action)
            for o in turn.observations
        ]
    return found


def task_for(
    section: Section, brief: Brief, settings: Settings, claims: Sequence[Claim] = (), *, reviews: int = 0
) -> dict[str, Any]:
    """Return the state in which a researcher begins at `section`; `claims` are those of its earlier attempt.

    `reviews` is how often the section may be found weak by its own review and be researched again.
    """
    return {
        "section": section,
        "brief": brief,
        "research_brief": brief.objective,
        "research_topic": f"{section.title}: {section.description}",
        "turns": [],
        "tool_call_iterations": 0,
        "max_tool_calls": settings.tool_calls_per_researcher,
        "is_complete": False,
        "is_closed": False,
        "previous_claims": list(claims),
        "max_review_iterations": reviews,
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
    """Hands back its output also where LangGraph streams its nodes (astream_events): else the whole state, of which
    researchers side by side would write the same keys.
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
