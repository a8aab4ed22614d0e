"""The library's front door: research a question, watch it as events, or build the graph and run it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deep_research import settings as settings_module
from deep_research.assembly.mcp_tools import Outside
from deep_research.conversation.plan_outline import as_text
from deep_research.data import FollowUp, Message, Report
from deep_research.errors import ConfigError
from deep_research.events import Event
from deep_research.runs import lifecycle as runs
from deep_research.stores.run_folder import open_run

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

Docs = Sequence["str | PathLike[str]"]
OnQuestion = Callable[[str], "str | None | Awaitable[str | None]"]

History = Sequence["str | Message | Mapping[str, str]"]

# Keys of `configurable` that belong to LangGraph or to us, and are no settings.
_OWN_KEYS = frozenset({"thread_id", "checkpoint_id", "checkpoint_ns", "docs", "home", "history", "hn_mcp_tools"})


def research(question: str, *, docs: Docs = (), history: History = (), **settings: Any) -> Report:
    """Research `question` and return the report; for code that is not asynchronous.

    `docs` are files and folders to search (without any, the bundled library); `history` is the conversation before
    the question, oldest first, as messages with `role` ("user" or "assistant") and `text` (or `content`), or as
    texts of the user; `settings` are the names of `Settings`, and `home` for the state folder. Raises ConfigError
    for unusable input, Declined when nothing can answer the question or its plan was rejected, and another
    ResearchError when the run fails; print(report) shows its Markdown.
    """
    return asyncio.run(aresearch(question, docs=docs, history=history, **settings))


async def aresearch(
    question: str,
    *,
    docs: Docs = (),
    history: History = (),
    on_clarify_question: OnQuestion | None = None,
    **settings: Any,
) -> Report:
    """Like `research`, in an event loop.

    `on_clarify_question` is called with what the user is asked, a plan included, as one text. Without it nothing is
    asked; a plan that must be confirmed (`confirm_plan=True`) then raises NeedsAnswer, and the run can be resumed.
    """
    return await _run(question, docs, on_clarify_question, settings, listener=lambda _event: None, history=history)


def follow_up(run_id: str, question: str, **settings: Any) -> FollowUp:
    """Ask `question` about the report of an earlier run; for code that is not asynchronous. See `afollow_up`."""
    return asyncio.run(afollow_up(run_id, question, **settings))


async def afollow_up(run_id: str, question: str, **settings: Any) -> FollowUp:
    """Return the answer to a question about the report of an earlier run: from what the run has read, and by new
    searches at its places where that says nothing (`found_in` says which).

    Passages keep the ids they have in the report. `settings` are those that differ from the run's (who thinks), and
    `home` for the state folder; print(answer) shows its Markdown. Raises RunNotFound for a run that is not there or
    has no report, ConfigError for unusable input.
    """
    from deep_research.runs import follow_up_run as followup  # noqa: PLC0415 - only where it is asked for

    home = Path(settings.pop("home", None) or settings_module.home())
    folder = open_run(home, run_id)
    return await followup.follow_up(folder, question, home=home, listener=lambda _event: None, settings=settings)


async def stream(
    question: str,
    *,
    docs: Docs = (),
    history: History = (),
    on_clarify_question: OnQuestion | None = None,
    **settings: Any,
) -> AsyncIterator[Event | Report]:
    """Research `question` and yield each event as it happens, and last the Report.

    Leaving the loop early stops the run; its state is kept.
    """
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    task = asyncio.create_task(
        _run(question, docs, on_clarify_question, settings, listener=queue.put_nowait, history=history)
    )
    task.add_done_callback(lambda _task: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        yield await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])


async def _run(
    question: str,
    docs: Docs,
    on_question: OnQuestion | None,
    values: dict[str, Any],
    *,
    listener: Callable[[Event], None],
    history: History = (),
    hn_mcp_tools: Sequence[Any] = (),
    wanted_id: str = "",
) -> Report:
    home = Path(values.pop("home", None) or settings_module.home())
    if on_question is None:
        values.setdefault("allow_clarification", False)
    settings = settings_module.load_settings(**values)
    folder = runs.create(
        question,
        home=home,
        settings=settings,
        docs=[str(Path(d)) for d in docs],
        history=messages_of(history),
        wanted_id=wanted_id,
    )
    answer = (lambda asked: on_question(as_text(asked))) if on_question else None
    outside = Outside(settings.mcp_servers, hn_mcp_tools)
    return await runs.carry_out(folder, home=home, listener=listener, answer=answer, outside=outside)


def build_deep_research_graph(
    *,
    hn_mcp_tools: Sequence[Any] | None = None,
    model_provider: str | None = None,
    model_name: str | None = None,
    **settings: Any,
) -> "CompiledStateGraph[Any, Any, Any, Any]":
    """Return the compiled LangGraph graph of the workflow, with these settings bound to it.

    Give it to `run_deep_research`, which adds what a run needs (library, journal, checkpoints). `hn_mcp_tools` are
    LangChain tools for Hacker News, such as langchain-mcp-adapters makes: researchers can call them, and one that
    takes a query stands in for the source `hackernews`. Raises ConfigError for an unknown setting.
    """
    from deep_research.graph.workflows import compile_workflow  # noqa: PLC0415 - langgraph is slow to load

    given = {"model_provider": model_provider, "model_name": model_name, **settings}
    bound: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    settings_module.load_settings(**{name: value for name, value in bound.items() if name not in _OWN_KEYS})
    if hn_mcp_tools is not None:
        bound["hn_mcp_tools"] = list(hn_mcp_tools)
    return compile_workflow(str(bound.get("workflow", "sections"))).with_config({"configurable": bound})


async def run_deep_research(
    query: str,
    graph: "CompiledStateGraph[Any, Any, Any, Any] | None" = None,
    config: "RunnableConfig | None" = None,
    on_clarify_question: OnQuestion | None = None,
) -> Report:
    """Run `query` through `graph` and return the report (`print(report)` shows its Markdown).

    `config["configurable"]` takes the names of `Settings`, and `thread_id` (the run's id where it is
    free), `docs`, `home` and `history`; it wins over what the graph was built with. `on_clarify_question` is
    called with a question to the user and returns the answer (or an awaitable of it).
    """
    configurable: dict[str, Any] = dict(((graph.config if graph else None) or {}).get("configurable", {}))
    configurable.update((config or {}).get("configurable", {}))
    values = {name: value for name, value in configurable.items() if name not in _OWN_KEYS}
    if home := configurable.get("home"):
        values["home"] = home
    return await _run(
        query,
        configurable.get("docs", ()),
        on_clarify_question,
        values,
        listener=lambda _event: None,
        history=configurable.get("history", ()),
        hn_mcp_tools=configurable.get("hn_mcp_tools") or (),
        wanted_id=str(configurable.get("thread_id", "")),
    )


def messages_of(history: History) -> list[Message]:
    """Return a conversation as messages; see `research`. Raises ConfigError for what is none."""
    return [_message(turn) for turn in history]


def _message(turn: "str | Message | Mapping[str, str]") -> Message:
    if isinstance(turn, Message):
        return turn
    if isinstance(turn, str):
        return Message(role="user", text=turn)
    role = {"human": "user", "ai": "assistant"}.get(str(turn.get("role")), turn.get("role"))
    text = turn.get("text", turn.get("content"))
    if role not in ("user", "assistant") or not isinstance(text, str):
        message = (
            f"A message of `history` needs a role (user or assistant) and a text; this one has none: {turn!r:.120}"
        )
        raise ConfigError(message, setting="history", value=str(turn)[:120])
    return Message(role=role, text=text)
