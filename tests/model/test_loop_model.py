"""The `loop` workflow with a model over HTTP, rows C1–C4, and the order in which its limit is decided."""

from pathlib import Path
from typing import Any, get_type_hints

import pytest

from deep_research.cli.main import run as command
from deep_research.errors import ConfigError
from deep_research.events import Planned, Reviewed, Searched
from deep_research.graph.loop import LoopState
from deep_research.settings import Settings, load_settings
from deep_research.stores.run_folder import list_runs
from tests.model.harness import ENGINES, PLAN, QUESTION, assert_presentable, research, served, standing, steps
from tests.runs.running import engines, write_notes
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of

PARTS = ("cylinder", "crankshaft", "gasket", "flywheel")
"""Each is in one note only, which no earlier search finds."""
MODEL = ["-p", "compatible", "--model", "scripted"]


class Unsatisfied:
    """Plays a researcher whose review finds `Beta engine` lacking for the first `rounds` times, and who then
    searches with other words and writes a sentence more each time."""

    def __init__(self, rounds: int) -> None:
        self._play = ScriptedResearcher(sections=PLAN, sentences=1, slips=False)
        self._rounds = rounds
        self.reviews = 0
        self.asked_again: list[str] = []

    def __call__(self, request: Request) -> Any:
        step = step_of(request)
        if step == "review":
            self.reviews += 1
            if self.reviews <= self._rounds:
                return self._lacking(request)
        if step == "research":
            self.asked_again.append(request["prompt"])
            self._play.sentences += 1
            query = f"{PARTS[len(self.asked_again) - 1]} casting"
            return Reply(tool_calls=(Call("search", {"query": query, "source": ""}),))
        return self._play(request)

    def _lacking(self, request: Request) -> Reply:
        reply = self._play(request)
        assert isinstance(reply.data, dict)
        row = {"title": "Beta engine", "status": "missing", "notes": "its weight is missing"}
        lacking = {"is_sufficient": False, "overall_score": 4, "section_coverage": [row], "gaps": ["weight"]}
        return Reply(data={**reply.data, **lacking, "sections_to_retry": ["Beta engine"]})


def notes(folder: Path) -> Path:
    """The notes about engines, and one about each part."""
    parts = {p: f"# The {p}\n\nEach {p} was cast by Vera Lund in the year {1980 + n}." for n, p in enumerate(PARTS)}
    write_notes(folder, **parts)
    return engines(folder)


def loop(folder: Path, **settings: Any) -> Any:
    return research(folder, workflow="loop", docs=[notes(folder / "notes")], **settings)


def test_c1_plan_retrieve_read_reflect_and_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch) as provider:
        ran = loop(tmp_path)
    assert_presentable(ran)
    assert ran.report.workflow == "loop"
    assert [section.title for section in ran.report.sections] == list(ENGINES)
    order = [step_of(call.request) for call in provider.calls]
    first, second, *others = dict.fromkeys(order)
    assert {first, second} == {"decide", "analyze"}, "they are asked side by side"
    assert others == ["plan", "write_section", "review", "compose", "judge"]
    assert {event.query for event in ran.of(Searched)} >= {query for queries in PLAN.values() for query in queries}
    assert provider.duplicates == 0


@pytest.mark.parametrize(("rounds", "limit", "reviews"), [(0, 5, 1), (1, 5, 2), (99, 3, 3), (99, 1, 1)])
def test_c1_sufficient_evidence_or_the_limit_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounds: int, limit: int, reviews: int
) -> None:
    script = Unsatisfied(rounds)
    with served(monkeypatch, script):
        ran = loop(tmp_path, max_iterations=limit)
    judged = [event.sufficient for event in ran.of(Reviewed)]
    assert len(judged) == reviews
    assert judged[-1] == (rounds < limit)
    assert_presentable(ran)


def test_c1_a_plan_has_three_to_five_sections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seven = {f"Part {n} of the Alpha engine": [f"alpha engine {n}"] for n in range(1, 8)}
    with served(monkeypatch, ScriptedResearcher(sections=seven, sentences=2)):
        ran = loop(tmp_path)
    (planned,) = ran.of(Planned)
    assert len(ran.report.sections) == 5
    assert set(planned.sections) >= {section.title for section in ran.report.sections}


