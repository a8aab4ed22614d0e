"""Contract rows B9 and B11: the library's front door."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from deep_research import build_deep_research_graph, research, run_deep_research, stream
from deep_research.assembly.reasoner_choice import resolve_provider
from deep_research.data import Report
from deep_research.errors import ConfigError, NeedsAnswer, RunBusy
from deep_research.events import ReportReady, RunStarted
from deep_research.report.blocks import DOUBT_SIGN
from deep_research.settings import Settings
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.runs.soundness import assert_citations_resolve

QUESTION = "Which kinds of engines are there?"


def test_research_returns_a_report_that_prints_as_markdown(docs: str, own_state: Path) -> None:
    report = research(QUESTION, docs=[docs])
    assert isinstance(report, Report)
    assert f"{report}" == str(report) == report.report == report._repr_markdown_()
    assert report.save(own_state / "report.md").read_text("utf-8") == report.report
    assert report.answered
    assert_citations_resolve(report)
    assert [record.status for record in list_runs(own_state)] == ["finished"]


async def test_stream_yields_events_and_the_report_last_with_a_state_folder_of_its_own(
    docs: str, tmp_path: Path
) -> None:
    seen = [item async for item in stream(QUESTION, docs=[docs], home=tmp_path / "elsewhere")]
    assert isinstance(seen[0], RunStarted)
    assert isinstance(seen[-2], ReportReady)
    assert isinstance(seen[-1], Report)
    assert [record.run_id for record in list_runs(tmp_path / "elsewhere")] == [seen[-1].run_id]
    events = seen[:-1]
    assert [event.number for event in events if not isinstance(event, Report)] == list(range(1, len(events) + 1))


async def test_leaving_a_stream_stops_the_run_and_keeps_its_state(docs: str, own_state: Path) -> None:
    events = stream(QUESTION, docs=[docs])
    async for event in events:
        if not isinstance(event, Report) and event.kind == "planned":
            break
    await events.aclose()  # type: ignore[attr-defined]
    assert [record.status for record in list_runs(own_state)] == ["stopped"]


async def test_a_stream_raises_what_the_run_raises(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError):
        _ = [item async for item in stream(QUESTION, docs=[tmp_path / "empty"])]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"max_iteratons": 3}, "max_iterations"),
        ({"max_review_iterations": 11}, "max_review_iterations"),
        ({"model_provider": "nobody"}, "nobody"),
        ({"docs": ["/nowhere/at/all"]}, "/nowhere/at/all"),
    ],
)
def test_wrong_arguments_name_themselves_and_make_no_run(
    arguments: dict[str, Any], names: str, own_state: Path
) -> None:
    with pytest.raises(ConfigError, match=names):
        research(QUESTION, **arguments)
    assert list_runs(own_state) == []


@pytest.mark.parametrize("question", ["", "\x00\x01 \n", "\u200b"])
def test_no_question_is_refused(question: str, own_state: Path) -> None:
    with pytest.raises(ConfigError, match="No question"):
        research(question)
    assert list_runs(own_state) == []


def test_b9_the_provider_can_be_named_and_needs_no_key_by_default() -> None:
    assert resolve_provider(Settings(), {}) == "finder"
    assert resolve_provider(Settings(model_provider="finder"), {"OPENAI_API_KEY": "x"}) == "finder"


async def test_b9_configurable_sets_and_wins_over_the_graph_and_typing_errors_are_warned_about(
    docs: str, own_state: Path
) -> None:
    graph = build_deep_research_graph(max_review_iterations=0, max_discover_iterations=3)
    config: Any = {
        "configurable": {
            "thread_id": "test-123",
            "max_tool_calls_per_researcher": 1,
            "max_review_iterations": 1,
            "docs": [docs],
            "user_id": "u1",
            "max_discover_iteration": 1,
        }
    }
    with pytest.warns(UserWarning, match="max_discover_iterations") as warned:
        report = await run_deep_research(QUESTION, graph=graph, config=config)
    assert not any("user_id" in str(warning.message) for warning in warned)
    assert report.run_id == "test-123"
    (head,) = list_runs(own_state)
    record = RunFolder(own_state, head.run_id).load()
    assert (
        record.settings.items()
        >= {"max_tool_calls_per_researcher": 1, "max_review_iterations": 1, "max_discover_iterations": 3}.items()
    )


def test_b11_build_takes_the_arguments_of_the_design() -> None:
    graph = build_deep_research_graph(hn_mcp_tools=None, model_provider="finder", model_name=None)
    assert "plan_sections" in graph.nodes
    with pytest.raises(ConfigError, match="bogus"):
        build_deep_research_graph(bogus=1)


async def test_b11_on_clarify_question_is_asked_and_its_answer_used_while_the_run_is_held(docs: str) -> None:
    config: Any = {"configurable": {"docs": [docs], "thread_id": "mine"}}
    asked: list[str] = []
    refused: list[str] = []

    async def answer(question: str) -> str:
        await asyncio.sleep(0)
        asked.append(question)
        with pytest.raises(RunBusy) as busy:  # flock(2) keeps this process out as it does another one
            await run_deep_research("Something else?", config=config)
        refused.append(busy.value.run_id)
        return "the Alpha engine"

    report = await run_deep_research("tell me about it", config=config, on_clarify_question=answer)
    assert len(asked) == 1
    assert refused == ["mine"]
    assert asked[0].startswith("What does “it” refer to? Please name it.\n1. ")
    assert "Alpha" in report.title
    assert report.question == "tell me about it"
    assert report.answered


async def test_a4_a_function_without_an_answer_has_the_research_started(docs: str) -> None:
    config: Any = {"configurable": {"docs": [docs]}}
    report = await run_deep_research("tell me about it", config=config, on_clarify_question=lambda _q: None)
    assert any("literally" in said for said in report.assumptions)


async def test_b11_who_cannot_answer_about_a_plan_leaves_the_run_waiting(docs: str, own_state: Path) -> None:
    config: Any = {"configurable": {"docs": [docs], "confirm_plan": True}}
    with pytest.raises(NeedsAnswer) as waiting:
        await run_deep_research(QUESTION, config=config, on_clarify_question=lambda _q: None)
    (head,) = list_runs(own_state)
    record = RunFolder(own_state, head.run_id).load()
    assert record.status == "waiting"
    assert record.waiting_for == waiting.value.message
    assert waiting.value.run_id == record.run_id


def test_what_is_copied_from_documents_is_nobodys_claim(tmp_path: Path, own_state: Path) -> None:
    said = "To clone it type “git clone `<REPO>` into a folder”, then run it."
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "setup.md").write_text(f"# Setup\n\n{said}\n")
    report = research("How do I clone it into a folder?", docs=[docs])
    assert said.replace("`<REPO>`", "\\<REPO>") in report.report
    assert DOUBT_SIGN not in report.report
    assert report.problems == ()


@pytest.mark.parametrize("one", [str, Path])
async def test_one_path_is_one_document(one: type, docs: str, own_state: Path) -> None:
    research(QUESTION, docs=one(docs))
    await run_deep_research(QUESTION, graph=build_deep_research_graph(docs=one(docs)))
    assert [record.docs for record in list_runs(own_state)] == 2 * [(docs,)]


@pytest.mark.parametrize("docs", [5, [None], b"notes", {"a": 1}.values()])
def test_what_is_no_path_is_refused_in_words(docs: Any) -> None:
    with pytest.raises(ConfigError, match="`docs` is the path of a file or folder"):
        research(QUESTION, docs=docs)


@pytest.mark.parametrize("question", [5, None, b"what?"])
def test_what_is_no_text_is_no_question(question: Any) -> None:
    with pytest.raises(ConfigError, match="The question is a text"):
        research(question)
