"""What a run with a model does at its limits: money, context, a bad key, nothing found."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deep_research.assembly.environment import RunEnvironment
from deep_research.cli.main import run as command
from deep_research.data import Gap, SearchResult
from deep_research.errors import ConfigError, Unreachable
from deep_research.ports import Progress
from deep_research.runs.research_run import resume_run
from tests.model.harness import ENGINES, PLAN, QUESTION, assert_presentable, research, served, standing, steps
from tests.runs.running import begin, engines, write_notes
from tests.support.scripted_replies import CHARS_PER_TOKEN, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of


@pytest.mark.parametrize("budget", [6_000, 10_000, 14_000])
def test_at_the_end_of_a_budget_of_tokens_the_report_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    with served(monkeypatch) as provider:
        ran = research(tmp_path, budget_tokens=budget)
    assert_presentable(ran)
    assert standing(ran.report)
    assert any("budget" in gap.why for gap in ran.report.gaps)
    spent = ran.report.ledger.prompt_tokens + ran.report.ledger.completion_tokens
    assert spent <= budget
    assert spent == sum(call.counted.prompt + call.counted.completion for call in provider.calls)


@pytest.mark.parametrize("budget", [14_000, 17_000, 20_000])
def test_the_reserve_of_a_budget_suffices_for_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    """Research ends early; abstract and conclusion are written by the model all the same."""
    with served(monkeypatch) as provider:
        ran = research(tmp_path, budget_tokens=budget)
    assert any("budget" in gap.why for gap in ran.report.gaps if gap.what.startswith("research:"))
    assert steps(provider)["compose"] == 1
    assert_presentable(ran)


def test_a_budget_in_dollars_is_counted_with_the_prices_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch):
        ran = research(tmp_path, model_name="gpt-5.4-mini", budget_usd=0.015)
    assert_presentable(ran)
    assert any("US dollars" in gap.why for gap in ran.report.gaps)
    assert 0.005 < ran.report.ledger.cost_usd <= 0.015


def test_a_budget_in_dollars_needs_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch) as provider, pytest.raises(ConfigError, match="budget_tokens"):
        research(tmp_path, budget_usd=1.0)
    assert not provider.calls


def test_a_bad_key_stops_at_once_and_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(monkeypatch, key="another-key") as provider:
        code = command([QUESTION, "-p", "compatible", "--model", "scripted", "--docs", str(engines(tmp_path / "n"))])
    shown = capsys.readouterr()
    assert code == 2
    assert "OPENAI_COMPATIBLE_API_KEY" in shown.err
    assert "Traceback" not in shown.err + shown.out
    # Intake and the analysis beside it; neither is tried again.
    assert len({json.dumps(call.request) for call in provider.calls}) == len(provider.calls) <= 2


def test_a_key_that_is_refused_in_the_middle_of_a_run_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    researcher = ScriptedResearcher(sections=PLAN, sentences=4)
    with served(monkeypatch, researcher) as provider:

        def script(request: Request) -> Reply:
            if step_of(request) == "write_section":
                provider.key = "another-key"
            return researcher(request)

        provider.script = script
        with pytest.raises(ConfigError, match="OPENAI_COMPATIBLE_API_KEY"):
            research(tmp_path)


@pytest.mark.parametrize("fault", ["refusal", "empty"])
def test_an_answer_that_was_paid_and_useless_is_in_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    researcher = ScriptedResearcher(sections=PLAN, sentences=4)
    failed: list[str] = []

    def script(request: Request) -> Reply:
        step = step_of(request)
        if step == "plan" and not failed:
            failed.append(step)
            return replace(researcher(request), fault=fault)
        return researcher(request)

    with served(monkeypatch, script) as provider:
        ran = research(tmp_path)
    assert failed
    assert ran.report.ledger.model_calls == len(provider.calls) - 1
    assert ran.report.ledger.prompt_tokens == sum(call.counted.prompt for call in provider.calls)


def test_a_broken_prompt_file_of_the_user_stops_a_run_before_a_model_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "home" / "prompts"
    folder.mkdir(parents=True)
    (folder / "compose.md").write_text("---\nvariables: title\n---\nWrite.", "utf-8")
    with served(monkeypatch) as provider, pytest.raises(ConfigError, match=r"compose\.md.*line 2"):
        research(tmp_path)
    assert not provider.calls


def long_notes(folder: Path) -> Path:
    """Much about each engine: more than a small context holds."""
    facts = {
        name: "\n\n".join(
            f"The {name} was tested in trial {n} on {n + 3} boats near Port {chr(65 + n % 26)}{n}. "
            f"In trial {n} the {name} ran for {n * 7 + 100} hours at a load of {n + 20} percent, "
            f"and its crew of {n % 9 + 2} people noted a temperature of {n + 40} degrees. " * 3
            for n in range(40)
        )
        for name in ENGINES
    }
    return write_notes(folder, **{name.split()[0].lower(): f"# {name}\n\n{text}\n" for name, text in facts.items()})


@pytest.mark.parametrize(("limit", "known"), [(12_000, True), (12_000, False), (3_500, False)])
def test_a_small_context_is_kept_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, known: bool) -> None:
    """Known: the setting says so; otherwise the server refuses what is too long, and less is sent."""
    settings: dict[str, Any] = {"max_context_tokens": limit} if known else {"compression_target_tokens": 30_000}
    with served(monkeypatch, context_limit=limit) as provider:
        ran = research(tmp_path, docs=[long_notes(tmp_path / "long")], **settings)
    assert_presentable(ran)
    assert all(section.content for section in ran.report.sections)
    answered = [call for call in provider.calls if call.status == 200]
    written = [call for call in answered if step_of(call.request) == "write_section"]
    assert len(written) == len(ENGINES)
    for call in written:
        task = call.request["messages"][-1]["text"]
        assert "key_findings" in task  # the instruction is whole
        assert len(task) <= limit * CHARS_PER_TOKEN
    if known:
        assert answered == provider.calls


class Unanswering:
    """A place to search that never answers."""

    name = "web"
    purpose = "Pages nobody can reach."

    async def prepare(self, progress: Progress) -> tuple[Gap, ...]:
        return ()

    async def search(self, query: str, *, limit: int) -> SearchResult:
        raise Unreachable("The search engine does not answer.", source="web")

    async def read(self, found: object) -> object:
        raise AssertionError("nothing was found")

    async def close(self) -> None:
        return


async def test_when_every_search_fails_the_report_says_so_and_invents_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch) as provider:
        values = {"model_provider": "compatible", "model_name": "scripted"}
        began = begin(QUESTION, home=tmp_path / "home", docs=[engines(tmp_path / "n")], **values)
        environment = RunEnvironment(began.home, listener=began.events.append, places=[Unanswering()])  # type: ignore[list-item]
        report = await resume_run(began.folder, environment)
    assert not report.answered
    assert not report.claims
    assert not report.references
    assert all(not section.content for section in report.sections)
    assert any("does not answer" in gap.why for gap in report.gaps)
    assert "does not answer" in report.report
    assert steps(provider)["write_section"] == 0
    assert steps(provider)["compose"] == 0
