"""The names that the code of the supervisor's design uses: settings, nodes, tools, keys of the state (rows D1–D8)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deep_research import build_deep_research_graph, run_deep_research
from deep_research.errors import ConfigError
from deep_research.graph.workflows import compile_workflow
from deep_research.settings import SETTING_ALIASES, load_settings
from deep_research.stores.run_folder import list_runs
from tests.documents.served import served_everywhere
from tests.runs.running import engines

CONFIGURATION = {
    "allow_clarification": True,
    "max_structured_output_retries": 3,
    "research_model": "openai:gpt-4.1",
    "research_model_max_tokens": 10_000,
    "compression_model": "openai:gpt-4.1",
    "compression_model_max_tokens": 8_192,
    "final_report_model": "openai:gpt-4.1",
    "final_report_model_max_tokens": 10_000,
    "max_concurrent_research_units": 5,
    "max_researcher_iterations": 6,
    "max_react_tool_calls": 10,
    "search_api": "tavily",
    "mcp_prompt": "",
}
"""Every `configurable.NAME` of the design's code, with a value of its kind."""


@pytest.mark.parametrize("name", CONFIGURATION)
def test_d6_each_name_of_the_configuration_is_a_setting(name: str) -> None:
    value = CONFIGURATION[name]
    settings = load_settings(**{name: value})
    ours = SETTING_ALIASES.get(name, name)
    assert getattr(settings, ours) == ((value,) if ours == "sources" else value)


@pytest.mark.parametrize(
    ("api", "sources"),
    [
        ("tavily", ("tavily",)),
        ("openai", ("openai_web_search",)),
        ("anthropic", ("anthropic_web_search",)),
        ("none", ()),
        ("Tavily", ("tavily",)),
    ],
)
def test_d3_the_search_of_the_configuration(api: str, sources: tuple[str, ...]) -> None:
    settings = load_settings(search_api=api)
    assert settings.sources == sources
    assert settings.strategy == ("none" if api == "none" else "")


def test_our_name_wins_over_theirs_and_a_layer_over_the_one_below(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings(write_model="a", compression_model="b").write_model == "a"
    monkeypatch.setenv("DEEP_RESEARCH_WRITE_MODEL", "c")
    assert load_settings(compression_model="b").write_model == "b"
    monkeypatch.setenv("DEEP_RESEARCH_COMPRESSION_MODEL", "d")
    assert load_settings().write_model == "c"


def test_d6_of_two_models_that_are_one_setting_here_is_said_which_counts(caplog: pytest.LogCaptureFixture) -> None:
    assert load_settings(compression_model="b", summarization_model="other").write_model == "b"
    assert [("compression_model counts" in said, "'other'" in said) for said in caplog.messages] == [(True, True)]
    assert load_settings(compression_model="b", summarization_model="b").write_model == "b"
    assert len(caplog.messages) == 1


def test_a_value_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ConfigError, match="write_max_tokens"):
        load_settings(compression_model_max_tokens=1)


def test_d6_every_role_named_as_in_the_design_asks_its_own_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    docs = str(engines(tmp_path / "docs"))
    values: dict[str, Any] = {
        "docs": [docs],
        "research_model": "aliyun:r1",
        "compression_model": "anthropic:w1",
        "final_report_model": "f1",
        "model_name": "aliyun:m1",
    }
    with served_everywhere(tmp_path, monkeypatch) as served:
        graph = build_deep_research_graph(workflow="supervisor")
        asyncio.run(run_deep_research("Which kinds of engines are there?", graph, {"configurable": values}))
        assert served.models_asked("aliyun") == {"r1", "f1", "m1"}
        assert served.models_asked("anthropic") == {"w1"}
    assert list_runs(own_state)[0].status == "finished"


NODES = {
    "clarify_with_user": "clarify",
    "write_research_brief": "write_research_brief",
    "supervisor": "supervisor",
    "supervisor_tools": "supervisor_tools",
    "final_report_generation": "final_report",
    "researcher": "researcher:researcher_invoke",
    "researcher_tools": "researcher:tools",
    "compress_research": "researcher:compress_output",
}


def test_d1_each_node_of_the_design_has_its_counterpart() -> None:
    drawn = compile_workflow("supervisor").get_graph(xray=True)
    assert set(NODES.values()) <= set(drawn.nodes)
