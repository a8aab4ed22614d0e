"""Tokens while a section is written, and model calls as callbacks and tracers see them."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.outputs import LLMResult

from deep_research import build_deep_research_graph
from deep_research.errors import ConfigError
from tests.model.harness import QUESTION, served
from tests.runs.running import engines


def _graph() -> Any:
    return build_deep_research_graph(model_provider="compatible", model_name="scripted", max_review_iterations=0)


def _config(folder: Path, **more: Any) -> Any:
    return {"configurable": {"docs": [str(engines(folder / "docs"))]}, **more}


def _asked() -> dict[str, Any]:
    return {"messages": [("user", QUESTION)]}


async def test_tokens_of_the_report_while_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch):
        parts = [
            part
            async for part in _graph().astream(
                _asked(), _config(tmp_path), stream_mode=["messages", "updates"], subgraphs=True
            )
        ]
    (place,) = [n for n, (_, mode, data) in enumerate(parts) if mode == "updates" and "final_report" in data]
    tokens: dict[str, list[str]] = {}
    for _, mode, data in parts[:place]:
        if mode == "messages" and data[1]["langgraph_node"] == "final_report":
            tokens.setdefault(data[0].id, []).append(data[0].content)
    written = ["".join(pieces) for pieces in tokens.values() if len(pieces) > 3]
    assert written, "it comes in pieces, before the report is there"
    assert any("Alpha engine" in text for text in written)
    assert not any(piece.lstrip().startswith("{") for pieces in tokens.values() for piece in pieces), "prose, no JSON"


async def test_messages_without_subgraphs_are_those_of_the_conversation_and_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch):
        stream = _graph().astream(_asked(), _config(tmp_path), stream_mode="messages")
        seen = [(message, about["langgraph_node"]) async for message, about in stream]
    assert {node for _, node in seen} <= {"clarify", "review", "final_report"}, "a report is begun during the review"
    assert seen[-1][0].content.startswith("# ")
    assert len([1 for _, node in seen if node != "clarify"]) > 3


class _Calls(BaseCallbackHandler):
    def __init__(self) -> None:
        self.started: list[tuple[str, Any, list[str], dict[str, Any]]] = []
        self.ended: list[LLMResult] = []
        self.failed = 0

    def on_chat_model_start(self, serialized: Any, messages: Any, **about: Any) -> None:
        self.started.append((about["name"], messages, about["tags"] or [], about["metadata"]))

    def on_llm_end(self, response: LLMResult, **about: Any) -> None:
        self.ended.append(response)

    def on_llm_error(self, error: BaseException, **about: Any) -> None:
        self.failed += 1


async def test_each_model_call_is_a_run_with_a_name_its_tokens_and_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _Calls()
    with served(monkeypatch) as provider:
        config = _config(tmp_path, callbacks=[calls], tags=["mine"], metadata={"customer": "7"})
        events = [event async for event in _graph().astream_events(_asked(), config, version="v2")]
        asked = len(provider.calls)
    assert {e["name"] for e in events if e["event"] == "on_chat_model_stream"} == {"report: answer"}
    assert len(calls.started) == len(calls.ended) == asked
    names = {name for name, *_ in calls.started}
    assert {"research: decide", "research: plan", "research: answer", "report: answer", "judge: judge"} <= names
    _name, messages, tags, about = next(row for row in calls.started if row[0] == "report: answer")
    assert messages[0][0].type == "system"
    assert "mine" in tags
    assert "nostream" not in tags
    assert about["ls_model_name"] == "scripted"
    assert about["ls_provider"] == "compatible"
    assert about["customer"] == "7"
    assert about["langgraph_node"] == "final_report"
    assert all("nostream" in row[2] for row in calls.started if row[0].startswith(("research", "review", "judge")))
    used = [generation.message.usage_metadata for result in calls.ended for (generation,) in result.generations]
    assert sum(one["input_tokens"] for one in used) == provider.prompt_tokens


async def test_a_call_that_fails_ends_its_run_with_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _Calls()
    with served(monkeypatch, lambda _request: "no JSON", key="another-key"), pytest.raises(ConfigError):
        await _graph().ainvoke(_asked(), _config(tmp_path, callbacks=[calls]))
    assert calls.failed == len(calls.started) > 0
