"""The workflow as a LangGraph graph, run by itself or inside another graph."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from deep_research import settings as settings_module
from deep_research.assembly.environment import Answer
from deep_research.assembly.own_objects import take_objects
from deep_research.conversation.plan_outline import format_question
from deep_research.data import Asked, Report
from deep_research.setting_arguments import SettingArguments

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import Checkpointer

    from deep_research.graph.research_graph import ResearchGraph

OnQuestion = Callable[[str], "str | None | Awaitable[str | None]"]


def answer_of(on_question: OnQuestion | None) -> Answer | None:
    """Adapt a function that takes a question as text; None means nobody answers.

    To a clarification None is an answer: the person says no more, and the research starts with what is assumed.
    """
    if on_question is None:
        return None

    async def answer(asked: Asked) -> str | None:
        said = on_question(format_question(asked))
        said = await said if inspect.isawaitable(said) else said
        return "" if said is None and asked.kind == "clarify" else said

    return answer


def build_deep_research_graph(
    *,
    hn_mcp_tools: Sequence[Any] | None = None,
    checkpointer: "Checkpointer" = None,
    is_served: bool | None = None,
    **settings: Unpack[SettingArguments],
) -> "ResearchGraph":
    """Return the compiled LangGraph graph of the workflow, bound to these settings.

    It runs by itself: `await graph.ainvoke({"messages": [("user", "…")]}, config)`, or `run_deep_research`. With a
    `checkpointer` (LangGraph's) it can ask back by an interrupt, and a thread goes on: the next message is a question
    about the report. `settings` are those of `research`; `max_iterations` limits the rounds of any workflow.
    `hn_mcp_tools` are LangChain tools for Hacker News, such as langchain-mcp-adapters makes: researchers can call them,
    and one that takes a query stands in for the source `hackernews`. Where the graph `is_served` to clients who are not
    this program (default: inside a LangGraph server), their `configurable` says what a report is like, no more. Raises ConfigError for an unknown setting.
    """
    from deep_research.graph.research_graph import compile_research  # noqa: PLC0415 - langgraph is slow to load
    from deep_research.runs.graph_host import OWN_KEYS, GraphHost  # noqa: PLC0415

    given: dict[str, Any] = {"hn_mcp_tools": hn_mcp_tools, **settings}
    bound = {name: value for name, value in given.items() if value is not None}
    bound |= settings_module.limit_rounds(bound.get("max_iterations"), bound.get("workflow"))
    named, _ = take_objects(bound)
    known = settings_module.load_settings(**{name: value for name, value in named.items() if name not in OWN_KEYS})
    return compile_research(
        known.workflow,
        GraphHost(bound, workflow=known.workflow, is_served=is_served),
        checkpointer=checkpointer,
    )


async def run_deep_research(
    query: str,
    graph: "CompiledStateGraph[Any, Any, Any, Any] | None" = None,
    config: "RunnableConfig | None" = None,
    on_clarify_question: OnQuestion | None = None,
    *,
    max_iterations: int | None = None,
) -> Report | Any:
    """Run `query` through `graph` and return the report (`print` shows its Markdown).

    `config["configurable"]` takes the names of `Settings`, and `docs`, `home` and `history`; it wins over what the
    graph was built with. `thread_id` becomes the run's id where it is free; where it names a run, the query goes on
    with its conversation. `on_clarify_question` is called with a question to the user and returns the answer (or an
    awaitable of it). `max_iterations` limits the rounds of the workflow. A graph of your own gets the query as a message,
    and what it says (a string) is returned.
    """
    from deep_research.runs.graph_host import run_graph  # noqa: PLC0415 - langgraph is slow to load

    named = (config or {}).get("configurable", {})
    asked = graph or build_deep_research_graph(workflow=named.get("workflow", settings_module.load_settings().workflow))
    return await run_graph(asked, query, config or {}, answer_of(on_clarify_question), max_iterations=max_iterations)
