"""What the rows B1–B15 say, asserted for one reasoner."""

import asyncio
import re
from collections import Counter
from functools import cache
from typing import Any, get_type_hints

import pytest
from click.testing import CliRunner

from claimcheck.language import detect
from deep_research import build_deep_research_graph, run_deep_research
from deep_research.api import open_run
from deep_research.data import Report, Section
from deep_research.errors import NeedsAnswer
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
from deep_research.finding.question import analyze_question
from deep_research.graph.graph_state import AgentState, ResearcherState, section_reducer
from deep_research.graph.workflows import compile_workflow
from deep_research.settings import Settings
from tests.contract.front_rows import VAGUE
from tests.contract.scenes import COMPARE, ENGINES, KINDS, Player, Scenes, answering
from tests.runs.running import begin
from tests.support.scripted_researcher import step_of

_STAGES = ("clarify", "analyze", "plan", "research", "review", "report")


def b1(s: Scenes) -> None:
    nodes = "clarify analyze discover plan_sections researcher aggregate review final_report".split()
    assert set(nodes) <= set(compile_workflow("sections").nodes)
    stages = list(dict.fromkeys(event.stage for event in s.sections.of(StageStarted) if event.stage in _STAGES))
    assert stages == [stage for stage in _STAGES if stage in stages]
    assert {"clarify", "analyze", "plan", "research", "review"} <= set(stages)
    kinds = [type(e) for e in s.sections.events if isinstance(e, SectionStarted | SectionWritten)]
    assert kinds.index(SectionWritten) >= (
        2 if s.has_model else 1
    )  # several researchers begin before the first is done


def b2(s: Scenes) -> None:
    wanted = "messages original_query query_type output_format discovered_items discovery_complete discovery_summary"
    wanted += " research_brief sections review_iterations max_review_iterations final_report"
    assert set(wanted.split()) <= set(get_type_hints(AgentState))
    own = "section research_brief researcher_messages tool_call_iterations max_tool_calls is_complete"
    own += " research_topic compressed_research raw_notes"
    assert set(own.split()) <= set(get_type_hints(ResearcherState))
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
        assert {text: analyze_question(text, detect(text)).query_type for text in examples} == examples
    (analyzed,) = s.sections.of(Analyzed)
    assert (analyzed.query_type, analyzed.output_format) == ("comparison", "table")
    if s.has_model:
        assert "|---" in s.sections.report.report.replace(" ", "")
    (analyzed,) = s.listed.of(Analyzed)
    assert analyzed.query_type == "list"
    assert analyzed.output_format in ("list", "table")
    assert analyzed.reasoning or not s.has_model
    found = s.state(s.listed)["analysis"]
    assert found.needs_discovery
    assert found.discovery_target


def b4(s: Scenes) -> None:
    (told,) = s.listed.of(Discovered)
    state = s.state(s.listed)
    assert state["discovery_complete"]
    items, found = state["discovered_items"], state["discovery"]
    assert tuple(item.name for item in items) == told.entities
    assert state["discovery_turns"]
    if not s.has_model:  # which of the names answer the question nobody has judged: none is claimed
        assert told.entities == ()
        return
    assert set(ENGINES) <= set(told.entities)
    assert all(item.name and item.brief and item.source for item in items)
    assert all(item.urls and item.passages and item.priority in ("high", "medium", "low") for item in items)
    assert found.summary == state["discovery_summary"] != ""
    assert found.search_coverage
    assert len(state["discovery_turns"]) <= Settings().max_discover_iterations
    assert set(ENGINES) <= {section.subject for section in state["sections"]}  # a section of its own for each
    with s.playing(Player(query_type="list")):
        short = s.run(KINDS, max_discover_iterations=1)
    assert len(s.state(short)["discovery_turns"]) == 1
    assert not any(event.stage == "discover" for event in s.sections.of(StageStarted))


def b5(s: Scenes) -> None:
    for ran in (s.sections, s.listed):
        titles = [section.title for section in ran.report.sections]
        # Without a model a section is a part of the question, and nothing is added to it.
        assert (3 if s.has_model else 1) <= len(set(titles)) == len(titles) <= 7
    assert len(s.weak.of(Planned)) == 1  # also with sections that went out again
    if s.has_model:  # 3 to 7 are asked for, twice; a plan that has too many all the same is cut, and that is told
        many = {f"Aspect {n} of the Alpha engine": [f"Alpha engine {n}"] for n in range(9)}
        with s.playing(Player(sections=many)) as provider:
            planned = s.run(COMPARE)
        assert provider is not None
        assert [section.title for section in planned.report.sections] == list(many)[:7]
        assert [gap.values["left_out"] for gap in planned.report.gaps if gap.what == "plan"] == [", ".join([*many][7:])]
        asked, again = [call.request for call in provider.calls if step_of(call.request) == "plan"]
        assert "3 to 7, independent" in asked["prompt"]
        assert any("Plan again; 3 to 7 sections." in message["text"] for message in again["messages"])


