"""What the rows B1–B14 say, asserted for one reasoner."""

import asyncio
import re
from typing import Any, get_type_hints

from click.testing import CliRunner

from deep_research import build_deep_research_graph, run_deep_research
from deep_research.data import Report, Section
from deep_research.events import (
    Analyzed,
    Discovered,
    Planned,
    Reviewed,
    Searched,
    SectionReviewed,
    SectionStarted,
    SectionWritten,
    StageStarted,
)
from deep_research.graph.graph_state import AgentState, ResearcherState, section_reducer
from deep_research.graph.workflows import compile_workflow
from deep_research.reasoners.extractive.question_analysis import analyze
from deep_research.settings import Settings
from tests.contract.scenes import COMPARE, ENGINES, Scenes

_STAGES = ("clarify", "analyze", "plan", "research", "review", "report")


def b1(s: Scenes) -> None:
    nodes = set(compile_workflow("sections").nodes)
    assert {
        "clarify",
        "analyze",
        "discover",
        "plan_sections",
        "researcher",
        "aggregate",
        "review",
        "final_report",
    } <= nodes
    stages = list(dict.fromkeys(event.stage for event in s.sections.of(StageStarted) if event.stage in _STAGES))
    assert stages == [stage for stage in _STAGES if stage in stages]
    assert {"clarify", "analyze", "plan", "research", "review"} <= set(stages)
    kinds = [type(e) for e in s.sections.events if isinstance(e, SectionStarted | SectionWritten)]
    assert kinds.index(SectionWritten) >= 2  # several researchers begin before the first is done


def b2(s: Scenes) -> None:
    wanted = "messages original_query query_type output_format discovered_items discovery_complete discovery_summary"
    wanted += " research_brief sections review_iterations max_review_iterations final_report"
    assert set(wanted.split()) <= set(get_type_hints(AgentState))
    own = {"section", "research_brief", "researcher_messages", "tool_call_iterations", "max_tool_calls", "is_complete"}
    assert own <= set(get_type_hints(ResearcherState))
    one, two = (Section(title=t, description="d") for t in ("A", "B"))
    new = one.model_copy(update={"content": "new"})
    assert section_reducer([one, two], [new]) == [new, two]
    state = s.state(s.sections)
    assert state["final_report"] == s.sections.report.report
    assert state["query_type"] == "comparison"


def b3(s: Scenes) -> None:
    examples = {"有哪些开源 LLM？": "list", "GPT-4 和 Claude 3 的区别": "comparison", "LLM 的最新进展": "general"}
    examples["详细解释 Transformer 注意力机制"] = "deep_dive"
    if not s.has_model:
        assert {text: analyze(text).query_type for text in examples} == examples
    (analyzed,) = s.sections.of(Analyzed)
    assert (analyzed.query_type, analyzed.output_format) == ("comparison", "table")
    assert "|---" in s.sections.report.report.replace(" ", "")


def b4(s: Scenes) -> None:
    (found,) = s.listed.of(Discovered)
    assert found.entities if hasattr(found, "entities") else True
    state = s.state(s.listed)
    assert state["discovery_complete"]
    items = state["discovered_items"]
    assert len(items) >= 3
    assert all(item.name and item.source and item.priority in ("high", "medium", "low") for item in items)
    assert len(state["discovery_turns"]) <= Settings().max_discover_iterations
    assert not any(event.stage == "discover" for event in s.sections.of(StageStarted))


def b5(s: Scenes) -> None:
    assert 3 <= len(s.sections.report.sections) <= 7
    assert len(s.weak.of(Planned)) == 1  # also with sections that went out again


def b6(s: Scenes) -> None:
    for section in s.sections.report.sections:
        calls = [event for event in s.sections.of(Searched) if event.section == section.title]
        assert len(calls) <= 10
        if section.content:
            assert section.sources
            assert section.key_findings
    assert sum(bool(section.content) for section in s.sections.report.sections) >= 2


