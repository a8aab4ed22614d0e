"""The library's front door: research a question, watch it as events, or build the graph and run it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deep_research import settings as settings_module
from deep_research.data import Report
from deep_research.events import Event
from deep_research.runs import run as runs

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

Docs = Sequence["str | PathLike[str]"]
OnQuestion = Callable[[str], "str | None | Awaitable[str | None]"]

# Keys of `configurable` that belong to LangGraph or to us, and are no settings.
_OWN_KEYS = frozenset({"thread_id", "checkpoint_id", "checkpoint_ns", "docs", "home", "hn_mcp_tools"})


def research(question: str, *, docs: Docs = (), **settings: Any) -> Report:
    """Research `question` and return the report; for code that is not asynchronous.

    `docs` are files and folders to search (without any, the bundled library); `settings` are the
    names of `Settings`, and `home` for the state folder. Raises ConfigError for unusable input, and
    ResearchError when the run fails; print(report) shows its Markdown.
    """
    return asyncio.run(aresearch(question, docs=docs, **settings))


async def aresearch(
    question: str, *, docs: Docs = (), on_clarify_question: OnQuestion | None = None, **settings: Any
) -> Report:
    """Like `research`, in an event loop. Without `on_clarify_question` nothing is asked."""
    return await _run(question, docs, on_clarify_question, settings, listener=lambda _event: None)


async def stream(
    question: str, *, docs: Docs = (), on_clarify_question: OnQuestion | None = None, **settings: Any
) -> AsyncIterator[Event | Report]:
    """Research `question` and yield each event as it happens, and last the Report.

    Leaving the loop early stops the run; its state is kept.
    """
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    task = asyncio.create_task(_run(question, docs, on_clarify_question, settings, listener=queue.put_nowait))
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
    wanted_id: str = "",
) -> Report:
    home = Path(values.pop("home", None) or settings_module.home())
    if on_question is None:
        values.setdefault("allow_clarification", False)
    settings = settings_module.load_settings(**values)
    folder = runs.create(question, home=home, settings=settings, docs=[str(Path(d)) for d in docs], wanted_id=wanted_id)
    answer = (lambda asked: on_question(asked.question)) if on_question else None
    return await runs.carry_out(folder, home=home, listener=listener, answer=answer)


def build_deep_research_graph(
    *,
    hn_mcp_tools: Sequence[Any] | None = None,
    model_provider: str | None = None,
    model_name: str | None = None,
    **settings: Any,
) -> "CompiledStateGraph[Any, Any, Any, Any]":
    """Return the compiled LangGraph graph of the workflow, with these settings bound to it.

    Give it to `run_deep_research`, which adds what a run needs (library, journal, checkpoints).
    Raises ConfigError for an unknown setting.
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
    free), `docs` and `home`; it wins over what the graph was built with. `on_clarify_question` is
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
        wanted_id=str(configurable.get("thread_id", "")),
    )
