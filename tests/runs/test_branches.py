"""Runs that come from another one: forks, the same question later, a section again; each replays."""

import asyncio
from pathlib import Path

import pytest

from deep_research.api import Run
from deep_research.data import Report
from deep_research.errors import ConfigError
from tests.model.harness import PLAN, QUESTION, research, served
from tests.runs.running import Ran, engines, run
from tests.support.scripted_researcher import ScriptedResearcher, step_of

ASKED = "Which kinds of engines are there, and how do they differ?"


def _front(ran: Ran) -> Run:
    return Run(ran.folder, ran.home)


def _carried_out(made: Run) -> Report:
    return asyncio.run(made.carry_out())


def test_a_fork_with_another_plan_asks_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(monkeypatch, ScriptedResearcher(sections=PLAN, sentences=4)) as provider:
        ran = research(tmp_path)
        before = {call.digest for call in provider.calls}
        fork = asyncio.run(_front(ran).fork(plan="drop 3"))
        report = _carried_out(fork)
        later = provider.calls[len(before) :]
        assert [s.title for s in report.sections] == [s.title for s in ran.report.sections][:2]
        assert not before & {call.digest for call in later}
        assert not {"decide", "analyze", "plan"} & {step_of(call.request) for call in later}
        assert asyncio.run(fork.replay()) == report
    assert (fork.record.parent, fork.record.origin) == (ran.folder.run_id, "fork")
    assert ran.folder.load_result() == ran.report


def test_a_fork_at_the_report_researches_nothing(tmp_path: Path) -> None:
    ran = run(ASKED, home=tmp_path / "home", docs=[engines(tmp_path / "docs")])
    fork = asyncio.run(_front(ran).fork(at="report", settings={"depth": "brief"}))
    report = _carried_out(fork)
    assert [s.title for s in report.sections] == [s.title for s in ran.report.sections]
    assert not [event for event in fork.read_events() if event.kind == "section_started"]


@pytest.mark.parametrize(("at", "plan"), [("question", "drop 1"), ("plan", "what?"), ("plan", "drop 9")])
def test_a_fork_that_does_not_fit_is_refused(tmp_path: Path, at: str, plan: str) -> None:
    ran = run(ASKED, home=tmp_path / "home", docs=[engines(tmp_path / "docs")])
    with pytest.raises(ConfigError):
        asyncio.run(_front(ran).fork(at=at, plan=plan))  # type: ignore[arg-type]


def _change(docs: Path) -> None:
    """Change one note, add one, take one away."""
    beta = docs / "beta.md"
    beta.write_text(beta.read_text("utf-8").replace("4,500 rpm", "5,200 rpm"), "utf-8")
    (docs / "gamma.md").unlink()


def test_a_refresh_says_what_is_new_changed_and_gone(tmp_path: Path) -> None:
    docs = engines(tmp_path / "docs")
    ran = run(ASKED, home=tmp_path / "home", docs=[docs])
    assert "4,500 rpm" in ran.report.report
    _change(docs)
    later = asyncio.run(_front(ran).refresh())
    report = _carried_out(later)
    assert "5,200 rpm" in report.report
    changes = later.changes_since_parent()
    assert {(c.before.count("4,500"), c.text.count("5,200")) for c in changes.statements if "5,200" in c.text} == {
        (1, 1)
    }
    assert any("21,000 rpm" in c.before for c in changes.statements if c.kind == "gone")
    assert {s.kind for s in changes.sources} == {"changed", "gone"}
    assert "5,200 rpm" in str(changes)
    assert str(changes).startswith("# What has changed")
    assert ran.folder.load_result() == ran.report


def test_a_section_is_researched_again_into_the_same_report(tmp_path: Path) -> None:
    docs = engines(tmp_path / "docs")
    ran = run(ASKED, home=tmp_path / "home", docs=[docs])
    number, section = next((n, s) for n, s in enumerate(ran.report.sections, 1) if "4,500 rpm" in s.content)
    others = {s.title: s.content for s in ran.report.sections if s.title != section.title}
    _change(docs)
    front = _front(ran)
    front.rerun_section(str(number))
    report = _carried_out(front)
    assert report.run_id == ran.report.run_id
    assert [s.title for s in report.sections] == [s.title for s in ran.report.sections]
    again = next(s for s in report.sections if s.title == section.title)
    assert "5,200 rpm" in again.content
    assert "4,500 rpm" not in again.content
    started = [e.section for e in front.read_events() if e.kind == "section_started"]
    assert started.count(section.title) == 2
    assert len(started) == len(others) + 2
    assert asyncio.run(front.replay()) == report


def test_a_section_again_with_a_model_asks_only_for_that_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(monkeypatch, ScriptedResearcher(sections=PLAN, sentences=4)) as provider:
        ran = research(tmp_path)
        before = len(provider.calls)
        front = _front(ran)
        front.rerun_section("Beta engine", "Look for its weight.")
        report = _carried_out(front)
        asked = [call.request["prompt"] for call in provider.calls[before:] if step_of(call.request) == "write_section"]
        assert len(asked) == 1
        assert asyncio.run(front.replay()) == report
    assert (
        report.ledger.model_calls == len({call.digest for call in provider.calls})
        or report.ledger.model_calls >= before
    )


def test_what_cannot_be_researched_again_is_refused(tmp_path: Path) -> None:
    ran = run(QUESTION, home=tmp_path / "home", docs=[engines(tmp_path / "docs")], workflow="quick")
    with pytest.raises(ConfigError, match="has no section"):
        _front(ran).rerun_section("99")
    with pytest.raises(ConfigError, match="workflow"):
        _front(ran).rerun_section("1")