def b7(s: Scenes) -> None:
    again = [event for event in s.weak.of(SectionStarted) if event.attempt > 1]
    found_weak = {event.section for event in s.weak.of(SectionReviewed) if event.retry}
    found_weak |= {title for event in s.weak.of(Reviewed) for title in event.retry}
    assert {event.section for event in again} <= found_weak
    assert "Gamma engine" in found_weak
    assert not {"Alpha engine", "Beta engine"} & found_weak
    assert again
    assert max(event.attempt for event in again) <= 1 + Settings().max_review_iterations
    assert s.weak.of(Reviewed)
    rows = s.weak.report.reviews
    assert all(1 <= row.score <= 10 or row.score == 0 for row in rows)
    assert {row.section for row in rows} >= {"Alpha engine", "Beta engine"}


def b8(s: Scenes) -> None:
    report = s.sections.report
    assert report.report.startswith(f"# {report.title}")
    headings: list[str] = re.findall(r"^## (.+)$", report.report, re.MULTILINE)
    assert headings[0] == "Abstract"
    assert "Conclusion and outlook" in headings
    assert headings[-1] == "References"
    abstract = report.report.split("## Abstract")[1].split("\n## ")[0]
    assert len(abstract.split()) <= 250
    assert report.references


def b9(_: Scenes) -> None:
    defaults: dict[str, Any] = {
        "max_tool_calls_per_researcher": 10, "max_review_iterations": 2, "max_context_tokens": 100_000,
        "compression_target_tokens": 8_000, "allow_clarification": True, "model_name": None, "enable_thinking": False,
    }  # fmt: skip
    made = Settings()
    assert {name: getattr(made, name) for name in defaults} == defaults
    assert "model_provider" in Settings.model_fields


def b10(s: Scenes) -> None:
    from deep_research.cli.main import cli  # noqa: PLC0415

    flags = ["-p", s.provider, *(["--model", s.model["model_name"]] if s.has_model else [])]
    line = [
        "--deep-research",
        *flags,
        "--max-iterations",
        "1",
        "-v",
        "-q",
        COMPARE,
        "--docs",
        str(s.docs),
        "--no-clarify",
    ]
    with s.playing():
        said = CliRunner().invoke(cli, line, standalone_mode=False)
    assert said.return_value == 0, (said.output[-500:], said.exception)
    assert "3,000 rpm" in said.output


def b11(s: Scenes) -> None:
    graph = build_deep_research_graph(
        model_provider=s.provider, model_name=s.model.get("model_name"), hn_mcp_tools=None
    )
    asked: list[str] = []

    async def on_clarify(question: str) -> str:
        asked.append(question)
        return "just start"

    config = {"configurable": {"docs": [str(s.docs)], "thread_id": "test-123", "max_review_iterations": 2}}
    with s.playing():
        report = asyncio.run(run_deep_research(COMPARE, graph, config, on_clarify))  # type: ignore[arg-type]
    assert isinstance(report, Report)
    assert report.answered


def b12(s: Scenes) -> None:
    from deep_research.cli.main import cli  # noqa: PLC0415

    ran = s.sections
    with s.playing():
        said = CliRunner().invoke(
            cli, ["step", "analyze", "--run", ran.folder.run_id], standalone_mode=False,
            env={"DEEP_RESEARCH_HOME": str(ran.home)},
        )  # fmt: skip
    assert said.return_value in (0, None), (said.output[-500:], said.exception)
    assert "comparison" in said.output


def b13(s: Scenes) -> None:
    assert s.quick.report.answered
    assert "21,000 rpm" in s.quick.report.report
    assert all(len(event.sections) == 1 for event in s.quick.of(Planned))
    assert not s.quick.of(Reviewed)


def b14(s: Scenes) -> None:
    asked = [(event.source, event.query) for event in s.sections.of(Searched) if not event.reused]
    assert len(asked) == len(set(asked))
    assert s.duplicates == 0
    order = [e for e in s.weak.events if isinstance(e, Reviewed | SectionReviewed | SectionStarted)]
    together = next(i for i, e in enumerate(order) if isinstance(e, Reviewed))
    assert {e.section for e in order[:together] if isinstance(e, SectionReviewed)} >= set(ENGINES[:2])
    if s.has_model:  # what its own review finds weak goes out again before all are reviewed together
        assert any(isinstance(e, SectionStarted) and e.attempt > 1 for e in order[:together])
    assert {event.section for event in s.supervisor.of(SectionStarted)}
