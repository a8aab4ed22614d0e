"""Contract rows A4–A7 and A10 from outside: flags, exit codes, and runs that wait for an answer."""

import json
from pathlib import Path

from deep_research.stores.run_folder import RunFolder
from tests.cli.terminal import shows_no_traceback, told

QUESTION = "Which kinds of engines are there?"
PARTS = "How heavy is the Beta engine? Who built the Alpha engine?"


def test_a6_a_plan_waits_is_changed_and_confirmed_from_outside(docs: str, own_state: Path) -> None:
    waiting = told(PARTS, "--docs", docs, "--confirm-plan")
    assert waiting.code == 4
    run = RunFolder(own_state, waiting.run)
    asked = run.load().asked
    assert run.load().status == "waiting"
    assert asked is not None
    assert asked.kind == "plan"
    assert asked.brief is not None
    titles = [section.title for section in asked.brief.sections]
    assert [title in waiting.err for title in titles] == [True] * len(titles)
    changed = told("resume", waiting.run, "--answer", "drop 1; add: Prices")
    assert changed.code == 4
    asked = run.load().asked
    assert asked is not None
    assert asked.brief is not None
    assert {section.title for section in asked.brief.sections} == {*titles[1:], "Prices"}
    done = told("resume", waiting.run, "--answer", "yes", "--json")
    assert done.code == 0
    assert [section["title"] for section in done.json["sections"]] == [s.title for s in asked.brief.sections]


def test_a6_a_rejected_plan_has_its_own_exit_code_and_stays_rejected(docs: str, own_state: Path) -> None:
    waiting = told(QUESTION, "--docs", docs, "--confirm-plan", "--quiet")
    assert waiting.code == 4
    run = next((own_state / "runs").iterdir()).name
    for arguments in (["--answer", "no"], []):
        ended = told("resume", run, *arguments)
        assert ended.code == 5
        assert "rejected" in ended.err
        assert shows_no_traceback(ended)
    assert RunFolder(own_state, run).load().status == "declined"


def test_b15_after_a_no_to_the_review_the_run_waits_and_says_how_to_go_on(docs: str, own_state: Path) -> None:
    waiting = told(QUESTION, "--docs", docs, "--confirm-review", "--quiet")
    run = next((own_state / "runs").iterdir()).name
    refused = told("resume", run, "--answer", "no")
    assert (waiting.code, refused.code) == (4, 4)
    assert "no report is written" in refused.err
    assert f"deep-research resume {run} --answer" in refused.err
    assert not (own_state / "runs" / run / "report.md").exists()
    assert told("resume", run, "--answer", "yes").code == 0


def test_a10_a_broken_template_is_named(docs: str, own_state: Path) -> None:
    (own_state / "templates").mkdir(parents=True)
    (own_state / "templates" / "mine.toml").write_text("name = ", "utf-8")
    for arguments in ([QUESTION, "--docs", docs], ["templates"]):
        refused = told(*arguments)
        assert refused.code == 2
        assert "mine.toml" in refused.err
        assert shows_no_traceback(refused)


def test_a10_templates_are_listed(own_state: Path) -> None:
    (own_state / "templates").mkdir(parents=True)
    (own_state / "templates" / "mine.toml").write_text('name = "mine"\nfocus = ["colour"]\n', "utf-8")
    shown = told("templates")
    assert shown.code == 0
    assert [word in shown.out for word in ("mine", "colour", "mine.toml", "drug_target")] == [True] * 4
    rows = json.loads(told("templates", "--json").out)
    assert rows[0]["name"] == "mine"
    assert "耐药机制" in told("templates", "--language", "zh").out
