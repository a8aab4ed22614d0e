"""Host a graph: each invocation is a sitting at a run; or run a caller's own."""

import asyncio
import difflib
import secrets
import sys
import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from deep_research import settings as settings_module
from deep_research.assembly.environment import Answer, RunEnvironment
from deep_research.assembly.own_objects import OWN_ARGUMENTS, OwnObjects, take_objects
from deep_research.concurrency import held_beside
from deep_research.conversation.history import read_history
from deep_research.data import Message, Report
from deep_research.errors import ConfigError, Declined, NeedsAnswer, RunNotFound
from deep_research.events import Event, RunDeclined
from deep_research.foreign_settings import name_all, take_over
from deep_research.graph.research_graph import Invocation, ResearchGraph, Sitting, run_conversation
from deep_research.graph.run_graph import open_checkpoints
from deep_research.runs.follow_up_run import FollowUpRun, begin_follow_up, unfinished
from deep_research.runs.lifecycle import RunTask, ask_user, keep_report, noting_end, open_task
from deep_research.runs.research_run import ResearchRun, clean_question, create_run
from deep_research.settings import Settings, limit_rounds
from deep_research.stores.open_stores import open_runs
from deep_research.stores.run_store import RunStore

_PLACES = frozenset({"docs", "home", "history", "deep_research_run"})
OWN_KEYS = _PLACES | frozenset(OWN_ARGUMENTS)
"""Keys of `configurable` that are ours and no settings; `deep_research_run` names a run that is there already."""
_NEAR = 0.8


@dataclass(frozen=True)
class Given:
    """What a caller gives to a run by name: settings, models, tools and other keys."""

    settings: Mapping[str, Any]
    objects: OwnObjects
    own: Mapping[str, Any]

    @property
    def home(self) -> Path:
        return Path(self.own.get("home") or settings_module.home())


def read_configurable(values: Mapping[str, Any]) -> Given:
    """Sort the values of `configurable`; leave others' keys, warn of near misses."""
    known = _known(values)
    settings, objects = take_objects({name: value for name, value in known.items() if name not in _PLACES})
    own = {name: value for name, value in values.items() if name in OWN_KEYS and value is not None}
    for name in values:
        if name in known or name.startswith("__"):
            continue
        if near := difflib.get_close_matches(name, Settings.model_fields, n=1, cutoff=_NEAR):
            message = f"deep-research does not know the key {name!r} of `configurable`. Did you mean {near[0]!r}?"
            warnings.warn(message, stacklevel=2)
    return Given(settings, objects, own)


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if settings_module.is_setting(name) or name in OWN_KEYS}


class GraphHost:
    """Opens runs for the graphs that a program builds.

    `bound` are the settings and objects given to the builder, `holding` is a run that the caller holds for all invocations.
    Where the graph `is_served` (default: inside a LangGraph server) `configurable` and context are strangers'.
    """

    def __init__(
        self,
        bound: Mapping[str, Any],
        *,
        workflow: str = "sections",
        holding: RunStore | None = None,
        is_served: bool | None = None,
    ) -> None:
        self.bound = {**bound, "workflow": workflow}
        self.workflow = workflow
        self._holding = holding
        self._is_served = "langgraph_api" in sys.modules if is_served is None else is_served

    def for_holder(self, store: RunStore) -> "GraphHost":
        return GraphHost(self.bound, workflow=self.workflow, holding=store, is_served=self._is_served)

    def _given(self, named: Mapping[str, Any]) -> Given:
        """Merge what was bound with an invocation's values; a stranger's say little."""
        if self._is_served:
            named, left = take_over(_known(named))
            if left:
                warnings.warn(f"Not taken from a client of this server: {name_all(left)}.", stacklevel=2)
        if (other := named.get("workflow", self.workflow)) != self.workflow:
            message = f"This graph is {self.workflow!r}; name {other!r} where it is built: workflow={other!r}."
            raise ConfigError(message, setting="workflow", value=other)
        return read_configurable({**self.bound, **named})

    def store_for(self, question: str, configurable: Mapping[str, Any]) -> RunStore:
        """Return a thread's or a new run's store. Raises ConfigError, StoreError."""
        given, named = self._given(configurable), str(configurable.get("thread_id", ""))
        with suppress(RunNotFound):
            if (known := open_runs(given.home).store(named)).exists():
                return known
        return _new_run(question, given, wanted_id=named)

    def _task_of(self, invocation: Invocation, given: Given) -> tuple[RunTask, bool]:
        """Return an invocation's task, and whether it begins with it."""
        thread = str(invocation.configurable.get("thread_id", ""))
        known = str(invocation.values.get("run_id") or given.own.get("deep_research_run") or "")
        is_held = self._holding is not None and self._holding.run_id == known
        if self._is_served and known and not is_held and not known.startswith(f"{thread}."):
            # whoever may write the state of a thread would else name any run of the operator's
            message = f"The thread {thread!r} goes on with a run of its own, not with {known!r}. Begin another thread."
            raise ConfigError(message, setting="thread_id", value=thread)
        text = invocation.messages[-1].text if invocation.messages else ""
        if known or not invocation.messages:
            store = self._holding
            if store is None or store.run_id != known:
                store = open_runs(given.home).store(known)
            if not invocation.messages:
                return _begun(store, follows_up=bool(invocation.values.get("understood"))), False
            if _is_answered(store):
                return FollowUpRun(store, begin_follow_up(store, clean_question(text), {})), True
            if not invocation.values:
                return ResearchRun(store), True
        named = {**({} if invocation.is_durable else {"allow_clarification": False}), **given.settings}
        # In a server a thread may have any name: that of no run that it has not begun.
        wanted = f"{thread}.{secrets.token_hex(4)}" if known or self._is_served else thread
        made = _new_run(text, replace(given, settings=named), history=invocation.messages[:-1], wanted_id=wanted)
        return ResearchRun(made), True

    @asynccontextmanager
    async def open(self, invocation: Invocation) -> AsyncIterator[Sitting]:
        """Open a sitting, as `Host.open`. Raises ConfigError, RunBusy and StoreError."""
        context = invocation.context
        named = context.model_dump(exclude_unset=True) if isinstance(context, Settings) else dict(context or {})
        given = self._given({**invocation.configurable, **named})
        task, is_new = await asyncio.to_thread(self._task_of, invocation, given)
        declined, reports = list[RunDeclined](), list[Report]()

        def listen(event: Event) -> None:
            if isinstance(event, RunDeclined):
                declined.append(event)
            invocation.listener(event)

        servers = given.settings.get("mcp_servers")  # in the form in which they were given
        if servers is not None:
            servers = (await asyncio.to_thread(settings_module.load_settings, mcp_servers=servers)).mcp_servers
        environment = RunEnvironment(given.home, listener=listen, mcp_servers=servers, own=given.objects)
        ends = suppress(Declined, NeedsAnswer)  # they are noted; a graph says it in its state
        holding = nullcontext() if task.store is self._holding else held_beside(task.store.held())
        async with holding:
            with ends, noting_end(task, environment) as log:

                async def keep(values: Mapping[str, Any]) -> None:
                    reports.append(await keep_report(task, log, values))

                if log.earlier:
                    task.note(status="running", waiting_for="", asked=None, error="")
                async with open_task(task, environment, log) as (ctx, start):
                    sitting = Sitting(replace(ctx, keep_report=keep), start if is_new else None)
                    yield sitting
                if declined:
                    raise Declined(declined[0].reason, run_id=task.store.run_id, by=declined[0].by)
                if (asked := sitting.asked) is not None:
                    raise NeedsAnswer(asked.question, run_id=task.store.run_id, options=asked.options, asked=asked)
                if not reports:  # the caller has stopped the graph between two nodes
                    task.note(status="stopped", seconds=log.seconds)


