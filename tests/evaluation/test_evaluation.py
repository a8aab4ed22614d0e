"""What an evaluation measures: over the questions of the examples, over a report with a false sentence, with a judge."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deep_research import api
from deep_research.cli.eval_command import _print_result
from deep_research.data.evaluation import EvaluationQuestion, QuestionResult, summarise
from deep_research.errors import ConfigError
from deep_research.runs.measure_reports import measure, read_questions
from deep_research.settings import Settings
from tests.house.sources import ROOT
from tests.model.harness import served
from tests.runs.running import engines, run
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import step_of

QUESTIONS = ROOT / "examples" / "evaluation.jsonl"
QUESTION = "Compare the Alpha engine and the Beta engine"


def command(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.defpath, "DEEP_RESEARCH_HOME": str(home), "LANG": "C.UTF-8"}
    line = [sys.executable, "-m", "deep_research", "eval", *arguments]
    return subprocess.run(line, check=False, capture_output=True, text=True, timeout=110, env=environment)


def test_the_questions_of_the_examples_keep_their_precision(tmp_path: Path) -> None:
    done = command(tmp_path, str(QUESTIONS), "--limit", "3", "--json", "--min-precision", "0.98")
    assert done.returncode == 0, done.stdout + done.stderr
    made = json.loads(done.stdout)
    assert made["precision_by_check"] >= 0.98
    assert made["parts_answered"] >= 0.8
    assert made["precision_by_judge"] is None
    assert [question["statements"] > 5 for question in made["questions"]] == [True] * 3
    assert made["cost_usd"] == 0


def test_a_false_sentence_is_found_and_named(tmp_path: Path) -> None:
    ran = run(QUESTION, home=tmp_path / "home", docs=[engines(tmp_path / "docs")])
    report, store = ran.report, api.open_run(ran.report.run_id, home=tmp_path / "home")._store
    library = store.open_library()

    def measured(changed: Any) -> QuestionResult:
        return asyncio.run(measure(changed, library, store=store, judge=None, home=tmp_path))

    try:
        right = measured(report)
        assert right.checked == right.statements > 4
        claim = next(claim for claim in report.claims if "3,000 rpm" in claim.text)
        false = claim.text.replace("3,000", "3,700")
        claims = tuple(c.model_copy(update={"text": false}) if c.text == claim.text else c for c in report.claims)
        changed = report.model_copy(update={"claims": claims, "report": report.report.replace(claim.text, false)})
        wrong = measured(changed)
    finally:
        library.close()
    assert wrong.checked < wrong.statements
    assert {failed.text for failed in wrong.failed} == {false}
    assert "3,700" in wrong.failed[0].reason


def test_a_judge_is_a_second_opinion_on_each_citation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Request] = []

    def refuse_the_first(request: Request) -> Any:
        assert step_of(request) == "judge"
        seen.append(request)
        return {"failures": [{"number": 1, "reason": "it says less", "verdict": "unverified"}], "checked": 99}

    asked = EvaluationQuestion(question=QUESTION, docs=(str(engines(tmp_path / "docs")),))
    settings = Settings(allow_clarification=False, model_provider="extractive")
    with served(monkeypatch, refuse_the_first):
        judge = Settings(model_provider="compatible", model_name="scripted")
        result = asyncio.run(api.evaluate(asked, settings, judge=judge, home=tmp_path / "home"))
    assert result.judged == result.statements > 4
    assert result.agreed == result.judged - len(seen)
    assert result.checked == result.statements
    assert result.failed[0].by == "judge"
    assert summarise([result]).precision_by_judge == round(result.agreed / result.judged, 4)


def test_a_judge_that_fails_is_named_and_is_no_agreement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = EvaluationQuestion(question=QUESTION, docs=(str(engines(tmp_path / "docs")),))
    settings = Settings(allow_clarification=False, model_provider="extractive")
    with served(monkeypatch, lambda _request: Reply(fault="bad_key")):
        judge = Settings(model_provider="compatible", model_name="scripted")
        result = asyncio.run(api.evaluate(asked, settings, judge=judge, home=tmp_path / "home"))
    assert result.checked == result.statements > 4
    assert (result.judged, result.agreed) == (0, 0)
    assert "does not accept the key" in result.judge_error
    _print_result(1, result, verbose=False)
    assert "The judge failed" in capsys.readouterr().out


def test_a_run_that_fails_is_a_result(tmp_path: Path) -> None:
    file = tmp_path / "questions.txt"
    file.write_text(f"# two\n{QUESTION}\n", "utf-8")
    done = command(tmp_path / "home", str(file), "--docs", str(tmp_path / "nowhere"))
    assert done.returncode == 1
    assert "failed: " in done.stdout
    assert "Runs                1, failed 1" in done.stdout


def test_files_of_questions_are_read_or_refused_with_their_line(tmp_path: Path) -> None:
    assert [q.docs for q in read_questions(QUESTIONS)] == [(str(ROOT / "examples" / "library"),)] * 5
    file = tmp_path / "questions.jsonl"
    for text, said in (
        ("", "no question"),
        ('{"question": "x"}\n{"ask": 1}', "line 2"),
        ('{"question": ""}', "line 1"),
    ):
        file.write_text(text, "utf-8")
        with pytest.raises(ConfigError, match=said):
            read_questions(file)


def test_shares_count_every_statement_alike_and_nothing_is_none() -> None:
    results = [
        QuestionResult(question="a", statements=3, checked=3, parts=2, answered=1.5, seconds=4),
        QuestionResult(question="b", statements=1, checked=0, parts=1, answered=0, seconds=2, cost_usd=0.5),
        QuestionResult(question="c", error="no"),
    ]
    made = summarise(results)
    assert (made.precision_by_check, made.precision_by_judge, made.parts_answered) == (0.75, None, 0.5)
    assert (made.runs_failed, made.cost_usd, made.seconds) == (1, 0.5, 2)
    assert summarise([]).precision_by_check is None
