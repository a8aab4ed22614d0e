"""The graph of a workflow as a user of LangGraph runs it: alone, with a checkpointer, in threads, inside another one."""

import asyncio
import logging
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import MemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from deep_research import Report, Settings, build_deep_research_graph, research, run_deep_research
from deep_research.errors import ConfigError, RunNotFound
from deep_research.stores.open_stores import open_runs
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.runs.soundness import assert_citations_resolve

QUESTION = "Which kinds of engines are there?"
VAGUE = "tell me about it"


def _asked(question: str = QUESTION) -> dict[str, Any]:
    return {"messages": [("user", question)]}


def _config(docs: str, thread: str = "one", **more: Any) -> Any:
    return {"configurable": {"thread_id": thread, "docs": [docs], **more}}


class _Seen(BaseCallbackHandler):
    def __init__(self) -> None:
        self.names: list[str] = []
        self.tags: set[str] = set()
        self.metadata: dict[str, Any] = {}

    def on_chain_start(self, _serialized: Any, _inputs: Any, **about: Any) -> None:
        self.names.append(str(about.get("name")))
        self.tags |= set(about.get("tags") or ())
        self.metadata |= about.get("metadata") or {}


async def test_messages_go_in_and_the_report_comes_out_and_callbacks_see_its_steps(docs: str) -> None:
    seen = _Seen()
    config: Any = {
        "callbacks": [seen],
        "tags": ["mine"],
        "metadata": {"customer": "7"},
        "run_name": "engines",
        "configurable": {"docs": [docs], "user_id": "u1"},
    }
    out = await build_deep_research_graph().ainvoke(_asked(VAGUE), config)
    assert seen.names[0] == "engines"
    assert {"clarify", "analyze", "plan_sections", "researcher", "compress_output", "final_report"} <= set(seen.names)
    assert "mine" in seen.tags
    assert seen.metadata["customer"] == "7"
    assert out["report"].assumptions, "nothing is asked where no answer could come"
    assert set(out) == {"messages", "final_report", "report"}
    assert isinstance(out["report"], Report)
    assert_citations_resolve(out["report"])
    assert out["messages"][-1].text == out["final_report"] == out["report"].report
    assert [m.type for m in out["messages"]] == ["human", "ai", "ai"]


async def test_messages_in_every_form_that_langgraph_takes(docs: str) -> None:
    graph = build_deep_research_graph(workflow="quick")
    for messages in (
        [{"role": "user", "content": QUESTION}],
        QUESTION,
        [HumanMessage([{"type": "text", "text": QUESTION}])],
    ):
        out = await graph.ainvoke({"messages": messages}, {"configurable": {"docs": [docs]}})
        assert out["report"].question == QUESTION


@pytest.mark.parametrize("given", [{"messages": []}, {"messages": [AIMessage("hello")]}, {"original_query": "x"}])
async def test_an_input_without_a_question_says_what_is_wanted(given: Any, own_state: Path) -> None:
    with pytest.raises(ConfigError, match="HumanMessage"):
        await build_deep_research_graph().ainvoke(given)
    assert list_runs(own_state) == []