def b6(s: Scenes) -> None:
    for section in s.sections.report.sections:
        calls = [event for event in s.sections.of(Searched) if event.section == section.title]
        assert len(calls) <= 10
        if section.notes:
            assert section.sources
            assert section.key_findings or not s.has_model
            assert len(section.searched) >= len(calls) > 0
    b9(s)  # one call where one is allowed
    if s.has_model:
        tools = [set(request["tools"]) for request in s.steps(s.sections, "research")]
        assert tools
        assert all({"search", "open", "think", "research_complete"} <= offered for offered in tools)
    assert any(section.notes for section in s.sections.report.sections)


def b7(s: Scenes) -> None:
    assert s.weak.of(Reviewed)
    if not s.has_model:  # nobody has read the notes: nothing is called weak
        assert not [event for event in s.weak.of(SectionStarted) if event.attempt > 1]
        return
    again = [event for event in s.weak.of(SectionStarted) if event.attempt > 1]
    found_weak = {event.section for event in s.weak.of(SectionReviewed) if event.retry}
    found_weak |= {title for event in s.weak.of(Reviewed) for title in event.retry}
    assert {event.section for event in again} <= found_weak
    assert "Gamma engine" in found_weak
    assert not {"Alpha engine", "Beta engine"} & found_weak
    assert again
    assert all(1 <= event.score <= 10 for event in (*s.weak.of(Reviewed), *s.weak.of(SectionReviewed)))
    rows = {row.section: row for row in s.weak.report.reviews}
    assert all(rows[name].status == "sufficient" and 1 <= rows[name].score <= 10 for name in ENGINES[:2])
    (plan,) = s.weak.of(Planned)
    assert [section.title for section in s.weak.report.sections] == list(plan.sections)  # the outline stays
    for rounds in (0, 3):
        with s.playing(Player(retry=["Gamma engine"] * 9)):
            stubborn = s.run(COMPARE, max_review_iterations=rounds)
        assert max(event.attempt for event in stubborn.of(SectionStarted)) == 1 + rounds
        assert stubborn.report.answered
        (row,) = [row for row in stubborn.report.reviews if row.section == "Gamma engine"]
        assert row.status == "partial"
        assert row.missing
        assert any("review_open" in gap.codes for gap in stubborn.report.gaps)


def b8(s: Scenes) -> None:
    report = s.sections.report
    assert report.report.startswith(f"# {report.title}")
    headings: list[str] = re.findall(r"^## (.+)$", report.report, re.MULTILINE)
    assert headings[-1] == "References"
    assert "How this was checked" in headings
    opening = report.report.split("\n## ")[0].partition("\n")[2].strip()
    assert len(opening) > 60
    assert {reference.source for reference in report.references} <= set(report.sources)
    if not s.has_model:  # places by the parts of the question, and no conclusion: nothing is claimed
        assert {"Other places", "By document"} <= set(headings)
        return
    assert "[1]" in opening
    bodies = [section.title for section in report.sections if section.notes]
    assert [heading for heading in headings if heading in bodies] == bodies
    assert headings.index("Conclusion") == headings.index(bodies[-1]) + 1
    (asked,) = s.steps(s.sections, "write")
    told = ("# Title", "100 to 200 words", "by the outline", "conclusion with outlook")
    assert all(word in asked["prompt"] for word in told)
    assert all("100 to 200 characters" in request["prompt"] for request in s.steps(s.chinese, "write"))


