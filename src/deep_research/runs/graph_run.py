"""A question through a graph that the caller has built, its questions to the user answered by a function."""

import asyncio
import inspect
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, cast

from deep_research.assembly.environment import Answer
from deep_research.data import Asked, Report
from deep_research.errors import ConfigError, Declined, NeedsAnswer
from deep_research.graph.research_graph import ResearchGraph, run_conversation
from deep_research.graph.run_graph import open_checkpoints
from deep_research.runs.graph_host import GraphHost
from deep_research.settings import limit_rounds


async def run_graph(
    graph: Any,
    question: str,
    config: Mapping[str, Any],
    answer: Answer | None,
    *,
    max_iterations: int | None = None,
) -> Report | str:
    """Return the report of `graph` on a question; of a graph of the caller's own that makes none, its last text.

    A graph of ours without a checkpointer keeps its state in the run's folder, so that the run can be resumed, and a
    known `thread_id` goes on with its conversation; the run is held until this returns, also while the user is asked.
    Raises RunBusy when another process carries the run out, NeedsAnswer when the user must be asked and `answer`
    cannot, Declined where the question was declined, ConfigError for a graph that says nothing.
    """
    configurable = dict(config.get("configurable", {}))
    async with AsyncExitStack() as stack:
        if isinstance(graph, ResearchGraph):
            host = cast(GraphHost, graph.host)
            configurable |= limit_rounds(max_iterations, host.workflow)
            if answer is None and not host.has_setting("allow_clarification"):
                configurable.setdefault("allow_clarification", False)
            if graph.checkpointer in (None, False):
                store = await asyncio.to_thread(host.store_for, question, configurable)
                await asyncio.to_thread(stack.enter_context, store.held())
                at = store.checkpoints_at()
                checkpoints = await stack.enter_async_context(open_checkpoints(at.location, at.guard))
                graph = graph.copy({"checkpointer": checkpoints, "host": host.for_holder(store)})
                configurable |= {"thread_id": store.run_id, "deep_research_run": store.run_id}
        configurable.setdefault("thread_id", secrets.token_hex(8))
        named = {**config, "configurable": configurable}
        try:
            values = await run_conversation(graph, question, named, lambda asked: _ask(asked, answer))
        except NeedsAnswer as waiting:
            state = (await graph.aget_state(cast(Any, named))).values
            raise replace(waiting, run_id=str(state.get("run_id", ""))) from None
        if isinstance(graph, ResearchGraph) and not values.get("report"):
            state = (await graph.aget_state(cast(Any, named))).values
            raise Declined(
                str(values.get("final_report")), run_id=state["run_id"], by=state.get("declined_by") or "program"
            )
    return _result_of(values)


async def _ask(asked: Asked, answer: Answer | None) -> str:
    if answer is None and not asked.required:
        return ""
    given = answer(asked) if answer else None
    reply = await given if inspect.isawaitable(given) else given
    if reply is None:
        raise NeedsAnswer(asked.question, options=asked.options, asked=asked)
    return reply


def _result_of(values: Mapping[str, Any]) -> Report | str:
    """Return what a graph has ended with. Raises ConfigError for a graph that says nothing."""
    for name in ("report", "final_report"):
        if isinstance(said := values.get(name), Report | str) and said:
            return said
    messages = values.get("messages") or ()
    if messages and (text := str(getattr(messages[-1], "text", "") or messages[-1])):
        return text
    message = f"The graph ended without `report`, `final_report` or `messages`; it gave {sorted(values)}."
    raise ConfigError(message, setting="graph", value=sorted(values))
