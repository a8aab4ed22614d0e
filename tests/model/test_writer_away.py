"""The server of the writer stays away: what was paid for is kept, and the run goes on at the writing call."""

from pathlib import Path

import pytest

from deep_research.cli.main import run as command
from deep_research.errors import ProviderDown
from deep_research.providers import provider_limits
from deep_research.runs.steering_inbox import steer
from deep_research.stores.run_folder import RunFolder, list_runs
from tests.model.harness import PLAN, QUESTION, Scene, served, steps
from tests.runs.running import begin, engines, go_on
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of

MODEL = {"model_provider": "compatible", "model_name": "scripted", "model_timeout_seconds": 1}


class Away:
    """The scripted researcher, whose writer meets with `fault` as long as `is_away`."""

    def __init__(self, fault: str) -> None:
        self.play, self.fault, self.is_away = ScriptedResearcher(sections=PLAN, sentences=4), fault, True

    def __call__(self, request: Request) -> Reply:
        return Reply(fault=self.fault) if self.is_away and step_of(request) == "write" else self.play(request)


@pytest.mark.parametrize(("fault", "wait"), [("overloaded", 0.02), ("rate_limited", 578)])
def test_a_run_goes_on_at_the_writing_call_and_pays_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: str, wait: float
) -> None:
    home, script = tmp_path / "home", Away(fault)
    monkeypatch.setattr(provider_limits, "_GATES", {})  # another process
    monkeypatch.setenv("DEEP_RESEARCH_HOME", str(home))
    monkeypatch.setenv("DEEP_RESEARCH_MODEL_TIMEOUT_SECONDS", "1")
    with served(monkeypatch, script, retry_after_seconds=wait) as provider:
        docs = str(engines(tmp_path / "notes"))
        code = command([QUESTION, "-p", "compatible", "--model", "scripted", "--docs", docs, "--quiet"])
        (run,) = list_runs(home)
        said = capsys.readouterr().err
        assert code == 1
        assert said.count("\n") <= 3
        assert f"deep-research resume {run.run_id}" in " ".join(said.split())
        assert wait < 1 or ("until 20" in said and steps(provider)["write"] == 1)
        assert (run.status, RunFolder(home, run.run_id).has_report()) == ("failed", False)
        before, script.is_away = len(provider.calls), False
        monkeypatch.setattr(provider_limits, "_GATES", {})
        assert command(["resume", run.run_id, "--quiet"]) == 0
        after = [step_of(call.request) for call in provider.calls[before:]]
        answered = [call.digest for call in provider.calls if call.answered]
    assert after[0] == "write"
    assert not set(after) & {"plan", "research", "notes", "review", "review_section"}
    assert len(answered) == len(set(answered))
    report = RunFolder(home, run.run_id).load_result()
    assert report.answered
    assert not [gap for gap in report.gaps if gap.what == "report"]


def test_a_refusal_is_no_outage(scene: Scene) -> None:
    """Waiting would change nothing: the notes are the report."""
    report = scene.research(Away("refusal")).report
    assert steps(scene.provider)["write"] == 2
    assert [gap for gap in report.gaps if gap.what == "report"]
    assert report.answered
    assert "3,000 rpm. [" in report.report


def test_who_wants_the_report_now_gets_the_notes(scene: Scene) -> None:
    script = Away("overloaded")

    def hurried(request: Request) -> Reply:
        if step_of(request) == "review_section":
            steer(began.folder, "finish")
        return script(request)

    with scene.served(hurried):
        began = begin(QUESTION, home=scene.folder / "home", docs=[engines(scene.folder / "n")], **MODEL)
        report = go_on(began).report
    assert [gap for gap in report.gaps if gap.what == "report"]
    assert report.answered


def test_a_section_at_which_the_model_was_silent_is_researched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home, play, away = tmp_path / "home", ScriptedResearcher(sections=PLAN, sentences=4), [True]
    monkeypatch.setenv("DEEP_RESEARCH_HOME", str(home))

    def silent(request: Request) -> Reply:
        step = step_of(request)
        is_hit = step in ("research", "notes") and play.section_of(request).startswith("Beta")
        is_begun = any(message["role"] == "tool" for message in request["messages"])
        return Reply(fault="overloaded") if away and (step == "write" or (is_hit and is_begun)) else play(request)

    with served(monkeypatch, silent) as provider:
        began = begin(QUESTION, home=home, docs=[engines(tmp_path / "n")], **MODEL)
        with pytest.raises(ProviderDown):
            go_on(began)
        away.clear()
        before = len(provider.calls)
        assert command(["resume", began.folder.run_id, "--quiet"]) == 0
        again = [play.section_of(c.request) for c in provider.calls[before:] if step_of(c.request) == "research"]
    assert {title.split()[0] for title in again} == {"Beta"}
    assert "Blocked deserialization" not in caplog.text
    report = RunFolder(home, began.folder.run_id).load_result()
    assert all(section.notes for section in report.sections)
    assert not [gap for gap in report.gaps if "section_empty" in gap.codes]
