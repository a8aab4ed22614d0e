"""Refresh: the plan of an earlier run researched anew, from today's sources."""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from deep_research.assembly.run_settings import begin_run
from deep_research.data import FOREIGN, Brief, Decision, Discovery, QueryAnalysis, Question
from deep_research.data.noun import Noun
from deep_research.errors import ConfigError
from deep_research.ports import Journal
from deep_research.settings import BUDGETS, Settings, load_settings
from deep_research.stores.run_store import RunStore

_CARRIED = "carried"  # the kind of the note that holds what a refreshed run begins with


class Carried(Noun):
    """The plan that a run takes over from an earlier one."""

    question: Question
    asked: Question | None = None
    decision: Decision
    analysis: QueryAnalysis
    discovery: Discovery | None = None
    brief: Brief

    def as_state(self) -> dict[str, Any]:
        return {
            **{name: value for name, value in self if value is not None},
            "query_type": self.analysis.query_type,
            "output_format": self.analysis.output_format,
            "research_brief": self.brief.research_brief,
        }


async def refresh_run(parent: RunStore, home: Path, wanted_id: str = "") -> RunStore:
    """Create a run of `parent`'s plan, with nothing read. Raises ConfigError."""
    record, run_id = await asyncio.to_thread(parent.load), parent.run_id
    settings, now = Settings(**record.settings), load_settings()
    budgets = {name: (getattr(settings, name), most) for name in BUDGETS if (most := getattr(now, name))}
    settings = settings.model_copy(update={name: min(filter(None, both)) for name, both in budgets.items()})
    if settings.workflow in FOREIGN:
        message = f"The run {run_id} researched nothing by itself; verify its report again, or begin a new session."
        raise ConfigError(message, setting="run", value=run_id)
    has_plan = settings.workflow != "quick"  # a quick question has none
    state = await state_of(parent) if has_plan else {}
    if has_plan and "brief" not in state:
        message = f"The run {run_id} has no plan to go on from."
        raise ConfigError(message, setting="run", value=run_id)
    taken = record.model_dump(include={"question", "language", "history", "mcp_servers", "owner"})
    taken |= {"docs": record.docs, "parent": run_id, "origin": "refresh"}
    store = await asyncio.to_thread(begin_run, settings, home=home, wanted_id=wanted_id, **taken)
    if has_plan:
        carried = Carried.model_validate({name: state[name] for name in Carried.model_fields if name in state})
        with closing(store.open_journal()) as journal:
            journal.note(_CARRIED, "", carried.model_dump_json())
    return store


async def state_of(store: RunStore) -> Mapping[str, Any]:
    """Return a run's graph state at its last checkpoint; empty before the first one."""
    from deep_research.graph.run_graph import open_checkpoints  # noqa: PLC0415 - the engine is slow to load
    from deep_research.graph.workflows import compile_workflow  # noqa: PLC0415

    at = store.checkpoints_at()
    async with open_checkpoints(at.location, at.guard) as checkpoints:
        graph = compile_workflow(Settings(**store.load().settings).workflow, checkpoints)
        return (await graph.aget_state({"configurable": {"thread_id": at.thread}})).values


def carried_state(journal: Journal) -> dict[str, Any]:
    """Return the state keys that a run takes over; none for a run of its own."""
    noted = journal.notes(_CARRIED).get("")
    return Carried.model_validate_json(noted).as_state() if noted is not None else {}