async def test_an_interrupt_a_resume_and_the_next_question_on_one_thread(
    docs: str, tmp_path: Path, own_state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database, config = str(tmp_path / "threads.db"), _config(docs)
    async with AsyncSqliteSaver.from_conn_string(database) as saver:
        out = await build_deep_research_graph(checkpointer=saver).ainvoke(_asked(VAGUE), config)
    (waiting,) = out["__interrupt__"]
    assert waiting.value["kind"] == "clarify"
    assert waiting.value["options"]
    (head,) = list_runs(own_state)
    record = RunFolder(own_state, head.run_id).load()
    assert (record.run_id, record.status) == ("one", "waiting")
    async with AsyncSqliteSaver.from_conn_string(database) as saver:
        graph = build_deep_research_graph(checkpointer=saver)  # what the one has kept the next one reads
        with caplog.at_level(logging.WARNING):
            out = await graph.ainvoke(Command(resume="the Alpha engine"), config)
        assert [record.message for record in caplog.records if "unregistered" in record.message] == []
        state = await graph.aget_state(config)
        assert (state.next, state.values["original_query"]) == ((), VAGUE)
        assert {"query_type", "sections", "research_brief", "review_iterations"} <= set(state.values)
        assert len([one async for one in graph.aget_state_history(config)]) > 5
        assert "Alpha" in out["report"].title
        assert [m.type for m in out["messages"]] == ["human", "ai", "human", "ai", "ai"]
        assert list_runs(own_state)[0].status == "finished"
        out = await graph.ainvoke(_asked("How fast is it?"), config)
    assert "Alpha engine" in out["report"].report
    assert out["messages"][-1].text == out["report"].report
    assert [m.type for m in out["messages"]][-3:] == ["ai", "human", "ai"]
    assert len(list_runs(own_state)) == 1


async def test_a_question_that_is_declined_says_why(docs: str) -> None:
    graph, config = build_deep_research_graph(checkpointer=MemorySaver(), confirm_plan=True), _config(docs)
    await graph.ainvoke(_asked(), config)
    out = await graph.ainvoke(Command(resume="no"), config)
    assert out.get("report") is None
    assert out["final_report"]


def test_invoke_and_stream_without_an_event_loop(docs: str) -> None:
    graph, config = build_deep_research_graph(max_review_iterations=0), {"configurable": {"docs": [docs]}}
    assert graph.invoke(_asked(), config)["report"].answered
    nodes = [name for part in graph.stream(_asked(), config, stream_mode="updates") for name in part]
    assert nodes[0] == "clarify"
    assert nodes[-1] == "final_report"


MODES = ("values", "updates", "messages", "custom", "checkpoints", "tasks", "debug")


async def test_all_stream_modes(docs: str) -> None:
    graph, config = build_deep_research_graph(checkpointer=MemorySaver()), _config(docs)
    seen: dict[str, list[Any]] = {}
    async for part in graph.astream(_asked(), config, stream_mode=list(MODES), subgraphs=True):
        _path, mode, data = part
        seen.setdefault(mode, []).append(data)
    assert set(seen) == set(MODES)
    kinds = [event["kind"] for event in seen["custom"]]
    assert kinds[0] == "run_started"
    assert kinds[-1] == "report_ready"
    assert seen["messages"][-1][0].text.startswith("# ")
    assert seen["values"][-1]["final_report"]


async def test_leaving_a_stream_stops_the_run_and_the_thread_goes_on(docs: str, own_state: Path) -> None:
    graph, config = build_deep_research_graph(checkpointer=MemorySaver()), _config(docs)
    stream = graph.astream(_asked(), config, stream_mode="updates")
    async for part in stream:
        if "plan_sections" in part:
            break
    await stream.aclose()
    assert list_runs(own_state)[0].status == "stopped"
    out = await graph.ainvoke(None, config)
    assert out["report"].answered
    assert list_runs(own_state)[0].status == "finished"


async def test_settings_as_context_and_bound_configuration(docs: str, own_state: Path) -> None:
    graph = build_deep_research_graph(max_discover_iterations=3, workflow="quick")
    graph = graph.with_config({"configurable": {"docs": [docs]}})
    await graph.ainvoke(_asked(), context=Settings(max_review_iterations=0))
    await graph.ainvoke(_asked(), context={"max_review_iterations": 0})
    for head in list_runs(own_state):
        told = RunFolder(own_state, head.run_id).load().settings
        assert (told["max_review_iterations"], told["max_discover_iterations"]) == (0, 3)


def test_schemas_are_small_and_public() -> None:
    graph = build_deep_research_graph()
    assert set(graph.get_input_jsonschema()["properties"]) == {"messages"}
    assert set(graph.get_output_jsonschema()["properties"]) == {"messages", "final_report", "report"}
    context = graph.get_context_jsonschema()
    assert context is not None
    assert set(context["properties"]) == set(Settings.model_fields)


@pytest.mark.parametrize("workflow", ["loop", "supervisor"])
async def test_every_workflow_runs_and_takes_a_follow_up(docs: str, workflow: str) -> None:
    graph, config = build_deep_research_graph(checkpointer=MemorySaver(), workflow=workflow), _config(docs)
    out = await graph.ainvoke(_asked(), config)
    assert out["report"].workflow == workflow
    assert out["report"].answered
    out = await graph.ainvoke(_asked("How fast is the Alpha engine?"), config)
    assert out["report"].title.startswith("How fast is the Alpha engine")
    assert "__start__" in graph.get_graph(xray=True).draw_mermaid()


async def test_as_a_node_of_another_graph_that_is_interrupted_and_resumed(docs: str) -> None:
    outer = StateGraph(MessagesState)
    outer.add_node("research", build_deep_research_graph().with_config({"configurable": {"docs": [docs]}}))
    outer.add_node("thank", lambda _state: {"messages": [AIMessage("Thank you.")]})
    outer.add_edge(START, "research")
    outer.add_edge("research", "thank")
    outer.add_edge("thank", END)
    graph = outer.compile(checkpointer=MemorySaver())
    config: Any = {"configurable": {"thread_id": "outer"}}
    out = await graph.ainvoke({"messages": [HumanMessage(VAGUE)]}, config)
    assert out["__interrupt__"][0].value["kind"] == "clarify"
    out = await graph.ainvoke(Command(resume="the Alpha engine"), config)
    assert out["messages"][-1].text == "Thank you."
    assert out["messages"][-2].text.startswith("# ")


async def test_run_deep_research_runs_the_graph_that_it_is_given() -> None:
    own = StateGraph(MessagesState)
    own.add_node("say", lambda state: {"messages": [AIMessage(f"MINE: {state['messages'][-1].text}")]})
    own.add_edge(START, "say")
    assert await run_deep_research("What?", own.compile()) == "MINE: What?"


@pytest.mark.parametrize("where", ["configurable", "context"])
async def test_clients_of_a_served_graph_decide_what_a_report_is_like_and_nothing_else(
    docs: str, tmp_path: Path, own_state: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Whoever reaches a LangGraph server can send a `configurable`: no file, folder, address or program of theirs."""
    monkeypatch.setitem(sys.modules, "langgraph_api", sys)
    secret, elsewhere = tmp_path / "secret.txt", tmp_path / "elsewhere"
    secret.write_text("The engine of the secret turns at 9,999 rpm.", "utf-8")
    theirs = {
        "docs": [str(secret)], "home": str(elsewhere), "model_base_url": "http://127.0.0.1:9", "model_provider": "openai",
        "mcp_servers": {"a": {"command": "touch", "args": [str(elsewhere)]}}, "depth": "brief",
    }  # fmt: skip
    config: dict[str, Any] = {"configurable": {"thread_id": "t", **(theirs if where == "configurable" else {})}}
    with pytest.warns(UserWarning, match="Not taken from a client"):
        out = await build_deep_research_graph(docs=[docs], workflow="quick").ainvoke(
            _asked(), config, context=theirs if where == "context" else None
        )
    assert "9,999" not in out["final_report"]
    assert "rpm" in out["final_report"]
    assert not elsewhere.exists()
    assert len(list_runs(own_state)) == 1


async def test_a_client_cannot_name_the_run_that_a_thread_goes_on_with(
    docs: str, tmp_path: Path, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state of a thread is its client's to write: `run_id` there is no path, and no run of somebody else."""
    monkeypatch.setitem(sys.modules, "langgraph_api", sys)
    graph = build_deep_research_graph(docs=[docs], checkpointer=MemorySaver(), workflow="quick")
    private = await asyncio.to_thread(research, QUESTION, docs=[docs], workflow="quick")
    copied = tmp_path / "copied"
    (own_state / "runs" / private.run_id).rename(copied)
    for number, named in enumerate((str(copied), "../../copied", private.run_id)):
        config: Any = {"configurable": {"thread_id": f"t{number}"}}
        await graph.aupdate_state(config, {"run_id": named})
        with pytest.raises(ConfigError, match="a run of its own"):
            await graph.ainvoke(_asked(), config)
    copied.rename(own_state / "runs" / private.run_id)
    config = {"configurable": {"thread_id": private.run_id}}  # a thread may have the name of any run
    await graph.aupdate_state(config, {"run_id": private.run_id})
    with pytest.raises(ConfigError, match="a run of its own"):
        await graph.ainvoke(_asked(), config)
    own: Any = {"configurable": {"thread_id": "mine"}}
    await graph.ainvoke(_asked(), own)
    assert "rpm" in (await graph.ainvoke(_asked("How fast does it turn?"), own))["final_report"]


def test_the_id_of_a_run_is_no_path(own_state: Path) -> None:
    for run_id in ("/tmp/evil", "../other", "."):
        with pytest.raises(RunNotFound):
            open_runs(own_state).store(run_id)


async def test_the_workflow_is_named_where_a_graph_is_built(docs: str) -> None:
    with pytest.raises(ConfigError, match="workflow='loop'"):
        await build_deep_research_graph().ainvoke(_asked(), _config(docs, workflow="loop"))
    report = await run_deep_research(QUESTION, config=_config(docs, "loops", workflow="loop"))
    assert report.workflow == "loop"


async def test_runs_side_by_side_on_one_graph(docs: str) -> None:
    graph = build_deep_research_graph(checkpointer=MemorySaver())
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(graph.ainvoke(_asked(), _config(docs, name))) for name in ("a", "b", "c")]
    assert {task.result()["report"].run_id for task in tasks} == {"a", "b", "c"}