def test_c2_the_state_has_the_fields_of_the_design() -> None:
    fields = {
        "original_query", "clarified_query", "is_clarified", "pending_question", "sections", "gathered_info",
        "visited_sources", "iteration_count", "max_iterations", "is_sufficient", "current_queries", "final_report",
    }  # fmt: skip
    assert fields <= set(get_type_hints(LoopState))


def test_c3_findings_keep_their_source_and_what_is_irrelevant_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch):
        ran = loop(tmp_path)
    assert standing(ran.report)
    assert all(claim.passages for claim in ran.report.claims if claim.stands)
    assert len(standing(ran.report)) == len({(c.section, c.text) for c in ran.report.claims if c.stands})
    assert not any("7919" in section.content for section in ran.report.sections)


def test_c3_reflection_names_what_is_missing_and_other_searches_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Unsatisfied(2)
    with served(monkeypatch, script) as provider:
        ran = loop(tmp_path)
    assert len(script.asked_again) == 2
    assert all("its weight is missing" in prompt for prompt in script.asked_again)
    assert "cylinder casting" not in script.asked_again[0]
    assert "cylinder casting" in script.asked_again[1], "who searches again is told what was searched before"
    searched = [event.query for event in ran.of(Searched)]
    assert len(searched) == len(set(searched))
    assert {"cylinder casting", "crankshaft casting"} <= set(searched)
    assert steps(provider)["write_section"] == len(ENGINES), "nothing was found that a section could be added to from"


def _setting(path: Path, monkeypatch: pytest.MonkeyPatch, *, env: str = "", flag: int | None = None) -> int:
    """What limits a loop that is never satisfied, as its run has recorded it."""
    if env:
        monkeypatch.setenv("DEEP_RESEARCH_MAX_ITERATIONS", env)
    flags = [] if flag is None else ["--max-iterations", str(flag)]
    shelf = str(notes(path / "notes"))
    code = command([QUESTION, "--workflow", "loop", *flags, *MODEL, "--docs", shelf, "--quiet", "--no-clarify"])
    assert code == 0
    return Settings(**list_runs(path / "home")[0].settings).max_iterations


@pytest.mark.parametrize(("env", "flag", "limit"), [("", None, 5), ("2", None, 2), ("2", 1, 1), ("", 3, 3)])
def test_c4_the_flag_wins_over_the_environment_and_that_over_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: str, flag: int | None, limit: int
) -> None:
    with served(monkeypatch, Unsatisfied(99)):
        assert _setting(tmp_path, monkeypatch, env=env, flag=flag) == limit


@pytest.mark.parametrize("where", ["flag", "set", "environment"])
def test_c4_the_flag_limits_the_loop_wherever_the_workflow_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_state: Path, where: str
) -> None:
    named = {"flag": ["--workflow", "loop"], "set": ["--set", "workflow=loop"], "environment": []}[where]
    if where == "environment":
        monkeypatch.setenv("DEEP_RESEARCH_WORKFLOW", "loop")
    shelf = str(notes(tmp_path / "notes"))
    arguments = [
        QUESTION,
        *named,
        "--max-iterations",
        "2",
        "-p",
        "finder",
        "--docs",
        shelf,
        "--quiet",
        "--no-clarify",
    ]
    assert command(arguments) == 0
    assert Settings(**list_runs(own_state)[0].settings).max_iterations == 2


@pytest.mark.parametrize("value", ["0", "11", "-1", "many", "2.5"])
@pytest.mark.parametrize("where", ["flag", "environment"])
def test_c4_out_of_range_is_a_clear_error_and_nothing_is_begun(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_state: Path, value: str, where: str
) -> None:
    flags = ["--max-iterations", value] if where == "flag" else []
    if where == "environment":
        monkeypatch.setenv("DEEP_RESEARCH_MAX_ITERATIONS", value)
    assert command([QUESTION, "--workflow", "loop", *flags, "-p", "finder", "--quiet"]) == 2
    shown = capsys.readouterr().err
    assert value in shown
    assert "iterations" in shown
    assert "Traceback" not in shown
    assert not list(own_state.rglob("*"))


def test_c4_the_bounds_are_1_and_10(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().max_iterations == 5
    for value in ("1", "10"):
        monkeypatch.setenv("DEEP_RESEARCH_MAX_ITERATIONS", value)
        assert load_settings().max_iterations == int(value)
    with pytest.raises(ConfigError, match="max_iterations"):
        load_settings(max_iterations=11)
