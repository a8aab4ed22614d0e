"""Run a compiled graph from start or checkpoint to its end, with user answers.

A node asks with `ask_user`, which interrupts the graph (LangGraph's `interrupt`); the value of the interrupt is
`{"kind": "clarify" | "plan" | "review", "question", "options", "missing_info", "plan", "required", "held"}`, where `plan` (the brief as
data) is there for plans only. The caller resumes the graph with the answer as one string.
"""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from copy import copy
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.config import get_config
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt

from deep_research import data, errors
from deep_research.data import Asked
from deep_research.data.noun import Noun
from deep_research.graph.sqlite_checkpoints import open_sqlite_checkpoints
from deep_research.run_context.context import RunContext, node_config
from deep_research.safe_text import mask_known_bytes
from deep_research.state_files import make_private_file
from deep_research.stores.open_stores import database_at
from deep_research.stores.run_store import Guard

_G = TypeVar("_G", bound=CompiledStateGraph[Any, Any, Any, Any])
Ask = Callable[[Asked], Awaitable[str]]


def ask_user(asked: Asked) -> str:
    """Return the user's answer; interrupts the graph until it is there."""
    value = asked.model_dump(mode="json", exclude={"brief"})
    if asked.brief is not None:
        value["plan"] = asked.brief.model_dump(mode="json")
    return str(interrupt(value))


def asked_of(value: Any) -> Asked:
    """Parse the question of an interrupt's value; other graphs may give any value."""
    if not (isinstance(value, Mapping) and "question" in value):
        return Asked(question=str(value))
    return Asked.model_validate({("brief" if name == "plan" else name): part for name, part in value.items()})


async def answer_questions(graph: Any, given: Any, config: RunnableConfig, ask: Ask, **options: Any) -> Any:
    """Run a graph on `given`, with `ask` for its questions; return the last values."""
    while True:
        values = await graph.ainvoke(given, config, **options)
        waiting = values.get("__interrupt__", ()) if isinstance(values, Mapping) else ()
        if not waiting:
            return values
        given = Command(resume=await ask(asked_of(waiting[0].value)))


async def drive(
    graph: CompiledStateGraph[Any, RunContext, Any, Any],
    ctx: RunContext,
    start: dict[str, Any],
    *,
    ask: Ask,
    thread: str = "",
) -> dict[str, Any]:
    """Run `graph` from `start` or its last checkpoint; return its last state.

    The checkpoint is that of `thread` (default: the run).

    It holds `report`, or only `final_report` with the reason for which there is none. `ask` is given what the graph
    asks of the user; what it raises leaves the graph waiting.
    """
    config: RunnableConfig = {"configurable": {"thread_id": thread or ctx.run_id}, "recursion_limit": 200}
    node_config.set(get_config)
    state = await graph.aget_state(config)
    # That nothing is left to be begun (`state.next`) does not say so: it is also empty when a process died after the
    # writes of a node were stored and before the next checkpoint was.
    if state.values.get("final_report"):
        return state.values
    # Without input the graph goes on from its checkpoint; writes that were stored after it are applied, not made again.
    given: Any = None if state.created_at is not None else start
    if state.interrupts:
        asked = asked_of(state.interrupts[0].value).model_copy(update={"held": False})  # this is a later sitting
        given = Command(resume=await ask(asked))
    return await answer_questions(graph, given, config, ask, context=ctx, durability="sync")


@asynccontextmanager
async def open_checkpoints(location: Path | str, guard: Guard | None = None) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """Open or make checkpoints in a file or database, for our nouns and errors only."""
    if str(location).startswith("postgres"):
        async with database_at(str(location)).checkpoints(_noun_serializer(), guard) as saver:
            yield saver
        return
    make_private_file(location)
    async with open_sqlite_checkpoints(location, _noun_serializer()) as saver:
        yield saver


def knowing_nouns(checkpointer: Any) -> Any:
    """Return a caller's checkpointer, set to read our nouns without warnings.

    It shares what it keeps with the one given.

    One with a serializer of its own is left as it is.
    """
    if isinstance(checkpointer, BaseCheckpointSaver) and type(checkpointer.serde) is JsonPlusSerializer:
        clone = copy(checkpointer)
        clone.serde = _noun_serializer()
        return clone
    return checkpointer


class _MaskedSerializer(JsonPlusSerializer):
    """Writes values without the secrets that are known; the bytes keep their number."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        kind, data = super().dumps_typed(obj)
        return kind, mask_known_bytes(data)


def _noun_serializer() -> JsonPlusSerializer:
    ours = [kind for module in (data, errors) for _, kind in inspect.getmembers(module, inspect.isclass)]
    nouns = [kind for kind in ours if issubclass(kind, Noun | errors.ResearchError)]
    return _MaskedSerializer(allowed_msgpack_modules=[(noun.__module__, noun.__name__) for noun in nouns])


def recompiled(kind: type[_G], compiled: CompiledStateGraph[Any, Any, Any, Any], **more: Any) -> _G:
    """Rebuild a compiled graph as a subclass instance; `more` are its own parts."""
    parts = {name: part for name, part in compiled.__dict__.items() if name != "__orig_class__"}
    return kind(**parts, **more)