@cache
def b9(s: Scenes) -> None:
    defaults: dict[str, Any] = {
        "max_tool_calls_per_researcher": 10, "max_review_iterations": 2, "max_context_tokens": 100_000,
        "allow_clarification": True, "model_name": None, "enable_thinking": False, "max_discover_iterations": 5,
    }  # fmt: skip
    made = Settings()
    assert {name: getattr(made, name) for name in defaults} == defaults
    given = {"max_tool_calls_per_researcher": 1, "max_review_iterations": 0, "max_context_tokens": 50_000}
    given |= {"allow_clarification": False, "enable_thinking": False}
    given |= {"model_provider": s.provider, "model_name": s.model.get("model_name")}
    own = {"docs": [str(s.docs)], "thread_id": "b9", "a_key_of_somebody_else": 1, "compression_target_tokens": 3_200}
    with s.playing() as provider:
        graph = build_deep_research_graph()
        report = asyncio.run(run_deep_research(COMPARE, graph, {"configurable": {**own, **given}}))
    assert isinstance(report, Report)
    run = open_run(report.run_id)
    used = Settings(**run.record.settings)
    assert {name: getattr(used, name) for name in given} == given
    searches = Counter(event.section for event in run.read_events() if isinstance(event, Searched) and event.section)
    assert set(searches.values()) == {1} or not s.has_model
    assert report.answered
    if provider is not None:
        notes = [call.request for call in provider.calls if step_of(call.request) == "notes"]
        assert {request["max_output_tokens"] for request in notes} == {3_200}
        assert all("up to 1,000 words" in request["prompt"] for request in notes)


def b10(s: Scenes) -> None:
    from deep_research.cli.main import cli  # noqa: PLC0415

    flags = ["-p", s.provider, *(["--model", s.model["model_name"]] if s.has_model else [])]
    line = ["--deep-research", *flags, *"--max-iterations 1 -v --no-clarify -q".split(), COMPARE, "--docs", str(s.docs)]
    with s.playing():
        said = CliRunner().invoke(cli, line, standalone_mode=False)
    assert said.return_value == 0, (said.output[-500:], said.exception)
    assert "3,000 rpm" in said.output


def b11(s: Scenes) -> None:
    asked: list[str] = []
    called: list[str] = []

    def search_stories(query: str) -> str:
        """Search stories of Hacker News."""
        called.append(query)
        return "The Alpha engine turns at 3,000 rpm, says a story of Hacker News on the Alpha engine."

    graph = build_deep_research_graph(
        model_provider=s.provider, model_name=s.model.get("model_name"), hn_mcp_tools=[search_stories]
    )

    async def on_clarify(question: str) -> str:
        asked.append(question)
        return "just start"

    config = {"configurable": {"docs": [str(s.docs)], "thread_id": "test-123", "max_review_iterations": 2}}
    with s.playing(Player({"engines": VAGUE})):
        report = asyncio.run(run_deep_research(COMPARE, graph, config, on_clarify))  # type: ignore[arg-type]
        assert isinstance(report, Report)
        assert report.answered
        assert asked == []
        assert called
        config["configurable"] |= {"thread_id": "test-124"}
        asyncio.run(run_deep_research("engines", graph, config, on_clarify))  # type: ignore[arg-type]
    assert len(asked) == 1


def b12(s: Scenes) -> None:
    from deep_research.cli.main import cli  # noqa: PLC0415

    ran = s.sections
    with s.playing():
        said = CliRunner().invoke(cli, ["step", "analyze", "--run", ran.folder.run_id], standalone_mode=False)
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
    if s.has_model:  # each section is reviewed by itself; what its own review finds weak goes out again before all are reviewed together
        assert {e.section for e in order[:together] if isinstance(e, SectionReviewed)} >= set(ENGINES[:2])
        assert any(isinstance(e, SectionStarted) and e.attempt > 1 for e in order[:together])
    assert {event.section for event in s.supervisor.of(SectionStarted)}


def b15(s: Scenes) -> None:
    titles = ENGINES if s.has_model else ()
    wish = "more about the Beta engine: its noise" if s.has_model else "2: the noise of the Beta engine"
    ran = begin(COMPARE, home=s.home, docs=[s.docs], **s.model, confirm_review=True)
    with s.playing():
        for said in (["no"], ["hm", "hm"]):
            answer, asked = answering(*said)
            with pytest.raises(NeedsAnswer):
                s.go_on(ran, answer=answer)
            assert len(asked) == len(said)
        assert not [event for event in ran.of(SectionStarted) if event.attempt > 1]
        answer, asked = answering(wish, "1")
        s.go_on(ran, answer=answer)
    assert [one.kind for one in asked] == ["review", "review"]
    assert all(title in asked[0].question for title in titles)
    assert len([event for event in ran.of(SectionStarted) if event.attempt > 1]) == 1
    assert ran.report.answered
