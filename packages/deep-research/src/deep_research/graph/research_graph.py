"""A workflow as a self-contained LangGraph graph, for programs using LangGraph.

It is invoked like any other: `{"messages": […]}` in, `messages`, `final_report` and `report` out, with the caller's
checkpointer, thread, callbacks, tags and stream modes. What its nodes need (library, journal, sources, reasoner) is
opened by a host when an invocation begins and closed when it ends. On a thread that was used before, a message
answers the question that is open, asks about the report that is there, or begins a new research.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Protocol, cast, get_origin

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs
from langgraph.config import get_config, get_stream_writer
from langgraph.errors import GraphInterrupt
from langgraph.graph import START
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Overwrite, StateSnapshot
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from deep_research.concurrency import stream_now
from deep_research.data import Asked, Message, Report
from deep_research.errors import ConfigError
from deep_research.events import ClarificationAsked, Event
from deep_research.graph.follow_up_graph import build_follow_up
from deep_research.graph.run_graph import Ask, answer_questions, asked_of, knowing_nouns, recompiled
from deep_research.graph.workflows import load_builder
from deep_research.run_context.context import RunContext, node_config
from deep_research.settings import Settings

_RECURSION_LIMIT = 200
_CHECKPOINTER, _RESUMING = "__pregel_checkpointer", "__pregel_resuming"
"""Keys of `configurable` that LangGraph sets for a graph inside another one."""


class ResearchInput(TypedDict):
    """The graph's input: a conversation ending in the human's question or answer."""

    messages: Annotated[list[AnyMessage], add_messages]


class ResearchOutput(TypedDict):
    """The graph's output: the conversation ending in the report, Markdown and data.

    Where there is no report (the question was declined) `final_report` says why, and `report` is missing.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    final_report: str
    report: Report


@dataclass(frozen=True)
class Invocation:
    """What a graph is asked to do.

    `messages` are the conversation with the new message last; none to go on with what was begun. `values` is the
    state that the thread has, `configurable` and `context` what the caller gives, `is_durable` whether its state is
    kept, so that a question to the user can be answered later. `listener` is called with every event.
    """

    messages: tuple[Message, ...]
    values: Mapping[str, Any]
    configurable: Mapping[str, Any]
    context: Settings | Mapping[str, Any] | None
    is_durable: bool
    listener: Callable[[Event], None]


@dataclass
class Sitting:
    """An open run: its context and its initial state (None resumes the checkpoint).

    `asked` is what it waits for when it is closed.
    """

    context: RunContext
    start: Mapping[str, Any] | None
    asked: Asked | None = None

    def wait_for(self, asked: Asked) -> None:
        """Note that the run waits for the user."""
        self.asked = asked
        self.context.emit(ClarificationAsked(about=asked.kind, question=asked.question, options=asked.options))


class Host(Protocol):
    """Opens what a graph's nodes need."""

    def open(self, invocation: Invocation) -> AbstractAsyncContextManager[Sitting]:
        """Open the run for a block; at its end, close everything and note the outcome."""
        ...


def compile_research(name: str, host: Host, *, checkpointer: Any = None, **options: Any) -> "ResearchGraph":
    """Return a workflow's self-contained graph; `options` go to `StateGraph.compile`.

    Raises ConfigError for an unknown workflow.
    """
    builder = load_builder(name)()
    (first,) = (end for start, end in builder.edges if start == START)
    builder.edges.discard((START, first))
    builder.add_node("follow_up", build_follow_up().compile())

    def enter(state: Mapping[str, Any]) -> str:
        """Begin with the front door, or answer a question about the report that is there."""
        return "follow_up" if state.get("understood") else first

    builder.add_conditional_edges(START, enter, [first, "follow_up"])
    builder.set_finish_point("follow_up")
    compiled = builder.compile(checkpointer=knowing_nouns(checkpointer), **{"name": "deep_research", **options})
    made = recompiled(ResearchGraph, compiled, host=host)
    made.context_schema = Settings
    made.output_channels = list(ResearchOutput.__annotations__)
    return made.with_config({"recursion_limit": _RECURSION_LIMIT})


class ResearchGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A workflow graph that opens its own resources, with messages in and out."""

    def __init__(self, *, host: Host, **parts: Any) -> None:
        super().__init__(**parts)
        self.host = host

    def get_input_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """Return the schema of what the graph takes; the state has many more keys."""
        del config
        return TypeAdapter(ResearchInput).json_schema()

    def get_output_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """Return the schema of what the graph gives."""
        del config
        return TypeAdapter(ResearchOutput).json_schema()

    async def astream(
        self,
        input: Any,  # noqa: A002 - LangGraph's name
        config: RunnableConfig | None = None,
        *,
        context: Settings | Mapping[str, Any] | None = None,
        **options: Any,
    ) -> AsyncIterator[Any]:
        """Run the graph and yield its parts, as `CompiledStateGraph.astream` does.

        `context` are settings; those in `config["configurable"]` count as well. The stream mode `custom` yields the
        events of the run as data. Raises ConfigError for an input without a question and for unusable settings.
        """
        merged = ensure_config(merge_configs(self.config, config))
        configurable = merged.get("configurable", {})
        snapshot = await self._snapshot(merged)
        messages, given = _read_input(input, snapshot, is_resuming=bool(configurable.get(_RESUMING)))
        parts = _Parts(options)
        invocation = Invocation(
            messages=messages,
            values=snapshot.values if snapshot is not None else MappingProxyType({}),
            configurable=configurable,
            context=context,
            is_durable=self._has_checkpointer(merged),
            listener=parts.add_event,
        )
        ended: BaseException | None = None
        async with self.host.open(invocation) as sitting:
            if messages and sitting.start is not None:
                given = {**self._blank(snapshot), **sitting.start, "messages": given}
            node_config.set(get_config)
            try:
                stream = super().astream(given, config, context=sitting.context, **options)
                async with aclosing(parts.merged_with(stream)) as merged_parts:
                    async for part in merged_parts:
                        yield part
                left = await self._snapshot(merged)
                if left is not None and left.interrupts:
                    sitting.wait_for(asked_of(left.interrupts[0].value))
            except GraphInterrupt as waiting:  # inside another graph
                sitting.wait_for(asked_of(waiting.args[0][0].value))
                ended = waiting
        if ended is not None:
            raise ended

    def stream(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **options: Any,
    ) -> Iterator[Any]:
        """Run the graph in an event loop of its own and yield its parts; see `astream`."""
        return stream_now(lambda: self.astream(input, config, **options))

    async def _snapshot(self, config: RunnableConfig) -> StateSnapshot | None:
        """Return the state of the thread, or None if none is kept or there is none yet."""
        if not self._has_checkpointer(config):
            return None
        if "thread_id" not in config.get("configurable", {}):
            message = 'A graph with a checkpointer needs a thread: config={"configurable": {"thread_id": "1"}}.'
            raise ConfigError(message, setting="thread_id", value=None)
        found = await self.aget_state(config)
        return found if found.created_at is not None else None

    def _has_checkpointer(self, config: RunnableConfig) -> bool:
        return bool(config.get("configurable", {}).get(_CHECKPOINTER)) or self.checkpointer not in (None, False)

    def _blank(self, snapshot: StateSnapshot | None) -> dict[str, Any]:
        """Return what empties the state that an earlier question has left on the thread."""
        used = snapshot.values if snapshot is not None else {}
        return {name: _emptied(self.channels[name]) for name in used if name != "messages" and name in self.channels}


def _emptied(channel: Any) -> Any:
    kind = channel.UpdateType
    kind = kind.__origin__ if get_origin(kind) is Annotated else kind
    made = get_origin(kind) or kind
    blank = made() if made in (list, dict, tuple, str, int, bool) else None
    return Overwrite(blank) if hasattr(channel, "operator") else blank


def _read_input(given: Any, snapshot: StateSnapshot | None, *, is_resuming: bool) -> tuple[tuple[Message, ...], Any]:
    """Return the conversation with the new message last, and the graph's input.

    The input is messages or a Command.

    There is no conversation where the graph goes on with what was begun. Raises ConfigError.
    """
    if given is None or isinstance(given, Command) or is_resuming:
        if snapshot is None:
            raise ConfigError("There is nothing to go on with: the thread is new.", setting="thread_id", value=None)
        return (), given
    new = _new_messages(given)
    earlier = snapshot.values.get("messages", ()) if snapshot is not None else ()
    if snapshot is not None and snapshot.interrupts:
        asked = AIMessage(str(snapshot.interrupts[0].value.get("question", "")))
        return (), Command(resume=new[-1].text, update={"messages": [asked, *new]})
    if snapshot is not None and snapshot.next and snapshot.values.get("original_query") == new[-1].text:
        return (), None
    known = {message.id for message in new}
    talk = [*(message for message in earlier if message.id not in known), *new]
    told = tuple(said for message in talk if (said := _told(message)) is not None)
    return told, new


def _new_messages(given: Any) -> list[BaseMessage]:
    """Return input messages up to the last human one; raise ConfigError without one."""
    raw = given.get("messages") if isinstance(given, Mapping) else getattr(given, "messages", None)
    try:
        messages = cast("list[BaseMessage]", add_messages([], raw or []))
    except (ValueError, TypeError, NotImplementedError) as error:
        raise ConfigError(f"The messages cannot be read: {error}", setting="messages", value=str(raw)[:120]) from error
    while messages and not isinstance(messages[-1], HumanMessage):
        messages.pop()
    if not messages or not messages[-1].text.strip():
        message = (
            'The graph takes a conversation that ends with a question: {"messages": [HumanMessage("…")]} or '
            '{"messages": [{"role": "user", "content": "…"}]}.'
        )
        raise ConfigError(message, setting="messages", value=str(raw)[:120])
    return messages


def _told(message: BaseMessage) -> Message | None:
    role = {"human": "user", "ai": "assistant"}.get(message.type)
    text = message.text.strip()
    return Message(role=cast(Any, role), text=text) if role is not None and text else None


class _Parts:
    """A graph's stream parts, interleaved with the events of the run."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        modes = options.get("stream_mode")
        self._modes: Sequence[str] = [modes] if isinstance(modes, str) else list(modes or ())
        self._names_modes = not isinstance(modes, str)
        self._has_paths, self._version = bool(options.get("subgraphs")), options.get("version", "v1")
        self._queue: asyncio.Queue[Any] = asyncio.Queue()
        try:
            self._outer: Callable[[Any], None] | None = get_stream_writer()
        except RuntimeError:  # not inside another graph
            self._outer = None

    def add_event(self, event: Event) -> None:
        """Take in an event, where the caller wants events."""
        data = event.model_dump(mode="json")
        if "custom" in self._modes:
            self._queue.put_nowait(self._shaped(data))
        elif self._outer is not None:
            self._outer(data)

    def _shaped(self, data: Any) -> Any:
        """Return data of the mode `custom` in the form that the caller's options ask for."""
        if self._version == "v2":
            return {"type": "custom", "ns": (), "data": data}
        path = ((),) if self._has_paths else ()
        mode = ("custom",) if self._names_modes else ()
        return (*path, *mode, data) if path or mode else data

    async def merged_with(self, stream: AsyncIterator[Any]) -> AsyncGenerator[Any]:
        """Yield stream parts and events as they come; raise what `stream` raises."""
        pumping = asyncio.create_task(self._pump(stream))
        try:
            while (part := await self._queue.get()) is not self:
                yield part
            await pumping
        finally:
            if not pumping.done():
                pumping.cancel()
                await asyncio.wait([pumping])

    async def _pump(self, stream: Any) -> None:
        try:
            async with aclosing(stream):
                async for part in stream:
                    self._queue.put_nowait(part)
        finally:
            self._queue.put_nowait(self)


async def run_conversation(graph: Any, question: str, config: Mapping[str, Any], answer: Ask) -> Any:
    """Run a graph on `question`, its questions put to `answer`; return its values."""
    given = {"messages": [HumanMessage(question)]}
    return await answer_questions(graph, given, cast(RunnableConfig, config), answer)