def _new_run(question: str, given: Given, *, history: Sequence[Message] = (), wanted_id: str = "") -> RunStore:
    return create_run(
        question,
        settings_module.load_settings(**given.settings),
        home=given.home,
        docs=given.own.get("docs", ()),
        history=(*read_history(given.own.get("history", ())), *history),
        wanted_id=wanted_id,
    )


def _begun(store: RunStore, *, follows_up: bool) -> RunTask:
    """Return the task begun in a folder; raise ConfigError if the run is not there."""
    try:
        if follows_up and (made := unfinished(store)) is not None:
            return FollowUpRun(store, made)
        return ResearchRun(store)
    except RunNotFound as error:
        message = f"The thread goes on with the run {store.run_id!r}, which is not in the state folder. {error.message}"
        raise ConfigError(message, setting="home", value=store.place) from error


def _is_answered(store: RunStore) -> bool:
    try:
        return store.load_result().answered
    except RunNotFound:
        return False


async def run_graph(
    graph: Any, question: str, config: Mapping[str, Any], answer: Answer | None, *, max_iterations: int | None = None
) -> Report | str:
    """Return the report of `graph` on a question, or a caller's graph's last text.

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
            if answer is None and "allow_clarification" not in host.bound:
                configurable.setdefault("allow_clarification", False)
            if graph.checkpointer in (None, False):
                store = await asyncio.to_thread(host.store_for, question, configurable)
                await stack.enter_async_context(held_beside(store.held()))
                at = store.checkpoints_at()
                checkpoints = await stack.enter_async_context(open_checkpoints(at.location, at.guard))
                graph = graph.copy({"checkpointer": checkpoints, "host": host.for_holder(store)})
                configurable |= {"thread_id": store.run_id, "deep_research_run": store.run_id}
        configurable.setdefault("thread_id", secrets.token_hex(8))
        named = {**config, "configurable": configurable}
        try:
            values = await run_conversation(graph, question, named, lambda asked: ask_user(asked, answer))
        except NeedsAnswer as waiting:
            state = (await graph.aget_state(cast(Any, named))).values
            raise replace(waiting, run_id=str(state.get("run_id", ""))) from None
        if isinstance(graph, ResearchGraph) and not values.get("report"):
            state = (await graph.aget_state(cast(Any, named))).values
            by = state.get("declined_by") or "program"
            raise Declined(str(values.get("final_report")), run_id=state["run_id"], by=by)
    return _result_of(values)


def _result_of(values: Mapping[str, Any]) -> Report | str:
    """Return what a graph ended with; raise ConfigError for one that says nothing."""
    for name in ("report", "final_report"):
        if isinstance(said := values.get(name), Report | str) and said:
            return said
    messages = values.get("messages") or ()
    if messages and (text := str(getattr(messages[-1], "text", "") or messages[-1])):
        return text
    message = f"The graph ended without `report`, `final_report` or `messages`; it gave {sorted(values)}."
    raise ConfigError(message, setting="graph", value=sorted(values))
